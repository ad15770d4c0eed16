-- Addresses that workspaces have called when something happens.
create table webhooks (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  url text not null,
  -- The types of events; null: all.
  events jsonb,
  -- Only events of the agent of this name; null: all.
  agent_name text,
  include jsonb not null,
  -- Encrypted; the old one signs as well until its time.
  secret bytea not null,
  old_secret bytea,
  old_secret_until timestamptz,
  disabled boolean not null default false,
  -- Why the server disabled it; null: a person did, or it is not disabled.
  disabled_reason jsonb,
  -- Deliveries that were removed because too many waited.
  dropped bigint not null default 0,
  -- The last delivery that arrived.
  delivered_at timestamptz,
  key_id uuid,
  person_id uuid,
  created_at timestamptz not null default now()
);
create index webhooks_by_account on webhooks (account_id, created_at desc, id desc);

-- Events for webhooks, written in the transaction of what they report.
create table webhook_deliveries (
  -- Also the receiver's `webhook-id`.
  id uuid primary key default gen_random_uuid(),
  -- Their order.
  number bigint generated always as identity,
  webhook_id uuid not null references webhooks on delete cascade,
  type text not null,
  -- Deliveries of one lane are tried in order: the agent's name, or nothing.
  lane text not null,
  data jsonb not null,
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  -- While a server tries: the time until which others leave it alone.
  next_try_at timestamptz not null default clock_timestamp(),
  attempted_at timestamptz,
  -- The last answer's status, or the reason why there was none.
  answer_status integer,
  error text,
  finished_at timestamptz
);
create index webhook_deliveries_newest on webhook_deliveries (webhook_id, created_at desc, id desc);
create index webhook_deliveries_due on webhook_deliveries (next_try_at) where status = 'pending';
create index webhook_deliveries_waiting on webhook_deliveries (webhook_id, number) where status = 'pending';
create index webhook_deliveries_untried on webhook_deliveries (webhook_id, lane, number)
  where status = 'pending' and attempts = 0;

-- Private agents are reported to no webhook: admins see those of the whole workspace.
create function queue_webhook_event(account uuid, agent text, event text, data jsonb) returns void language plpgsql as $$
begin
  -- The lock skips a webhook that is being deleted, whose rows the foreign key would refuse.
  insert into webhook_deliveries (webhook_id, type, lane, data)
  select id, event, coalesce(agent, ''), data from webhooks
  where account_id = account and not disabled and (events is null or events ? event)
    and (agent_name is null or agent_name = agent)
    and not exists (
      select from private_names where account_id = account and name = agent and until is null)
  for key share of webhooks;
end $$;

-- Events of the account's stream by their names for webhooks, with their ids and codes alone.
create function queue_account_event() returns trigger language plpgsql as $$
declare
  event jsonb := new.event;
begin
  if not exists (select from webhooks where account_id = new.account_id and not disabled) then
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
create trigger account_events_queued after insert on account_events
  for each row when (new.event ->> 'type' in ('turn.ended', 'turn.held', 'approval.requested', 'agent.deleted',
    'automation.paused', 'run.completed', 'run.failed', 'credits.low', 'credits.exhausted', 'host.refused',
    'snapshot.created'))
  execute function queue_account_event();

create function queue_agent_status() returns trigger language plpgsql as $$
begin
  perform queue_webhook_event(new.account_id, new.name, 'agent.' || new.status,
    jsonb_build_object('agent', new.name)
      || case when new.status = 'failed' then jsonb_build_object('reason', new.error ->> 'code') else '{}' end);
  return null;
end $$;
create trigger agents_status_queued after update of status on agents
  for each row when (old.status <> new.status and new.status in ('ready', 'failed', 'suspended'))
  execute function queue_agent_status();

create function tell_snapshot() returns trigger language plpgsql as $$
begin
  perform add_account_event(account_id, jsonb_build_object('type', 'snapshot.created', 'agent', name,
    'snapshotId', new.id, 'name', new.name))
  from agents where id = new.agent_id;
  return null;
end $$;
-- Not those from before turns, rollbacks and the like, which the service makes.
create trigger snapshots_told after insert on snapshots
  for each row when (new.reason = 'asked') execute function tell_snapshot();

-- At the end of the transaction, which releases a queue that has no messages.
create function tell_held_queue() returns trigger language plpgsql as $$
begin
  perform add_account_event(account_id, jsonb_build_object('type', 'turn.held', 'agent', name, 'reason', queue_held,
    'turnId', (select id from turns where agent_id = agents.id and status = 'queued' order by place limit 1)))
  from agents where id = new.id and queue_held is not null and queue_length > 0;
  return null;
end $$;
create constraint trigger agents_held_told after update of queue_held on agents
  deferrable initially deferred
  for each row when (old.queue_held is null and new.queue_held is not null) execute function tell_held_queue();

-- The balance at which the account is warned, in micro-credits; null: never.
alter table accounts add column low_credits bigint;

create function tell_credits() returns trigger language plpgsql as $$
begin
  perform add_account_event(new.id, jsonb_build_object(
    'type', case when new.balance <= 0 then 'credits.exhausted' else 'credits.low' end,
    'balance', trim_scale(new.balance / 1000000.0)::text));
  return null;
end $$;
create trigger accounts_credits_told after update of balance on accounts
  for each row when (old.balance > 0 and new.balance <= 0
    or new.balance > 0 and old.balance > new.low_credits and new.balance <= new.low_credits)
  execute function tell_credits();

create function tell_disabled_webhook() returns trigger language plpgsql as $$
begin
  perform add_account_event(new.account_id,
    jsonb_build_object('type', 'webhook.disabled', 'webhookId', new.id, 'reason', new.disabled_reason));
  return null;
end $$;
create trigger webhooks_disabled_told after update of disabled on webhooks
  for each row when (new.disabled and not old.disabled) execute function tell_disabled_webhook();
