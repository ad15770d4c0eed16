-- What the entries of models' use and of machine time sum up to, so that reports do not read the whole ledger.
create table credit_usage (
  account_id uuid not null references accounts,
  -- Of UTC.
  day date not null,
  agent_name text,
  model text,
  key_id uuid,
  amount bigint not null,
  input bigint not null,
  output bigint not null,
  cache_read bigint not null,
  cache_write bigint not null,
  reasoning bigint not null,
  seconds numeric not null,
  constraint credit_usage_once unique nulls not distinct (account_id, day, agent_name, model, key_id)
);

-- What entries use, in the columns of `credit_usage`.
create view entry_usage as
select account_id, at, agent_name, model, key_id, amount,
  coalesce((tokens ->> 'input')::bigint, 0) as input,
  coalesce((tokens ->> 'output')::bigint, 0) as output,
  coalesce((tokens ->> 'cacheRead')::bigint, 0) as cache_read,
  coalesce((tokens ->> 'cacheWrite')::bigint, 0) as cache_write,
  coalesce((tokens ->> 'reasoning')::bigint, 0) as reasoning,
  coalesce(seconds, 0) as seconds,
  number
from credit_entries where kind in ('model', 'machine');

-- Entries that are written meanwhile would be missing.
lock table credit_entries in share row exclusive mode;
insert into credit_usage
select account_id, (at at time zone 'UTC')::date, agent_name, model, key_id, sum(amount), sum(input), sum(output),
  sum(cache_read), sum(cache_write), sum(reasoning), sum(seconds)
from entry_usage group by 1, 2, 3, 4, 5;

create function count_usage() returns trigger language plpgsql as $$
begin
  insert into credit_usage as total
  select account_id, (at at time zone 'UTC')::date, agent_name, model, key_id, amount, input, output, cache_read,
    cache_write, reasoning, seconds
  from entry_usage where account_id = new.account_id and number = new.number
  on conflict on constraint credit_usage_once do update set
    amount = total.amount + excluded.amount,
    input = total.input + excluded.input,
    output = total.output + excluded.output,
    cache_read = total.cache_read + excluded.cache_read,
    cache_write = total.cache_write + excluded.cache_write,
    reasoning = total.reasoning + excluded.reasoning,
    seconds = total.seconds + excluded.seconds;
  return null;
end $$;
create trigger credit_entries_counted after insert on credit_entries for each row
  when (new.kind in ('model', 'machine')) execute function count_usage();
