-- Who is signed in to the dashboard, a row for each browser. Of its cookie only the hash is here; its tokens are sealed.
create table dashboard_sessions (
  id_hash bytea primary key,
  account_id uuid not null references accounts on delete cascade,
  tokens bytea not null,
  -- A server that renews the tokens has until then: a provider takes a refresh token once.
  renewing_until timestamptz,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index dashboard_sessions_account_id on dashboard_sessions (account_id);
