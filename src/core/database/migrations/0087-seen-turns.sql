-- A turn whose end its person has seen makes no `done` item, and other items of it are read: the items are made up to some
-- seconds later.
create table seen_turns (
  turn_id uuid not null references turns on delete cascade,
  person_id uuid not null references people on delete cascade,
  at timestamptz not null default now(),
  primary key (turn_id, person_id)
);
create index seen_turns_by_person on seen_turns (person_id);
create index seen_turns_old on seen_turns (at);

-- The event's turn, or the run of an automation, which is a turn.
create function turn_of_item(event jsonb) returns uuid language sql immutable as $$
  select coalesce(event ->> 'turnId', event ->> 'runId')::uuid
$$;

-- Puts the item into the inboxes of members, and notifies them. `responsible`: who began the turn or made the automation.
-- `audience`: `responsible`; `agent`, also those who want all of the agent, and owners and admins where nobody is
-- responsible; or `managers`.
create or replace function add_inbox_item(
  item inbox_items, responsible uuid, audience text, is_shown boolean, is_notified boolean)
returns void language plpgsql as $$
begin
  with members as (
    select member.person_id, coalesce(own.notify, profile.notify, 'needs-me') as choice, own.notify as own_choice,
      case audience when 'managers' then member.role in ('owner', 'admin')
        else member.person_id is not distinct from responsible
          or audience = 'agent' and member.role in ('owner', 'admin') and not exists (
            select from memberships
            where account_id = item.account_id and person_id = responsible and role <> 'viewer') end as is_meant,
      item.event ->> 'type' in ('turn.completed', 'turn.failed', 'run.completed', 'run.failed') and exists (
        select from seen_turns
        where turn_id = turn_of_item(item.event) and seen_turns.person_id = member.person_id) as has_seen
    from memberships member
      left join profiles profile on profile.person_id = member.person_id
      left join agent_notify own on own.person_id = member.person_id and own.agent_id = item.agent_id
    where member.account_id = item.account_id and (audience <> 'responsible' or member.person_id = responsible)
      and not exists (
        select from private_names hidden
        where hidden.agent_id = item.agent_id and hidden.person_id is distinct from member.person_id)
  ), items as (
    insert into inbox_items (number, person_id, account_id, agent_id, kind, subject, event, count, at, read_at)
    select item.number, person_id, item.account_id, item.agent_id, item.kind, item.subject, item.event, item.count, item.at,
      case when has_seen then now() end
    from members
    where is_shown and not (has_seen and item.kind = 'done') and own_choice is distinct from 'none' and (is_meant or audience = 'agent' and choice = 'all')
    on conflict (account_id, subject, person_id) do update
    set number = excluded.number, agent_id = excluded.agent_id, kind = excluded.kind, event = excluded.event,
      count = inbox_items.count + excluded.count, at = excluded.at,
      -- More attempts are no news.
      read_at = case when excluded.kind = 'blocked' then inbox_items.read_at else excluded.read_at end
    returning id, person_id
  ), bounds as materialized (
    select person_id as person, (
      select number from inbox_items older
      where older.person_id = items.person_id and older.account_id = item.account_id
      order by number desc offset 499 limit 1) as beyond
    from items
  ), surplus as (
    delete from inbox_items using bounds
    where person_id = person and account_id = item.account_id and number <= beyond
      -- The statement does not see the rows that it inserts.
      and number < item.number
  )
  insert into notifications (person_id, account_id, agent_id, event, due_at)
  select members.person_id, item.account_id, item.agent_id,
    item.event || jsonb_strip_nulls(jsonb_build_object('itemId', items.id)), item.at + interval '30 seconds'
  from members left join items on items.person_id = members.person_id
  where is_notified and not has_seen
    and case choice when 'all' then audience <> 'managers' or is_meant
      when 'needs-me' then item.kind <> 'done' and is_meant
      else false end
    and is_reachable(members.person_id)
    -- A person with so many that wait has other worries.
    and 200 > (
      select count(*) from (select from notifications where person_id = members.person_id limit 200) waiting);
end $$;

