-- Where an agent's programs may connect to. Without a row: anywhere that the operator allows.
create table network_rules (
  agent_id uuid primary key references agents on delete cascade,
  allow jsonb not null,
  deny jsonb not null
);

-- Each connection of an agent's programs to the web that has ended, or refusals of the same together.
create table network_log (
  id uuid primary key,
  agent_id uuid not null references agents on delete cascade,
  -- To the millisecond, as it is shown: the pages of the list begin at it.
  started_at timestamptz not null,
  finished_at timestamptz not null,
  -- Why it was refused, or what came of it.
  reason text,
  outcome text,
  host text not null,
  port integer,
  address text,
  bytes_sent bigint not null,
  bytes_received bigint not null,
  count integer not null,
  check ((reason is null) <> (outcome is null))
);
create index network_log_by_agent on network_log (agent_id, started_at, id);
create index network_log_by_age on network_log (started_at);
