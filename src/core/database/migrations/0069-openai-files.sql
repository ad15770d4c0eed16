-- Files of OpenAI's Files API. They belong to no agent: a message that names one copies it to an upload of its agent.
create table openai_files (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  key_id uuid,
  person_id uuid,
  -- Whether an external agent key has uploaded it, which sees no others.
  is_of_agent_key boolean not null,
  name text not null,
  media_type text not null,
  purpose text not null,
  size bigint not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index openai_files_of_accounts on openai_files (account_id, created_at desc, id desc);
create index expiring_openai_files on openai_files (expires_at);

create table openai_file_chunks (
  file_id uuid not null references openai_files on delete cascade,
  number integer not null,
  bytes bytea not null,
  primary key (file_id, number)
);
-- Images and archives are compressed already.
alter table openai_file_chunks alter column bytes set storage external;
