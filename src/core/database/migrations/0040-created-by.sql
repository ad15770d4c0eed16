-- Who did something: a signed-in person, or a key (`key_id`) and its maker. Null: unknown, or the service itself. Neither
-- column references its table, so that the history outlives keys and needs no lock on them.
alter table turns add column person_id uuid;
alter table audit_entries add column person_id uuid;
alter table snapshots add column person_id uuid, add column key_id uuid;
alter table port_shares add column person_id uuid, add column key_id uuid;
alter table agent_secrets add column person_id uuid, add column key_id uuid;
alter table network_rules add column person_id uuid, add column key_id uuid;

-- Commands are kept in their agent's machine, which could say anything of who started them.
create table command_authors (
  command_id uuid primary key,
  agent_id uuid not null references agents on delete cascade,
  person_id uuid,
  key_id uuid,
  created_at timestamptz not null default now()
);
create index command_authors_by_agent on command_authors (agent_id, created_at);
