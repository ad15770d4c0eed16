-- Those who sign in: the `iss` and `sub` of their tokens. Each has a personal workspace.
create table people (
  id uuid primary key,
  issuer text not null,
  subject text not null,
  account_id uuid not null unique references accounts on delete cascade,
  name text not null,
  email text,
  email_verified boolean not null default false,
  -- Of the tz database, such as Europe/Berlin.
  time_zone text,
  disabled_at timestamptz,
  -- Older tokens are refused, as after a new password.
  tokens_from timestamptz,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz,
  constraint people_identity unique (issuer, subject)
);

-- A workspace is an account: it owns agents, keys and credits.
create table memberships (
  person_id uuid not null references people on delete cascade,
  account_id uuid not null references accounts on delete cascade,
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  created_at timestamptz not null default now(),
  primary key (person_id, account_id)
);
create index memberships_by_account on memberships (account_id, created_at, person_id);

insert into people (id, issuer, subject, account_id, name, disabled_at, tokens_from, created_at)
  select gen_random_uuid(), issuer, subject, id, name, disabled_at, tokens_from, created_at
  from accounts where issuer is not null;
insert into memberships (person_id, account_id, role, created_at)
  select id, account_id, 'owner', created_at from people;

alter table accounts
  drop constraint accounts_identity,
  drop column issuer,
  drop column subject,
  drop column tokens_from,
  -- The name in its one form (NFKC, small letters). Null: a personal workspace, whose name need not be unique.
  add column name_key text unique;

-- The signed-in person, null for a key: nobody is given the answer of another person in the workspace.
alter table idempotency_keys add column person_id uuid references people on delete cascade;
update idempotency_keys set person_id = people.id from people
  where people.account_id = idempotency_keys.account_id and idempotency_keys.key_id is null;
alter table idempotency_keys
  drop constraint idempotency_keys_account_id_key_id_key_key,
  add constraint idempotency_keys_by_credential unique nulls not distinct (account_id, key_id, person_id, key);

-- Links with which people join a workspace. Their tokens are secrets, and stored as their SHA-256.
create table invitations (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  token_hash bytea not null unique,
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  -- Only a person with this verified address can accept it; null: anyone.
  email text,
  -- Who made it; null: a key without a maker.
  person_id uuid references people on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  revoked_at timestamptz
);
create index invitations_by_account on invitations (account_id, created_at, id);
create index invitations_by_person on invitations (person_id) where person_id is not null;

alter table api_keys
  -- Who made it; null: the operator's first key, and older keys of the operator. It ends with its maker's membership.
  add column person_id uuid references people on delete cascade,
  add column role text not null default 'owner' check (role in ('owner', 'admin', 'member', 'viewer'));
create index api_keys_by_person on api_keys (person_id) where person_id is not null;
update api_keys set person_id = people.id from people
  where people.account_id = api_keys.account_id
    and not exists (select from accounts where accounts.id = people.account_id and accounts.operator);
