-- The request headers in which a secret's placeholder is replaced.
alter table agent_secrets add column headers jsonb not null default '["authorization"]';
