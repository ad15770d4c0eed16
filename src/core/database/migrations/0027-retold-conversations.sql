-- What was said in a conversation with another runtime, as an agent's runtime is told it. Never changed; several agents and
-- snapshots may have the same.
create table retold_conversations (
  id uuid primary key,
  text text not null,
  created_at timestamptz not null default now()
);

alter table agents add column retold uuid references retold_conversations (id);
alter table snapshots add column retold uuid references retold_conversations (id);

-- Which runtime the agent had then.
alter table snapshots add column runtime text;
update snapshots set runtime = agents.runtime from agents where agents.id = snapshots.agent_id;
alter table snapshots alter column runtime set not null;
create index on agents (retold) where retold is not null;
create index on snapshots (retold) where retold is not null;
