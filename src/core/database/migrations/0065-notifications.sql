-- How people are notified. Without a row: the defaults.
create table profiles (
  person_id uuid primary key references people on delete cascade,
  -- An address that the person has confirmed by a link; null: that of the sign-in.
  email text,
  -- An address that waits for its link. The token is a secret, and stored as its SHA-256.
  pending_email text,
  pending_token_hash bytea,
  pending_until timestamptz,
  email_notifications boolean not null default true,
  -- Null: that of the sign-in.
  time_zone text,
  -- Times of day, such as 22:00; null: none.
  quiet_from text,
  quiet_to text,
  notify text not null default 'needs-me' check (notify in ('all', 'needs-me', 'none')),
  ntfy_url text,
  -- Encrypted.
  ntfy_token bytea,
  -- Why each channel refused the last notification for good, by the channel's name.
  failures jsonb not null default '{}'
);

-- Choices for single agents. They end with the membership.
create table agent_notify (
  person_id uuid not null,
  account_id uuid not null,
  agent_id uuid not null references agents on delete cascade,
  notify text not null check (notify in ('all', 'needs-me', 'none')),
  primary key (person_id, agent_id),
  foreign key (person_id, account_id) references memberships on delete cascade
);
create index agent_notify_by_agent on agent_notify (agent_id);

-- Events that people are to be notified of, written in the transaction of what they report. Without references: to check
-- them would lock memberships, and a row is gone within a day.
create table notifications (
  id uuid primary key default gen_random_uuid(),
  number bigint generated always as identity,
  person_id uuid not null,
  account_id uuid not null,
  -- Null: it is about the workspace, or its agent is gone.
  agent_id uuid,
  event jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  -- Later events of the person until then go along with it.
  due_at timestamptz not null default clock_timestamp() + interval '30 seconds',
  -- Whether quiet hours delay it.
  held boolean not null default false
);
create index notifications_by_person on notifications (person_id, number);
create index notifications_due on notifications (due_at);
create index notifications_old on notifications (created_at);

-- Notifications on their way: for each channel that reaches the person.
create table notification_sends (
  id uuid primary key default gen_random_uuid(),
  number bigint generated always as identity,
  person_id uuid not null references people on delete cascade,
  channel text not null,
  -- What it is about, with the ids that say whether the person may still see it.
  events jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  attempts integer not null default 0,
  -- While a server tries: the time until which others leave it alone.
  next_try_at timestamptz not null default clock_timestamp()
);
create index notification_sends_due on notification_sends (next_try_at);
create index notification_sends_by_person on notification_sends (person_id, channel, number);

-- Whether any channel reaches the person. The table of browsers is made by a later migration.
create function is_reachable(person uuid) returns boolean language plpgsql stable as $$
begin
  return exists (
    select from people left join profiles on profiles.person_id = people.id
    where people.id = person and people.disabled_at is null
      and (profiles.ntfy_url is not null
        or coalesce(profiles.email_notifications, true)
          and (profiles.email is not null or people.email is not null and people.email_verified)
        or exists (select from push_subscriptions where push_subscriptions.person_id = person)));
end $$;

-- Notifies members of a workspace. `responsible`: who began the turn or made the automation. `audience`: `responsible`;
-- `agent`, also those who want all of the agent, and owners and admins where nobody is responsible; or `managers`.
create function queue_notification(account uuid, agent uuid, responsible uuid, audience text, is_completed boolean, event jsonb)
returns void language sql as $$
  insert into notifications (person_id, account_id, agent_id, event)
  select member.person_id, account, agent, event
  from memberships member
    left join profiles profile on profile.person_id = member.person_id
    left join agent_notify own on own.person_id = member.person_id and own.agent_id = agent
  where member.account_id = account and (audience <> 'responsible' or member.person_id = responsible)
    and case coalesce(own.notify, profile.notify, 'needs-me')
      when 'all' then audience <> 'managers' or member.role in ('owner', 'admin')
      when 'needs-me' then not is_completed and (
        audience <> 'managers' and member.person_id = responsible
        or audience = 'managers' and member.role in ('owner', 'admin')
        or audience = 'agent' and member.role in ('owner', 'admin') and not exists (
          select from memberships where account_id = account and person_id = responsible and role <> 'viewer'))
      else false
    end
    and not exists (
      select from private_names hidden
      where hidden.agent_id = agent and hidden.person_id is distinct from member.person_id)
    and is_reachable(member.person_id)
    -- A person with so many that wait has other worries.
    and 200 > (select count(*) from (select from notifications where person_id = member.person_id limit 200) waiting)
$$;

-- The events of the account's stream that people are notified of, with their ids and reasons.
create function queue_account_notification() returns trigger language plpgsql as $$
declare
  event jsonb := new.event;
  kind text := case event ->> 'type'
    when 'turn.ended' then 'turn.' || (event ->> 'status')
    when 'approval.requested' then 'turn.waiting'
    else event ->> 'type' end;
  facts jsonb;
  agent uuid;
  responsible uuid;
begin
  facts := jsonb_build_object('type', kind, 'at', new.at) || (
    select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(event)
    where key in ('agent', 'turnId', 'approvalId', 'automation', 'runId', 'balance', 'webhookId')
  ) || jsonb_strip_nulls(jsonb_build_object('reason', left(
    coalesce(event -> 'error' ->> 'message', event -> 'reason' ->> 'message', event ->> 'reason'), 300)));
  if kind in ('credits.low', 'credits.exhausted', 'webhook.disabled') then
    perform queue_notification(new.account_id, null, null, 'managers', false, facts);
  elsif kind in ('run.completed', 'run.failed', 'automation.paused') then
    select automations.agent_id, person_id into agent, responsible from automations
    where account_id = new.account_id and name = event ->> 'automation' and deleted_at is null;
    perform queue_notification(new.account_id, agent, responsible, 'agent', kind = 'run.completed', facts);
  elsif kind in ('turn.waiting', 'turn.held') then
    select id, turns.person_id into agent, responsible from agents
      left join lateral (
        select person_id from turns where turns.id = (event ->> 'turnId')::uuid and agent_id = agents.id) turns on true
    where account_id = new.account_id and name = event ->> 'agent';
    perform queue_notification(new.account_id, agent, responsible, 'agent', false, facts);
  else
    -- Not those that other turns or automations began, which report themselves.
    select agent_id, person_id into agent, responsible from turns
    where id = (event ->> 'turnId')::uuid and person_id is not null and asked_by is null
      and not exists (select from automation_runs where automation_runs.id = turns.id);
    if not found then
      return null;
    end if;
    if kind = 'turn.completed' and 'all' is distinct from coalesce(
      (select notify from agent_notify where person_id = responsible and agent_id = agent),
      (select notify from profiles where person_id = responsible)) then
      return null;
    end if;
    perform queue_notification(new.account_id, agent, responsible, 'responsible', kind = 'turn.completed', facts);
  end if;
  return null;
end $$;
create trigger account_events_notified after insert on account_events
  for each row when (new.event ->> 'type' in ('approval.requested', 'turn.held', 'run.completed', 'run.failed', 'credits.low',
      'credits.exhausted')
    or new.event ->> 'type' = 'turn.ended' and new.event ->> 'status' <> 'cancelled'
    -- Not those that a person paused or disabled.
    or new.event ->> 'type' in ('automation.paused', 'webhook.disabled') and new.event ->> 'reason' is not null)
  execute function queue_account_notification();
