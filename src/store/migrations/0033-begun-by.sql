-- The request that last began a restart, a rollback or a conversation: a retry of it does not begin another.
alter table agents add column begun_by uuid;
