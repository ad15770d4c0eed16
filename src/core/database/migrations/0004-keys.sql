alter table accounts
  -- Of those who look after the installation.
  add column operator boolean not null default false,
  -- Who signs in for it: the `iss` and `sub` of their tokens.
  add column issuer text,
  add column subject text,
  add column disabled_at timestamptz,
  add constraint accounts_identity unique (issuer, subject);
update accounts set operator = true where name = 'operator';
create unique index one_operator on accounts (operator) where operator;

alter table api_keys
  add column kind text not null default 'full' check (kind in ('full', 'agent')),
  -- In micro-credits, for the turns that were begun with this key.
  add column credit_limit bigint check (credit_limit >= 0),
  add column last_used_at timestamptz;
alter table api_keys alter column kind drop default;
create index api_keys_by_account on api_keys (account_id, created_at, id);

-- The agents that a key of the kind `agent` is for. By id: a new agent of an old name is not opened by an old key.
create table key_agents (
  key_id uuid references api_keys on delete cascade,
  agent_id uuid references agents on delete cascade,
  primary key (key_id, agent_id)
);
create index key_agents_by_agent on key_agents (agent_id);

-- The key with which a turn was begun.
alter table turns add column key_id uuid references api_keys on delete set null;
create index turns_by_key on turns (key_id) where key_id is not null;
