-- Whom an event of an account concerns is decided after its commit, by a reader of the account's events: the statement
-- that ends a turn does not wait for it.
drop trigger account_events_notified on account_events;
drop function queue_account_notification, queue_notification;

-- Up to which number the account's events have been read. Its one row is locked by the reader.
create table notified_events (last bigint not null);
-- Earlier events were read by the trigger.
do $$
begin
  while number_account_events() > 0 loop
  end loop;
end $$;
insert into notified_events select last from account_event_counter;

-- What waits for a person in a workspace. Without references, as notifications: triggers remove what ends, and readers
-- check the agent and the membership.
create table inbox_items (
  id uuid primary key default gen_random_uuid(),
  -- That of its last event: the place in the list.
  number bigint not null,
  person_id uuid not null,
  account_id uuid not null,
  agent_id uuid,
  kind text not null check (kind in ('asks', 'failed', 'done', 'costs', 'blocked')),
  -- A later event of the same subject replaces the item.
  subject text not null,
  event jsonb not null,
  count bigint not null default 1,
  at timestamptz not null,
  read_at timestamptz,
  unique (account_id, subject, person_id)
);
create index inbox_items_by_person on inbox_items (person_id, account_id, number);
create index inbox_items_by_agent on inbox_items (agent_id) where agent_id is not null;
create index inbox_items_asked on inbox_items ((event ->> 'turnId')) where kind = 'asks';
create index inbox_items_old on inbox_items (at);

-- Puts the item into the inboxes of members, and notifies them. `responsible`: who began the turn or made the automation.
-- `audience`: `responsible`; `agent`, also those who want all of the agent, and owners and admins where nobody is
-- responsible; or `managers`.
create function add_inbox_item(
  item inbox_items, responsible uuid, audience text, is_shown boolean, is_notified boolean)
