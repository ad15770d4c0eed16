-- Public links to what listens in agents' machines. Of a link's secret, only the hash is here.
create table port_shares (
  id uuid primary key,
  agent_id uuid not null references agents on delete cascade,
  port integer not null,
  secret_hash bytea not null unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz
);
create index port_shares_agent_id on port_shares (agent_id);
