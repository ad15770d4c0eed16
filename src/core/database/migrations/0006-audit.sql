-- What was done with an account and by whom. No reference to keys and agents: an entry outlives what it tells of.
create table audit_entries (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  -- To the millisecond, as it is shown: the pages of the list begin at it.
  at timestamptz not null,
  -- What was shown; null where somebody has just signed in.
  credential text check (credential in ('full', 'agent', 'token')),
  key_id uuid,
  address text not null,
  operation text not null,
  agent_id uuid,
  agent_name text,
  status integer not null,
  code text,
  request_id uuid not null
);
create index audit_entries_by_account on audit_entries (account_id, at, id);
create index audit_entries_by_agent on audit_entries (account_id, agent_name, at, id) where agent_name is not null;
create index audit_entries_by_age on audit_entries (at);
