-- An automation that has paused because its agent was deleted is an item without an agent.

-- Makes items and notifications of an event of the account's stream, with its ids and reasons.
create or replace function notify_people_of(entry account_events) returns void language plpgsql as $$
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
    if not found and type <> 'automation.paused' then
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

create or replace function forget_inbox_of_agent() returns trigger language plpgsql as $$
begin
  delete from inbox_items where agent_id = old.id and event ->> 'type' <> 'automation.paused';
  update inbox_items set agent_id = null where agent_id = old.id;
  return null;
end $$;