returns void language plpgsql as $$
begin
  with members as (
    select member.person_id, coalesce(own.notify, profile.notify, 'needs-me') as choice, own.notify as own_choice,
      case audience when 'managers' then member.role in ('owner', 'admin')
        else member.person_id is not distinct from responsible
          or audience = 'agent' and member.role in ('owner', 'admin') and not exists (
            select from memberships
            where account_id = item.account_id and person_id = responsible and role <> 'viewer') end as is_meant
    from memberships member
      left join profiles profile on profile.person_id = member.person_id
      left join agent_notify own on own.person_id = member.person_id and own.agent_id = item.agent_id
    where member.account_id = item.account_id and (audience <> 'responsible' or member.person_id = responsible)
      and not exists (
        select from private_names hidden
        where hidden.agent_id = item.agent_id and hidden.person_id is distinct from member.person_id)
  ), items as (
    insert into inbox_items (number, person_id, account_id, agent_id, kind, subject, event, count, at)
    select item.number, person_id, item.account_id, item.agent_id, item.kind, item.subject, item.event, item.count, item.at
    from members
    where is_shown and own_choice is distinct from 'none' and (is_meant or audience = 'agent' and choice = 'all')
    on conflict (account_id, subject, person_id) do update
    set number = excluded.number, agent_id = excluded.agent_id, kind = excluded.kind, event = excluded.event,
      count = inbox_items.count + excluded.count, at = excluded.at,
      -- More attempts are no news.
      read_at = case when excluded.kind = 'blocked' then inbox_items.read_at end
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
  where is_notified
    and case choice when 'all' then audience <> 'managers' or is_meant
      when 'needs-me' then item.kind <> 'done' and is_meant
      else false end
    and is_reachable(members.person_id)
    -- A person with so many that wait has other worries.
    and 200 > (
      select count(*) from (select from notifications where person_id = members.person_id limit 200) waiting);
end $$;

-- Removes what an event has settled.
create function settle_inbox_items(account uuid, agent uuid, news jsonb) returns void language plpgsql as $$
declare
  type text := news ->> 'type';
begin
  if type = 'approval.answered' then
    delete from inbox_items
    where account_id = account and subject = concat_ws(':', 'approval', news ->> 'turnId', news ->> 'approvalId');
  elsif type = 'turn.ended' then
    delete from inbox_items where account_id = account and kind = 'asks'
      and event ->> 'turnId' = news ->> 'turnId' and subject like 'approval:%';
  elsif type = 'queue.changed' then
    delete from inbox_items where account_id = account and subject = 'held:' || agent
      and (news ->> 'held' is null or (news ->> 'length')::integer = 0);
  elsif type = 'agent.changed' then
    delete from inbox_items where account_id = account and subject = 'agent:' || agent and news ->> 'status' <> 'failed';
  elsif type = 'conversation.deleted' then
    delete from inbox_items where account_id = account and agent_id = agent
      and event ->> 'conversation' = news ->> 'conversation';
  elsif type in ('provider.login_connected', 'provider.deleted') then
    delete from inbox_items where account_id = account
      and subject = concat_ws(':', 'provider', news ->> 'ownerId', news ->> 'provider');
  elsif type in ('secret.login_connected', 'secret.deleted') then
    delete from inbox_items where account_id = account and subject = 'secret:' || (news ->> 'secret');
  end if;
end $$;

-- Makes items and notifications of an event of the account's stream, with its ids and reasons.
create function notify_people_of(entry account_events) returns void language plpgsql as $$
declare
  event jsonb := entry.event;
  type text := case event ->> 'type'
    when 'turn.ended' then 'turn.' || (event ->> 'status')
    when 'approval.requested' then 'turn.waiting'
    when 'host.refused' then 'network.refused'
    when 'agent.changed' then 'agent.' || (event ->> 'status')
    else event ->> 'type' end;
  item inbox_items;
  agent agents;
  turn turns;
  responsible uuid;
begin
  if event ? 'agent' then
    select * into agent from agents where account_id = entry.account_id and name = event ->> 'agent';
    if not found then
      return;
    end if;
  end if;
  perform settle_inbox_items(entry.account_id, agent.id, event);
  if event ? 'turnId' then
    select * into turn from turns where id = (event ->> 'turnId')::uuid and agent_id = agent.id;
  end if;
  item.number := entry.number;
  item.account_id := entry.account_id;
  item.agent_id := agent.id;
  item.count := 1;
  item.at := entry.at;
  item.event := jsonb_build_object('type', type, 'at', entry.at) || (
    select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(event)
    where key in ('agent', 'turnId', 'approvalId', 'automation', 'runId', 'balance', 'webhookId', 'host', 'port', 'provider',
      'secret')
  ) || jsonb_strip_nulls(jsonb_build_object(
    'conversation', turn.conversation,
    'code', coalesce(event -> 'error' ->> 'code', case type when 'network.refused' then event ->> 'reason' end),
    'reason', left(
      coalesce(event -> 'error' ->> 'message', event -> 'reason' ->> 'message', event ->> 'reason'), 300)));
  if type = 'turn.waiting' then
    item.kind := 'asks';
    item.subject := concat_ws(':', 'approval', event ->> 'turnId', event ->> 'approvalId');
    perform add_inbox_item(item, turn.person_id, 'agent', true, true);
  elsif type = 'turn.held' then
    item.kind := 'asks';
    item.subject := 'held:' || agent.id;
    perform add_inbox_item(item, turn.person_id, 'agent', true, true);
  elsif type in ('turn.completed', 'turn.failed') then
    -- Not those that other turns or automations began, which report themselves.
    if turn.person_id is null or turn.asked_by is not null
      or exists (select from automation_runs where automation_runs.id = turn.id) then
      return;
    end if;
    item.kind := case when type = 'turn.completed' then 'done'
      when item.event ->> 'code' in ('insufficient_credits', 'limit_reached') then 'costs' else 'failed' end;
    item.subject := 'turn:' || turn.id;
    -- A program reads the replies that it has asked for.
    perform add_inbox_item(item, turn.person_id, 'responsible', type = 'turn.failed' or turn.key_id is null, true);
  elsif type in ('run.completed', 'run.failed') or type = 'automation.paused' and item.event ? 'reason' then
    select person_id into responsible from automations
    where account_id = entry.account_id and name = event ->> 'automation' and deleted_at is null;
    if not found then
      return;
    end if;
    item.kind := case type when 'run.completed' then 'done' else 'failed' end;
    item.subject := 'automation:' || (event ->> 'automation');
    perform add_inbox_item(item, responsible, 'agent', true, true);
  elsif type = 'agent.failed' then
    item.kind := 'failed';
    item.subject := 'agent:' || agent.id;
    perform add_inbox_item(item, agent.person_id, 'agent', true, false);
  elsif type = 'network.refused' and event ->> 'reason' <> 'denied' then
    item.kind := 'blocked';
    item.subject := concat_ws(':', 'host', agent.id, event ->> 'host');
    item.count := greatest(1, (event ->> 'count')::bigint);
    perform add_inbox_item(item, agent.person_id, 'agent', true, false);
  elsif type in ('credits.low', 'credits.exhausted') then
    item.kind := 'costs';
    item.subject := 'credits';
    perform add_inbox_item(item, null, 'managers', true, true);
  elsif type = 'webhook.disabled' and item.event ? 'reason' then
    item.kind := 'failed';
    item.subject := 'webhook:' || (event ->> 'webhookId');
    perform add_inbox_item(item, null, 'managers', true, true);
  elsif type = 'provider.login_failed' then
    item.kind := 'failed';
    item.subject := concat_ws(':', 'provider', event ->> 'ownerId', event ->> 'provider');
    responsible := (event ->> 'ownerId')::uuid;
    perform add_inbox_item(item, responsible, case when responsible is null then 'managers' else 'responsible' end,
      true, false);
  elsif type = 'secret.login_failed' then
    item.kind := 'failed';
    item.subject := 'secret:' || (event ->> 'secret');
    perform add_inbox_item(item, null, 'managers', true, false);
  end if;
end $$;

-- Reads the numbered events that follow, and says how many they were. What it makes and how far it has read are committed
-- together: a server that dies loses and repeats nothing.
create function notify_people() returns bigint language plpgsql as $$
declare
  upto bigint;
  seen bigint;
  entry account_events;
begin
  if (select last from notified_events) >= (select last from account_event_counter) then
    return 0;
  end if;
  select last into seen from notified_events for update;
  select max(number) into upto from (
    select number from account_events where number > seen order by number limit 1000) batch;
  if upto is null then
    return 0;
  end if;
  for entry in
    select * from account_events
    where number > seen and number <= upto and event ->> 'type' in (
      'approval.requested', 'approval.answered', 'turn.ended', 'turn.held', 'queue.changed', 'agent.changed', 'run.completed',
      'run.failed', 'automation.paused', 'conversation.deleted', 'host.refused', 'credits.low', 'credits.exhausted',
      'webhook.disabled', 'provider.login_failed', 'provider.login_connected', 'provider.deleted', 'secret.login_failed',
      'secret.login_connected', 'secret.deleted')
    order by number
  loop
    -- An event that nobody expects does not hold up the later ones. Faults of the database itself are for the next try.
    begin
      perform notify_people_of(entry);
    exception when others then
      if left(sqlstate, 2) in ('08', '25', '40', '53', '54', '55', '57', '58', 'XX') then
        raise;
      end if;
      raise warning 'account event % was not understood: %', entry.id, sqlerrm;
    end;
  end loop;
  update notified_events set last = upto;
  return upto - seen;
end $$;

-- Reported to the person alone. Not while the workspace is deleted.
create function tell_inbox() returns trigger language plpgsql as $$
begin
  perform add_account_event(account_id, jsonb_build_object('type', 'inbox.changed', 'ownerId', person_id))
  from (select distinct account_id, person_id from changed) people
  where exists (select from accounts where id = account_id);
  return null;
end $$;
create trigger inbox_items_added_told after insert on inbox_items
  referencing new table as changed for each statement execute function tell_inbox();
create trigger inbox_items_changed_told after update on inbox_items
  referencing new table as changed for each statement execute function tell_inbox();
create trigger inbox_items_removed_told after delete on inbox_items
  referencing old table as changed for each statement execute function tell_inbox();

create function forget_inbox_of_agent() returns trigger language plpgsql as $$
begin
  delete from inbox_items where agent_id = old.id;
  return null;
end $$;
create trigger agents_inbox_forgotten after delete on agents for each row execute function forget_inbox_of_agent();

create function forget_inbox_of_member() returns trigger language plpgsql as $$
begin
  delete from inbox_items where person_id = old.person_id and account_id = old.account_id;
  return null;
end $$;
create trigger memberships_inbox_forgotten after delete on memberships
  for each row execute function forget_inbox_of_member();

create function forget_inbox_of_automation() returns trigger language plpgsql as $$
begin
  delete from inbox_items where account_id = new.account_id and subject = 'automation:' || new.name;
  return null;
end $$;
create trigger automations_inbox_forgotten after update of deleted_at on automations
  for each row when (new.deleted_at is not null) execute function forget_inbox_of_automation();

create function forget_inbox_of_webhook() returns trigger language plpgsql as $$
begin
  delete from inbox_items where account_id = old.account_id and subject = 'webhook:' || old.id;
  return null;
end $$;
create trigger webhooks_inbox_forgotten after delete on webhooks for each row execute function forget_inbox_of_webhook();
create trigger webhooks_enabled_settled after update of disabled on webhooks
  for each row when (old.disabled and not new.disabled) execute function forget_inbox_of_webhook();

-- Whether a rule of a list is about the host, in its forms without networks (`contract/egress-rules.ts`).
create function is_in_rules(host text, port text, rules jsonb) returns boolean language sql immutable as $$
  select exists (
    select from jsonb_array_elements_text(rules) rule
      cross join lateral (select case when right(rule, length(port) + 1) = ':' || port
        then left(rule, -1 - length(port)) else rule end as place) at
    where place in (host, '*') or place like '*.%' and right(host, length(place) - 1) = substr(place, 2))
$$;

create function settle_hosts() returns trigger language plpgsql as $$
begin
  delete from inbox_items
  where agent_id = new.agent_id and kind = 'blocked'
    and is_in_rules(event ->> 'host', coalesce(event ->> 'port', ''), new.allow || new.deny);
  return null;
end $$;
create trigger network_rules_hosts_settled after insert or update on network_rules
  for each row execute function settle_hosts();
