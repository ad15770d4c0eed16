alter table agents
  -- What its owner, or the service for them, wants of it; the status says what it has come to.
  add column wanted text not null default 'running' check (wanted in ('running', 'suspended', 'deleted')),
  -- Rises with each restart that was asked for: a machine that was started for a smaller number is started again.
  add column restarts integer not null default 0;
update agents set wanted = 'deleted' where status = 'deleting';
update agents set wanted = 'suspended' where status = 'suspended';

-- The agents that may be suspended, the one that has been idle longest first.
create index agents_awake on agents (last_active_at) where wanted = 'running' and status = 'ready';

-- The timers' own tables are pg-boss' to make.
create schema timers;
