-- Credits, in whole micro-credits. All changes of an account's credits are made under its row's lock, by the functions
-- below; who needs an agent's row too locks that one first.

alter table accounts
  -- The sum of its entries. As far as a double counts whole numbers.
  add column balance bigint not null default 0
    constraint accounts_balance check (balance between -9007199254740991 and 9007199254740991),
  -- The sum of its holds.
  add column held bigint not null default 0 check (held >= 0),
  -- How many entries it has, which is the number of the last.
  add column entries bigint not null default 0,
  add column monthly_limit bigint check (monthly_limit >= 0),
  -- What was spent in that month of UTC.
  add column month date,
  add column month_spent bigint not null default 0;

alter table api_keys
  -- By turns that were begun with it.
  add column spent bigint not null default 0,
  add column held bigint not null default 0 check (held >= 0);
update api_keys set spent = coalesce(
  (select sum((usage ->> 'microCredits')::bigint) from turns where key_id = api_keys.id), 0);

-- The ledger. No reference to agents, turns and keys: an entry outlives what it tells of.
create table credit_entries (
  account_id uuid not null references accounts,
  -- 1, 2, … in each account, without a gap.
  number bigint not null,
  at timestamptz not null,
  kind text not null check (kind in ('starting', 'grant', 'top_up', 'refund', 'model', 'machine')),
  amount bigint not null,
  balance_after bigint not null,
  agent_id uuid,
  agent_name text,
  turn_id uuid,
  key_id uuid,
  model text,
  tokens jsonb,
  -- Of a machine's time.
  seconds numeric(12, 3),
  memory_mib integer,
  note text,
  -- What it was written for, once: a hold's id, a payment's.
  reference text,
  primary key (account_id, number)
);
create unique index credit_entries_once on credit_entries (kind, reference) where reference is not null;
create index credit_entries_by_time on credit_entries (account_id, at);
create index credit_entries_by_kind on credit_entries (account_id, kind, number);
create index credit_entries_by_agent on credit_entries (account_id, agent_name, number) where agent_name is not null;

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is only ever added to', tg_table_name;
end $$;
create trigger credit_entries_stay before update or delete or truncate on credit_entries
  for each statement execute function refuse_change();

-- Credits kept back for model calls that are not over.
create table credit_holds (
  id uuid primary key,
  account_id uuid not null references accounts,
  key_id uuid references api_keys,
  agent_id uuid not null,
  agent_name text not null,
  turn_id uuid,
  model text not null,
  amount bigint not null check (amount >= 0),
  -- The server that made it puts this off as long as it lives.
  leased_until timestamptz not null
);
create index credit_holds_by_account on credit_holds (account_id);
create index credit_holds_by_lease on credit_holds (leased_until);

create function spent_this_month(account accounts) returns bigint stable language sql as $$
  select case when account.month = date_trunc('month', clock_timestamp() at time zone 'UTC')
    then account.month_spent else 0 end
$$;

-- Adds an entry to the ledger; number, time and balance are set here. False when there is one of its reference already.
create function write_credit_entry(entry credit_entries) returns boolean language plpgsql as $$
declare
  this_month date;
  spending bigint := case when entry.kind in ('model', 'machine') then -entry.amount else 0 end;
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
  insert into credit_entries select entry.*;
  return true;
end $$;

-- Releases the hold of that id or, for null, those of the account whose lease is over. False when there was none.
create function release_holds(payer uuid, only_id uuid) returns boolean language plpgsql as $$
begin
  perform 1 from accounts where id = payer for no key update;
  with released as (
    delete from credit_holds
    where account_id = payer and (id = only_id or (only_id is null and leased_until < clock_timestamp()))
    returning key_id, amount
  ), of_keys as (
    update api_keys set held = held - released_of.amount
    from (select key_id, sum(amount) as amount from released group by key_id) released_of
    where api_keys.id = released_of.key_id
  )
  update accounts set held = held - (select sum(amount) from released)
  where id = payer and exists (select 1 from released);
  return found;
end $$;

-- Has the hold of that id keep back `wanted.amount` altogether, and says how much more could be held then; or leaves it as
-- it was and says what is short. Before it refuses, holds whose lease is over are released. The same call again changes
-- nothing more.
create function hold_credits(wanted credit_holds, lease interval, out short_of text, out left_over bigint)
language plpgsql as $$
declare
  more bigint;
begin
  -- A model call waits for this, and nothing is lost where a crash of the database takes the last holds away: what was used
  -- is written all the same.
  perform set_config('synchronous_commit', 'off', true);
  perform 1 from accounts where id = wanted.account_id for no key update;
  wanted.leased_until := clock_timestamp() + lease;
  update credit_holds set leased_until = wanted.leased_until where id = wanted.id
    returning wanted.amount - amount into more;
  more := coalesce(more, wanted.amount);
  loop
    -- Nulls, where there is no limit, are left out of account by `least`.
    select case
        when account.balance - account.held < more then 'balance'
        when spent_this_month(account) + account.held + more > account.monthly_limit then 'monthly_limit'
        when key.spent + key.held + more > key.credit_limit then 'key_limit'
      end,
      least(
        account.balance - account.held,
        account.monthly_limit - spent_this_month(account) - account.held,
        key.credit_limit - key.spent - key.held
      ) - more
      into short_of, left_over
      from accounts account left join api_keys key on key.id = wanted.key_id
      where account.id = wanted.account_id;
    exit when short_of is null or not release_holds(wanted.account_id, null);
  end loop;
  if short_of is not null then
    return;
  end if;
  update accounts set held = held + more where id = wanted.account_id;
  update api_keys set held = held + more where id = wanted.key_id;
  insert into credit_holds select wanted.* on conflict (id) do update set amount = excluded.amount;
end $$;

-- Releases the hold and writes what was used instead, where that is anything. A hold that is gone changes nothing in
-- that: it was used. Two transactions: the first does not wait for the disk, so that the account is locked for a moment
-- only; the second is empty but for a message that nobody decodes, and when it is on the disk the first is.
create procedure settle_credits(used credit_entries) language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  perform release_holds(used.account_id, used.reference::uuid);
  if used.amount < 0 then
    perform write_credit_entry(used);
    commit;
    perform pg_logical_emit_message(true, 'berth', '');
  end if;
end $$;
