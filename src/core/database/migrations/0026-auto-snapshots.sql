-- How many snapshots from before its last turns an agent keeps.
alter table agents add column auto_snapshot integer not null default 0;
