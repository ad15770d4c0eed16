-- Moments of agents that were kept. The files are on the agent's host, under the same id; files without a row are nobody's.
-- `undone`: the agent's turns that were undone then.
create table snapshots (
  id uuid primary key,
  agent_id uuid not null references agents (id) on delete cascade,
  name text not null,
  reason text not null,
  conversation integer not null,
  has_memory boolean not null,
  bytes bigint not null,
  turn_id uuid,
  undone uuid[] not null,
  created_at timestamptz not null default now(),
  unique (agent_id, name)
);

-- `restores`: the desired number of restorations; `snapshot`: what the machine is to be made from, until it is.
alter table agents add column restores integer not null default 0;
alter table agents add column snapshot uuid;
-- Where a fork comes from: the agent's and the snapshot's names then.
alter table agents add column forked_from jsonb;

-- Turns after a snapshot that their agent was rolled back to.
alter table turns add column undone boolean not null default false;
