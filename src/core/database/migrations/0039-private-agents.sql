alter table agents
  -- Who made it, with a key or signed in; null: unknown, or a key without a maker.
  add column person_id uuid references people on delete set null,
  -- Only its maker sees it.
  add column private boolean not null default false;
create index agents_by_person on agents (person_id) where person_id is not null;

-- The names of private agents, and of those that were private when they were deleted: everything of an account that has
-- such a name and is of that time is hidden from others than the maker. By name, because the ledger's sums and refused
-- requests name agents without their ids.
create table private_names (
  agent_id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  name text not null,
  -- No reference: who is gone sees nothing, and what was theirs stays hidden.
  person_id uuid,
  since timestamptz not null,
  -- When another agent got the name; null: none yet.
  until timestamptz
);
create index private_names_by_name on private_names (account_id, name);

-- Before the agent's row, so that its first event is not of the time before.
create function release_private_name() returns trigger language plpgsql as $$
begin
  update private_names set until = date_trunc('milliseconds', clock_timestamp())
  where account_id = new.account_id and name = new.name and until is null and agent_id <> new.id;
  return new;
end $$;
create trigger agents_named before insert on agents for each row execute function release_private_name();

create function keep_private_name() returns trigger language plpgsql as $$
begin
  if new.private then
    insert into private_names (agent_id, account_id, name, person_id, since)
    values (new.id, new.account_id, new.name, new.person_id, least(new.created_at, now()))
    on conflict (agent_id) do update set person_id = excluded.person_id;
    -- Links that others have to its pages.
    delete from port_shares where agent_id = new.id;
  else
    delete from private_names where agent_id = new.id;
  end if;
  return null;
end $$;
create trigger agents_made_private after insert on agents
  for each row when (new.private) execute function keep_private_name();
create trigger agents_changed_private after update of private, person_id on agents
  for each row when ((old.private, old.person_id) is distinct from (new.private, new.person_id))
  execute function keep_private_name();
