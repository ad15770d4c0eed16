-- Secrets of workspaces, which several of their agents can use.
create table workspace_secrets (
  account_id uuid not null references accounts on delete cascade,
  name text not null,
  -- Encrypted.
  value bytea not null,
  hosts jsonb not null,
  headers jsonb not null,
  -- Whether all agents may use it, also later ones; otherwise those of workspace_secret_agents.
  all_agents boolean not null,
  -- Random. Each agent's placeholder is derived from it and the agent's id.
  seed bytea not null,
  person_id uuid,
  key_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, name)
);

create table workspace_secret_agents (
  account_id uuid not null,
  name text not null,
  agent_id uuid not null references agents on delete cascade,
  primary key (account_id, name, agent_id),
  foreign key (account_id, name) references workspace_secrets on delete cascade
);
create index workspace_secret_agents_by_agent on workspace_secret_agents (agent_id);

-- Incremented by each change of a workspace's secrets, so that servers notice those that another server made.
create table workspace_secret_versions (
  account_id uuid primary key references accounts on delete cascade,
  version bigint not null default 1
);

create function tell_secret_event() returns trigger language plpgsql as $$
declare
  secret workspace_secrets := case tg_op when 'DELETE' then old else new end;
begin
  -- The account is gone if the secret goes with it.
  insert into workspace_secret_versions (account_id) select id from accounts where id = secret.account_id
    on conflict (account_id) do update set version = workspace_secret_versions.version + 1;
  perform add_workspace_event(secret.account_id, jsonb_build_object(
    'type', case tg_op when 'INSERT' then 'secret.created' when 'UPDATE' then 'secret.changed' else 'secret.deleted' end,
    'secret', secret.name));
  return null;
end $$;
create trigger workspace_secrets_told after insert or update or delete on workspace_secrets
  for each row execute function tell_secret_event();

-- As in migration 68, with the names of secrets.
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
        'commandId', 'exitCode', 'signal', 'timedOut', 'lost', 'secret')
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
    'snapshot.created', 'command.exited', 'secret.created', 'secret.changed', 'secret.deleted'))
  execute function queue_account_event();
