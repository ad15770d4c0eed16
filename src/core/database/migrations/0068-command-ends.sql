-- Commands whose end has not been reported.
alter table machine_authors add column open boolean not null default false;
create index machine_authors_open on machine_authors (agent_id, created_at) where open;

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
      where key in ('agent', 'turnId', 'approvalId', 'automation', 'runId', 'snapshotId', 'host', 'port', 'count', 'balance',
        'commandId', 'exitCode', 'signal', 'timedOut', 'lost')
    ) || case when event ->> 'status' = 'failed' or event ? 'reason'
      then jsonb_build_object('reason',
        coalesce(event -> 'error' ->> 'code', event -> 'reason' ->> 'code', event ->> 'reason'))
      else '{}' end);
  return null;
end $$;

drop trigger account_events_queued on account_events;
create trigger account_events_queued after insert on account_events
  for each row when (new.event ->> 'type' in ('turn.ended', 'turn.held', 'approval.requested', 'agent.deleted',
    'automation.paused', 'run.completed', 'run.failed', 'credits.low', 'credits.exhausted', 'host.refused',
    'snapshot.created', 'command.exited'))
  execute function queue_account_event();
