-- Requests that have begun a restart, a rollback or a conversation of an agent: a retry of one does not begin another.
create table begun_requests (
  id uuid primary key,
  agent_id uuid not null references agents on delete cascade,
  at timestamptz not null default now()
);
create index begun_requests_by_agent on begun_requests (agent_id);
create index begun_requests_by_age on begun_requests (at);
