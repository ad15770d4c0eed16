-- A private agent whose files come back from the quarantine may get another name. What it did under each stays hidden.
alter table private_names drop constraint private_names_pkey, add primary key (agent_id, name);

create or replace function keep_private_name() returns trigger language plpgsql as $$
begin
  if new.private then
    insert into private_names (agent_id, account_id, name, person_id, since)
    values (new.id, new.account_id, new.name, new.person_id, least(new.created_at, now()))
    -- It has the name again, also after another agent had it.
    on conflict (agent_id, name) do update set person_id = excluded.person_id, until = null;
    -- Links that others have to its pages.
    delete from port_shares where agent_id = new.id;
  else
    delete from private_names where agent_id = new.id;
  end if;
  return null;
end $$;
