-- An agent that becomes private is removed from the agents that others may call: they can no longer call it, and their
-- settings show its name.
create function end_calls() returns trigger language plpgsql as $$
begin
  update agents set agents = agents.agents - new.name
  where account_id = new.account_id and agents.agents ? new.name
    and not (private and person_id is not distinct from new.person_id);
  return null;
end $$;
create trigger agents_calls_ended after update of private on agents
  for each row when (new.private and not old.private) execute function end_calls();

-- Followers learn that the agent is private, or is not. Those who may not see it get no event.
create trigger agents_privacy_told after update of private on agents
  for each row when (old.private <> new.private) execute function tell_agent_event();
