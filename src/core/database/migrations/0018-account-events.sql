-- What happens in accounts, for those who follow it. Triggers write it, in the transaction of the change: no code can
-- forget an event, and none tells of a change that was rolled back.
create table account_events (
  id bigint generated always as identity primary key,
  -- No reference: a row is gone within days anyway, and to check it would lock the account, which model calls need.
  account_id uuid not null,
  at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  event jsonb not null,
  -- Its place in the order in which readers get events; null: none yet.
  number bigint
);
create unique index account_events_numbered on account_events (number) where number is not null;
create index account_events_by_account on account_events (account_id, number) where number is not null;
create index account_events_unnumbered on account_events (id) where number is null;

-- The last number that was given. Its one row is locked by whoever gives numbers.
create table account_event_counter (last bigint not null);
insert into account_event_counter values (0);

-- Up to which number an account's events are no longer kept.
create table account_events_removed (
  account_id uuid primary key,
  number bigint not null
);

-- Numbers events that are committed and have no number yet, and says how many they were. The ids of transactions that
-- run at once become visible in any order, so a reader who goes by them misses those of the slower one. Numbers are
-- given after the commit, under a lock that is held until they are committed themselves: whoever sees a number sees all
-- smaller ones. Unlike ids of transactions, they survive a dump and a restore, and wait for no other program's long
-- transaction.
create function number_account_events() returns bigint language plpgsql as $$
declare
  numbered bigint;
begin
  if not exists (select from account_events where number is null) then
    return 0;
  end if;
  perform 1 from account_event_counter for update;
  -- A statement of its own, which sees what was committed while it waited for the lock.
  with fresh as (
    select id, row_number() over (order by id) as place from account_events where number is null order by id limit 10000
  )
  update account_events set number = counter.last + fresh.place
  from fresh, account_event_counter counter where account_events.id = fresh.id;
  get diagnostics numbered = row_count;
  update account_event_counter set last = last + numbered;
  return numbered;
end $$;

-- No notification: transactions that notify commit one after the other, and followers look often enough by themselves.
create function add_account_event(account uuid, event jsonb) returns void language sql as $$
  insert into account_events (account_id, event) values (account, event)
$$;

create function tell_agent_event() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform add_account_event(old.account_id, jsonb_build_object('type', 'agent.deleted', 'agent', old.name));
    return null;
  end if;
  perform add_account_event(new.account_id, jsonb_build_object(
    'type', case tg_op when 'INSERT' then 'agent.created' else 'agent.changed' end,
    'agent', new.name, 'runtime', new.runtime, 'model', new.model, 'status', new.status, 'desired', new.desired,
    'conversation', new.conversation, 'error', new.error));
  return null;
end $$;
create trigger agents_told after insert or delete on agents for each row execute function tell_agent_event();
-- A turn's beginning, which only says that the agent is active, is no change.
create trigger agents_changed_told after update of model, instructions, status, desired, conversation, error on agents
  for each row
  when ((old.model, old.instructions, old.status, old.desired, old.conversation, old.error)
    is distinct from (new.model, new.instructions, new.status, new.desired, new.conversation, new.error))
  execute function tell_agent_event();

create function tell_turn_event() returns trigger language plpgsql as $$
declare
  turn turns := case tg_op when 'DELETE' then old else new end;
  agent agents;
  event jsonb;
begin
  select * into agent from agents where id = turn.agent_id;
  -- Turns that go with their agent are not told one by one.
  if not found then
    return null;
  end if;
  event := jsonb_build_object('agent', agent.name, 'turnId', turn.id);
  if tg_op = 'INSERT' then
    event := event || jsonb_build_object('type', 'turn.started', 'message', left(turn.message, 200));
  else
    event := event || jsonb_build_object('type', 'turn.ended',
      -- One that is removed while it runs was refused after all.
      'status', case tg_op when 'DELETE' then 'cancelled' else turn.status end,
      -- The last event is stored by the statement that ends the turn.
      'error', case when tg_op = 'UPDATE' and turn.status = 'failed' then
        (select last.event -> 'error' from turn_events last where turn_id = turn.id order by seq desc limit 1) end);
  end if;
  perform add_account_event(agent.account_id, event);
  return null;
end $$;
create trigger turns_begun_told after insert on turns for each row execute function tell_turn_event();
create trigger turns_ended_told after update of status on turns
  for each row when (old.status = 'running' and new.status <> 'running') execute function tell_turn_event();
create trigger turns_removed_told after delete on turns
  for each row when (old.status = 'running') execute function tell_turn_event();

create function tell_refused_host() returns trigger language plpgsql as $$
begin
  perform add_account_event(account_id, jsonb_build_object('type', 'host.refused', 'agent', name, 'host', new.host,
    'port', new.port, 'reason', new.reason, 'count', new.count))
  from agents where id = new.agent_id;
  return null;
end $$;
create trigger network_log_refused_told after insert on network_log
  for each row when (new.reason is not null) execute function tell_refused_host();

create function tell_key_event() returns trigger language plpgsql as $$
begin
  perform add_account_event(new.account_id, jsonb_build_object(
    'type', case tg_op when 'INSERT' then 'key.created' else 'key.revoked' end,
    'keyId', new.id, 'name', new.name, 'kind', new.kind));
  return null;
end $$;
create trigger api_keys_created_told after insert on api_keys for each row execute function tell_key_event();
create trigger api_keys_revoked_told after update of revoked_at on api_keys
  for each row when (old.revoked_at is null and new.revoked_at is not null) execute function tell_key_event();
