-- Uses of tools that wait until a person allows them.
alter table agents add column permissions jsonb not null default
  '{"read": "allow", "edit": "allow", "execute": "allow", "fetch": "allow", "mcp": "allow", "other": "allow", "rules": []}';

alter table turns
  -- What happens when the permissions say `ask`.
  add column on_ask text not null default 'deny' check (on_ask in ('wait', 'deny')),
  -- Whether a running turn waits for an approval. Its machine may sleep.
  add column waiting boolean not null default false;

create table approvals (
  turn_id uuid not null references turns on delete cascade,
  -- From the machine.
  id uuid not null,
  -- Its event in the turn, which has the rest.
  seq integer not null,
  requested_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- Null: nobody has answered.
  decision text check (decision in ('allow', 'allow-always', 'deny')),
  message text,
  decided_at timestamptz,
  key_id uuid,
  person_id uuid,
  primary key (turn_id, id)
);
create index open_approvals on approvals (expires_at) where decision is null;

create function tell_approval() returns trigger language plpgsql as $$
declare
  agent agents;
begin
  select agents.* into agent from turns join agents on agents.id = turns.agent_id where turns.id = new.turn_id;
  if found then
    perform add_account_event(agent.account_id, jsonb_build_object(
      'type', case tg_op when 'INSERT' then 'approval.requested' else 'approval.answered' end,
      'agent', agent.name, 'turnId', new.turn_id, 'approvalId', new.id)
      || case tg_op when 'INSERT' then '{}' else jsonb_build_object('decision', new.decision) end);
  end if;
  return null;
end $$;
create trigger approvals_told after insert or update of decision on approvals
  for each row execute function tell_approval();
