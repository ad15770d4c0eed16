-- Messages that agents get on a schedule.
create table automations (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  name text not null,
  -- The agent that gets the messages, or the source of each run's own agent; null: it was deleted.
  agent_id uuid references agents on delete set null,
  -- Its name, also when it is gone.
  agent_name text not null,
  -- With a fresh agent for each run: the snapshot and whether secrets are copied; null: the agent gets the messages.
  source jsonb,
  keep_hours integer not null,
  message text not null,
  trigger jsonb not null,
  conversation text not null,
  overlap text not null,
  missed text not null,
  max_credits text,
  timeout_minutes integer not null,
  paused boolean not null,
  -- Why it paused itself; null: a person did.
  pause_reason jsonb,
  -- The line's time of the next run, and that with its delay; null: none follows.
  next_base_at timestamptz,
  next_run_at timestamptz,
  -- When the next run was computed, by the database's clock.
  scheduled_at timestamptz not null default now(),
  -- Failed runs in a row.
  failures integer not null default 0,
  -- The conversation of its runs, if they share one; null: none yet.
  conversation_number integer,
  key_id uuid,
  person_id uuid,
  created_at timestamptz not null default now(),
  -- It is removed once its last run has ended; null: it exists.
  deleted_at timestamptz
);
create unique index automations_by_name on automations (account_id, name) where deleted_at is null;
create index automations_due on automations (next_run_at, id) where next_run_at is not null;
create index automations_by_agent on automations (agent_id) where agent_id is not null;
create index automations_deleted on automations (id) where deleted_at is not null;

create table automation_runs (
  -- Also the id of its turn, and of its own agent.
  id uuid primary key,
  automation_id uuid not null references automations on delete cascade,
  -- The agent that gets the message, or the source of the run's own agent, which `source` says more of. It may be gone.
  agent_id uuid not null,
  source jsonb,
  trigger text not null,
  status text not null,
  reason jsonb,
  message text not null,
  reply text not null default '',
  reply_truncated boolean not null default false,
  -- In micro-credits; null: unknown.
  credits bigint,
  agent_name text,
  conversation integer,
  -- Whether a later run, or the automation's deletion, cancels it.
  replaced boolean not null default false,
  due_at timestamptz not null,
  -- Within a transaction that has locked the automation's row, so that its runs begin in this order.
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz,
  -- When it is cancelled.
  deadline_at timestamptz not null,
  -- When its own agent is deleted; null: it has none, or that is done.
  agent_until timestamptz
);
create index automation_runs_newest on automation_runs (automation_id, created_at desc, id desc);
create index automation_runs_open on automation_runs (automation_id, created_at, id) where status in ('queued', 'running');
create index automation_runs_agents on automation_runs (agent_until) where agent_until is not null;

-- The automations of an agent that is deleted pause; those of a private one go with it, since others may not see them.
create function end_automations() returns trigger language plpgsql as $$
begin
  update automations set deleted_at = now(), next_run_at = null, next_base_at = null
  where agent_id = old.id and old.private and deleted_at is null;
  update automations set agent_id = null, next_run_at = null, next_base_at = null, paused = true,
    pause_reason = jsonb_build_object('code', 'agent_deleted', 'message', 'The agent ' || old.name || ' was deleted.')
  where agent_id = old.id and not paused and deleted_at is null;
  return old;
end $$;
create trigger agents_end_automations before delete on agents for each row execute function end_automations();

create function tell_automation_run() returns trigger language plpgsql as $$
begin
  perform add_account_event(account_id, jsonb_build_object('type', 'run.' || new.status, 'automation', name,
    'agent', agent_name, 'runId', new.id, 'turnId', case when new.started_at is not null then new.id end)
    || case when new.status = 'failed' then jsonb_build_object('reason', new.reason) else '{}' end)
  from automations where id = new.automation_id and deleted_at is null;
  return null;
end $$;
create trigger automation_runs_told after update of status on automation_runs
  for each row when (old.status <> new.status and new.status in ('completed', 'failed'))
  execute function tell_automation_run();

create function tell_paused_automation() returns trigger language plpgsql as $$
begin
  perform add_account_event(new.account_id, jsonb_build_object('type', 'automation.paused', 'automation', new.name,
    'agent', new.agent_name, 'reason', new.pause_reason));
  return null;
end $$;
create trigger automations_paused_told after update of paused on automations
  for each row when (not old.paused and new.paused) execute function tell_paused_automation();
