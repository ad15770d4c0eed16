-- When an owner deleted the workspace with its agents. It is disabled until it is restored, or removed some days later.
alter table accounts add column deleted_at timestamptz;
create index accounts_deleted on accounts (deleted_at) where deleted_at is not null;
