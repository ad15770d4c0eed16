-- Accounts at providers of models.
create table providers (
  id uuid primary key,
  -- Null: for all workspaces.
  account_id uuid references accounts on delete cascade,
  name text not null,
  kind text not null,
  base_url text,
  region text,
  project text,
  models jsonb,
  -- Encrypted; null: it needs none.
  credential bytea,
  -- What people see of it.
  hint text,
  person_id uuid,
  key_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique nulls not distinct (account_id, name)
);

-- A provider of the installation is no event of a workspace.
create function tell_provider() returns trigger language plpgsql as $$
declare
  provider providers := coalesce(new, old);
begin
  -- A workspace's deletion deletes its providers, too.
  if tg_op = 'DELETE' and not exists (select from accounts where id = old.account_id) then
    return null;
  end if;
  perform add_account_event(provider.account_id, jsonb_build_object(
    'type', 'provider.' || case tg_op when 'INSERT' then 'created' when 'UPDATE' then 'changed' else 'deleted' end,
    'provider', provider.name, 'kind', provider.kind));
  return null;
end $$;
create trigger providers_told after insert or update on providers
  for each row when (new.account_id is not null) execute function tell_provider();
create trigger providers_deleted_told after delete on providers
  for each row when (old.account_id is not null) execute function tell_provider();

-- Calls of a model with the workspace's own account at the provider cost no credits. They count for limits at list price.
alter table credit_holds add column own boolean not null default false;
-- The sum of these holds, which `held` does not include.
alter table accounts add column own_held bigint not null default 0 check (own_held >= 0);
-- The list price of a call that cost no credits.
alter table credit_entries add column listed bigint check (listed >= 0);

create or replace function write_credit_entry(entry credit_entries) returns boolean language plpgsql as $$
declare
  this_month date;
  spending bigint := case when entry.kind in ('model', 'machine') then coalesce(entry.listed, -entry.amount) else 0 end;
begin
  perform 1 from accounts where id = entry.account_id for no key update;
  if entry.reference is not null
    and exists (select 1 from credit_entries where kind = entry.kind and reference = entry.reference) then
    return false;
  end if;
  entry.at := date_trunc('milliseconds', clock_timestamp());
  this_month := date_trunc('month', entry.at at time zone 'UTC');
  update accounts set
    balance = balance + entry.amount,
    entries = entries + 1,
    month_spent = case when month = this_month then month_spent else 0 end + spending,
    month = this_month
  where id = entry.account_id
  returning entries, balance into entry.number, entry.balance_after;
  update api_keys set spent = spent + spending where id = entry.key_id;
  update turn_credits set spent = spent + spending where turn_id = entry.turn_id;
  insert into credit_entries select entry.*;
  return true;
end $$;

create or replace function release_holds(payer uuid, only_id uuid) returns boolean language plpgsql as $$
begin
  perform 1 from accounts where id = payer for no key update;
  with released as (
    delete from credit_holds
    where account_id = payer and (id = only_id or (only_id is null and leased_until < clock_timestamp()))
    returning key_id, turn_id, amount, own
  ), of_keys as (
    update api_keys set held = held - released_of.amount
    from (select key_id, sum(amount) as amount from released group by key_id) released_of
    where api_keys.id = released_of.key_id
  ), of_turns as (
    update turn_credits set held = greatest(0, held - released_of.amount)
    from (select turn_id, sum(amount) as amount from released group by turn_id) released_of
    where turn_credits.turn_id = released_of.turn_id
  )
  update accounts set
    held = held - (select coalesce(sum(amount) filter (where not own), 0) from released),
    own_held = own_held - (select coalesce(sum(amount) filter (where own), 0) from released)
  where id = payer and exists (select 1 from released);
  return found;
end $$;

create or replace function hold_credits(
  wanted credit_holds, lease interval,
  -- Of the turn, and of all turns that its client's turn caused; null: none.
  turn_limit bigint default null, caused_by uuid default null, caused_limit bigint default null,
  out short_of text, out limit_of bigint, out left_over bigint, out near jsonb
) language plpgsql as $$
declare
  more bigint;
begin
  -- A model call waits for this, and nothing is lost where a crash of the database takes the last holds away: what was used
  -- is written all the same.
  perform set_config('synchronous_commit', 'off', true);
  perform 1 from accounts where id = wanted.account_id for no key update;
  wanted.leased_until := clock_timestamp() + lease;
  -- Servers of earlier versions do not set it.
  wanted.own := coalesce(wanted.own, false);
  update credit_holds set leased_until = wanted.leased_until where id = wanted.id
    returning wanted.amount - amount into more;
  more := coalesce(more, wanted.amount);
  if wanted.turn_id is not null and (turn_limit is not null or caused_by is not null) then
    insert into turn_credits (turn_id, first_turn, spent)
      values (wanted.turn_id, caused_by,
        coalesce((select (usage ->> 'microCredits')::bigint from turns where id = wanted.turn_id), 0))
      on conflict do nothing;
  end if;
  loop
    with limits (place, reason, maximum, spent, held) as (
      select 1, 'balance', account.balance, 0::bigint, account.held from accounts account
        where id = wanted.account_id and not wanted.own
      union all
      select 2, 'monthly_limit', account.monthly_limit, spent_this_month(account), account.held + account.own_held
        from accounts account where id = wanted.account_id
      union all
      select 3, 'key_limit', key.credit_limit, key.spent, key.held from api_keys key where id = wanted.key_id
      union all
      select 4, 'turn_limit', turn_limit, turn.spent, turn.held from turn_credits turn where turn_id = wanted.turn_id
      union all
      select 5, 'caused_limit', caused_limit, sum(turn.spent)::bigint, sum(turn.held)::bigint
        from turn_credits turn where first_turn = caused_by having count(*) > 0
    ), known as (
      select * from limits where maximum is not null
    )
    select
      (select reason from known where spent + known.held + more > maximum order by place limit 1),
      (select maximum from known where spent + known.held + more > maximum order by place limit 1),
      -- Without any limit, as much as may be counted.
      (select coalesce(min(maximum - spent - known.held), 9007199254740991) - more from known),
      (select jsonb_agg(jsonb_build_object('reason', reason, 'limit', maximum, 'used', spent) order by place)
        from known where spent >= maximum * 0.8 and reason <> 'balance')
      into short_of, limit_of, left_over, near;
    exit when short_of is null or not release_holds(wanted.account_id, null);
  end loop;
  if short_of is not null then
    return;
  end if;
  update accounts set
    held = held + case when wanted.own then 0 else more end,
    own_held = own_held + case when wanted.own then more else 0 end
  where id = wanted.account_id;
  update api_keys set held = held + more where id = wanted.key_id;
  update turn_credits set held = held + more where turn_id = wanted.turn_id;
  insert into credit_holds select wanted.* on conflict (id) do update set amount = excluded.amount;
end $$;

create or replace procedure settle_credits(used credit_entries) language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  perform release_holds(used.account_id, used.reference::uuid);
  if used.amount < 0 or used.listed > 0 then
    perform write_credit_entry(used);
    commit;
    perform pg_logical_emit_message(true, 'berth', '');
  end if;
end $$;
