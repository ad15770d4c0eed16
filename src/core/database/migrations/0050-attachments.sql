-- Images and files for messages to agents.
create table uploads (
  id uuid primary key,
  agent_id uuid not null references agents on delete cascade,
  key_id uuid,
  person_id uuid,
  name text not null,
  media_type text not null,
  size bigint not null default 0,
  -- Null: it is being received.
  sha256 bytea,
  -- Whether a turn has used it. Its machine has a copy then.
  used boolean not null default false,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index uploads_of_agents on uploads (agent_id, created_at desc, id desc);
create index expiring_uploads on uploads (expires_at);

create table upload_chunks (
  upload_id uuid not null references uploads on delete cascade,
  number integer not null,
  bytes bytea not null,
  primary key (upload_id, number)
);
-- Images and archives are compressed already.
alter table upload_chunks alter column bytes set storage external;

-- The images and files of the message: id, kind, name, mediaType, size.
alter table turns add column attachments jsonb not null default '[]';
