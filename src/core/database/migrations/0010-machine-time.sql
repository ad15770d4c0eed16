-- What a machine costs while its agent is `ready`. It is charged where the status changes, in the same transaction, by
-- whatever statement: no second is charged twice or never, whoever dies.

alter table agents
  -- Until when its machine's time is charged; null: it does not run.
  add column metered_until timestamptz,
  -- Micro-credits for a GiB of memory and an hour, as it was when the time that is not charged yet began.
  add column machine_price bigint not null default 0;
update agents set metered_until = date_trunc('milliseconds', now()) where status = 'ready';

create function charge_machine(agent agents, until timestamptz) returns void language plpgsql as $$
declare
  seconds numeric := round(extract(epoch from until - agent.metered_until), 3);
  memory_mib integer := (agent.resources ->> 'memoryMiB')::integer;
  micro numeric := round(seconds * memory_mib * agent.machine_price / (1024 * 3600));
begin
  if micro > 0 then
    perform write_credit_entry(jsonb_populate_record(null::credit_entries, jsonb_build_object(
      'account_id', agent.account_id, 'kind', 'machine', 'amount', -micro, 'agent_id', agent.id,
      'agent_name', agent.name, 'seconds', seconds, 'memory_mib', memory_mib)));
  end if;
end $$;

create function meter_agent() returns trigger language plpgsql as $$
declare
  until timestamptz := date_trunc('milliseconds', clock_timestamp());
begin
  if tg_op <> 'INSERT' and old.status = 'ready' then
    if tg_op = 'DELETE' then
      perform charge_machine(old, greatest(until, old.metered_until));
      return old;
    end if;
    -- Nothing that counts has changed.
    if (new.status, new.metered_until, new.machine_price) = (old.status, old.metered_until, old.machine_price) then
      return new;
    end if;
    -- A clock that was set back charges nothing twice.
    until := greatest(until, old.metered_until);
    -- Whoever takes the time away lets the rest go: when the machine ended is not known.
    if new.metered_until is not null then
      perform charge_machine(old, until);
    end if;
  elsif tg_op = 'DELETE' then
    return old;
  end if;
  new.metered_until := case when new.status = 'ready' then until end;
  return new;
end $$;
create trigger agents_metered before insert or delete or update of status, metered_until, machine_price on agents
  for each row execute function meter_agent();
