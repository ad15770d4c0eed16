-- What a finished turn takes in the database, in bytes, as the hourly clean-up has measured it; null: not yet.
alter table turns add column bytes bigint;
create index turns_unmeasured on turns (finished_at) where bytes is null and status <> 'running';
create index turns_finished on turns (finished_at) where status <> 'running';

-- The server charges every five minutes. A longer span means that no server ran, that the host slept, or that its clock
-- was set forward: no more than an hour of it is charged.
create or replace function charge_machine(agent agents, until timestamptz) returns void language plpgsql as $$
declare
  seconds numeric := least(round(extract(epoch from until - agent.metered_until), 3), 3600);
  memory_mib integer := (agent.resources ->> 'memoryMiB')::integer;
  micro numeric := round(seconds * memory_mib * agent.machine_price / (1024 * 3600));
begin
  if micro > 0 then
    perform write_credit_entry(jsonb_populate_record(null::credit_entries, jsonb_build_object(
      'account_id', agent.account_id, 'kind', 'machine', 'amount', -micro, 'agent_id', agent.id,
      'agent_name', agent.name, 'seconds', seconds, 'memory_mib', memory_mib)));
  end if;
end $$;

create or replace function meter_agent() returns trigger language plpgsql as $$
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
    -- A clock that was set back a little charges nothing twice. One that was set back by more goes on from now.
    if old.metered_until < until + interval '1 hour' then
      until := greatest(until, old.metered_until);
      -- Whoever takes the time away lets the rest go: when the machine ended is not known.
      if new.metered_until is not null then
        perform charge_machine(old, until);
      end if;
    end if;
  elsif tg_op = 'DELETE' then
    return old;
  end if;
  new.metered_until := case when new.status = 'ready' then until end;
  return new;
end $$;
