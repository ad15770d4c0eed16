-- Those who sign in at the identity provider that the service has itself.
create table users (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  name text not null,
  -- The name in its one form (NFKC, small letters), so that nobody can be taken for another.
  name_key text not null unique,
  -- Argon2id; null: none is set yet.
  password_hash text,
  disabled_at timestamptz,
  created_at timestamptz not null default now()
);
create index users_by_creation on users (created_at, id);

-- Of the users' accounts: older tokens are refused, as after a new password.
alter table accounts add column tokens_from timestamptz;

-- One-time links with which a password is set; without a user, the one for the first.
create table user_links (
  token_hash bytea primary key,
  user_id uuid references users on delete cascade,
  expires_at timestamptz not null,
  used_at timestamptz
);

-- Sessions, codes, refresh tokens and what else the provider keeps. Their ids are secrets, and stored as their SHA-256.
create table oidc_records (
  model text not null,
  id_hash bytea not null,
  -- json and not jsonb: clients' parameters are kept as they came, null characters too.
  payload json not null,
  account_id text,
  grant_id text,
  uid text,
  user_code_hash bytea,
  consumed_at timestamptz,
  expires_at timestamptz,
  primary key (model, id_hash)
);
create index oidc_records_by_grant on oidc_records (grant_id) where grant_id is not null;
create index oidc_records_by_account on oidc_records (account_id) where account_id is not null;
create index oidc_records_by_uid on oidc_records (uid) where uid is not null;
create unique index oidc_records_by_user_code on oidc_records (user_code_hash) where user_code_hash is not null;
create index oidc_records_by_expiry on oidc_records (expires_at);

-- What the provider signs with: the newest signs, all are trusted.
create table provider_keys (
  id uuid primary key,
  purpose text not null check (purpose in ('tokens', 'cookies')),
  value jsonb not null,
  created_at timestamptz not null default now()
);

-- As rate-limiter-flexible has it.
create table sign_in_attempts (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);
