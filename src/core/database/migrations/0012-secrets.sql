-- What agents' programs use and never see. Values and private keys are sealed with a key that is not in the database.
create table agent_secrets (
  agent_id uuid not null references agents on delete cascade,
  name text not null,
  hosts jsonb not null,
  placeholder text not null unique,
  value bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (agent_id, name)
);

-- The certificate authority of each agent that has or had secrets: its machine alone trusts it.
create table agent_authorities (
  agent_id uuid primary key references agents on delete cascade,
  certificate text not null,
  key bytea not null
);
