-- Null: the runtime's default.
alter table agents add column effort text;
-- Null: the agent's.
alter table turns add column effort text;
