-- The POST requests that came with an `Idempotency-Key`, each with its answer once it has one.
create table idempotency_keys (
  -- Whoever does the work now. Another one for each attempt: one whose work was taken over writes nothing any more.
  owner uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  -- The API key that was shown, null for a token: one credential is never answered what another was told.
  key_id uuid references api_keys on delete cascade,
  key text not null,
  -- SHA-256 of what was asked.
  fingerprint bytea not null,
  -- The id of what the request makes, the same in each attempt.
  resource_id uuid not null,
  -- Until when the work goes on for certain; the owner puts it off as long as it lives.
  leased_until timestamptz not null,
  -- The answer: null while there is none. The body is sealed, since it may hold a secret; null: a turn's events.
  status integer,
  headers jsonb,
  body bytea,
  created_at timestamptz not null default now(),
  unique nulls not distinct (account_id, key_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
