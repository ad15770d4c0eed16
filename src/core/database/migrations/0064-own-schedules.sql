-- Whether an agent may schedule messages to itself, and how many; null: it may not.
alter table agents add column schedules jsonb;
-- Whether the agent made it.
alter table automations add column by_agent boolean not null default false;
