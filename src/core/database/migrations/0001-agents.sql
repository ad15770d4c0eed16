create table accounts (
  id uuid primary key,
  name text not null,
  created_at timestamptz not null default now()
);

-- A key is stored as its SHA-256: it has at least 190 random bits, so a slow hash would add nothing.
create table api_keys (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  name text,
  prefix text not null,
  hash bytea not null unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz
);

create table agents (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  name text not null,
  runtime text not null,
  model text,
  instructions text,
  resources jsonb not null,
  status text not null check (status in ('provisioning', 'ready', 'suspended', 'failed', 'deleting')),
  -- Rises with each change of what is wanted; a step of an older generation writes nothing.
  generation integer not null default 1,
  error jsonb,
  install_steps jsonb not null,
  created_at timestamptz not null default now(),
  last_active_at timestamptz not null default now(),
  unique (account_id, name)
);

create table turns (
  id uuid primary key,
  agent_id uuid not null references agents on delete cascade,
  message text not null,
  status text not null check (status in ('running', 'completed', 'failed', 'cancelled')),
  created_at timestamptz not null default now(),
  finished_at timestamptz
);

create index turns_by_agent on turns (agent_id, created_at);
-- An agent answers one message at a time; this is what says so when two come at once.
create unique index one_running_turn on turns (agent_id) where status = 'running';

create table turn_events (
  turn_id uuid not null references turns on delete cascade,
  seq integer not null,
  event jsonb not null,
  primary key (turn_id, seq)
);
