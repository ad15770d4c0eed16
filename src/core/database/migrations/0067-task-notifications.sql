-- A2A's push notifications: webhooks of one turn, which its client sets. They are bounded and listed apart.
alter table webhooks
  -- Null: a webhook of the workspace.
  add column turn_id uuid references turns on delete cascade,
  -- The id that its client knows it by.
  add column push_id text,
  add constraint webhooks_push_check check ((turn_id is null) = (push_id is null));
create unique index webhooks_by_turn on webhooks (turn_id, push_id, coalesce(key_id, person_id, account_id))
  where turn_id is not null;
create index webhooks_of_turns on webhooks (account_id) where turn_id is not null;

create or replace function queue_webhook_event(account uuid, agent text, event text, data jsonb)
returns void language plpgsql as $$
begin
  -- The lock skips a webhook that is being deleted, whose rows the foreign key would refuse.
  insert into webhook_deliveries (webhook_id, type, lane, data)
  select id, event, coalesce(agent, ''), data from webhooks
  where account_id = account and turn_id is null and not disabled and (events is null or events ? event)
    and (agent_name is null or agent_name = agent)
    and not exists (
      select from private_names where account_id = account and name = agent and until is null)
  for key share of webhooks;
end $$;

create or replace function queue_account_event() returns trigger language plpgsql as $$
declare
  event jsonb := new.event;
begin
  if not exists (select from webhooks where account_id = new.account_id and turn_id is null and not disabled) then
    return null;
  end if;
  perform queue_webhook_event(new.account_id, event ->> 'agent',
    case event ->> 'type'
      when 'turn.ended' then 'turn.' || (event ->> 'status')
      when 'approval.requested' then 'turn.waiting'
      when 'host.refused' then 'network.refused'
      else event ->> 'type'
    end,
    (
      select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(event)
      where key in ('agent', 'turnId', 'approvalId', 'automation', 'runId', 'snapshotId', 'host', 'port', 'count', 'balance')
    ) || case when event ->> 'status' = 'failed' or event ? 'reason'
      then jsonb_build_object('reason',
        coalesce(event -> 'error' ->> 'code', event -> 'reason' ->> 'code', event ->> 'reason'))
      else '{}' end);
  return null;
end $$;

-- One delivery for each change of a task's state. It says which task; the state is read when it is sent.
create function queue_task_update() returns trigger language plpgsql as $$
begin
  insert into webhook_deliveries (webhook_id, type, lane, data)
  select id, 'task.' || case when new.status = 'running' and new.waiting then 'waiting' else new.status end, '', '{}'
  from webhooks where turn_id = new.id and not disabled
  for key share of webhooks;
  return null;
end $$;
create trigger turns_task_queued after update of status, waiting on turns
  for each row when ((old.status, old.waiting) is distinct from (new.status, new.waiting))
  execute function queue_task_update();

drop trigger webhooks_disabled_told on webhooks;
create trigger webhooks_disabled_told after update of disabled on webhooks
  for each row when (new.disabled and not old.disabled and new.turn_id is null) execute function tell_disabled_webhook();
