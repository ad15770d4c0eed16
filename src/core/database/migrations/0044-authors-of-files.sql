-- Machines keep commands and files, and could say anything of who made them. `ref`: a command's id, or the entity tag of
-- a file as it was written, which stays its own until it changes.
create table machine_authors (
  agent_id uuid not null references agents on delete cascade,
  kind text not null check (kind in ('command', 'file')),
  ref text not null,
  person_id uuid,
  key_id uuid,
  created_at timestamptz not null default now(),
  primary key (agent_id, kind, ref)
);
insert into machine_authors (agent_id, kind, ref, person_id, key_id, created_at)
select agent_id, 'command', command_id, person_id, key_id, created_at from command_authors;
drop table command_authors;
