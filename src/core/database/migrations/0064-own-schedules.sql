-- Whether an agent may schedule messages to itself, and how many; null: it may not.
alter table agents add column schedules jsonb;
-- Whether the agent made it.
alter table automations add column by_agent boolean not null default false;

-- What an agent made for itself goes with it, as a private agent's automations do.
create or replace function end_automations() returns trigger language plpgsql as $$
begin
  update automations set deleted_at = now(), next_run_at = null, next_base_at = null
  where agent_id = old.id and (old.private or by_agent) and deleted_at is null;
  update automations set agent_id = null, next_run_at = null, next_base_at = null, paused = true,
    pause_reason = jsonb_build_object('code', 'agent_deleted', 'message', 'The agent ' || old.name || ' was deleted.')
  where agent_id = old.id and not paused and deleted_at is null;
  return old;
end $$;
