-- The hosts whose machines this database knows. A server refuses to start where its data folder has machines that no row
-- here names.
create table hosts (
  id text primary key,
  known_since timestamptz not null default now()
);
insert into hosts (id) select distinct host from agents where host is not null;

-- Agents and snapshots that were removed on request, and snapshots that are made for a moment only: their files may go.
-- Files that neither a row nor a removal names are quarantined, never deleted.
create table removals (
  id uuid primary key,
  removed_at timestamptz not null default now()
);

create function note_removal() returns trigger language plpgsql as $$
begin
  insert into removals (id) values (old.id) on conflict do nothing;
  return null;
end $$;
create trigger note_removal after delete on agents for each row execute function note_removal();
create trigger note_removal after delete on snapshots for each row execute function note_removal();

-- Files without a row that the operator has seen listed: the server may start, and quarantines them.
create table accepted_orphans (
  id uuid primary key,
  accepted_at timestamptz not null default now()
);

create index agents_snapshot on agents (snapshot) where snapshot is not null;
