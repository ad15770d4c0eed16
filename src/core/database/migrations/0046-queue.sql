-- Messages that wait until their agent has answered the one before.
alter table turns
  drop constraint turns_status_check,
  add constraint turns_status_check check (status in ('queued', 'running', 'completed', 'failed', 'cancelled')),
  -- Its order in the queue; null: it is not queued.
  add column place integer,
  -- Begins although the turn before it was cancelled.
  add column interrupts boolean not null default false,
  -- When it was queued; null: it began at once.
  add column queued_at timestamptz,
  add constraint turns_place_check check ((status = 'queued') = (place is not null));
create index queued_turns on turns (agent_id, place) where status = 'queued';

alter table agents
  add column queue_length integer not null default 0,
  -- Why the queue does not continue: how the turn before ended. Null: it continues.
  add column queue_held text check (queue_held in ('cancelled', 'failed'));

create trigger turns_continued_told after update of status on turns
  for each row when (old.status = 'queued' and new.status = 'running') execute function tell_turn_event();

create or replace function tell_turn_event() returns trigger language plpgsql as $$
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
  if tg_op = 'INSERT' or (tg_op = 'UPDATE' and turn.status = 'running') then
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
