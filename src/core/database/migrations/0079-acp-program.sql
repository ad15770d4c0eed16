-- Null: the agent's runtime is not acp.
alter table agents add column acp jsonb;
