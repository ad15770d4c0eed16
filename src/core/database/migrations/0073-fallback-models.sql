-- Models that answer where the agent's does not, in order.
alter table agents add column fallback_models jsonb not null default '[]';
