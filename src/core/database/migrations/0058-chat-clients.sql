-- Conversations of OpenAI's Conversations API. They are made without an agent: the first response in one binds it.
create table openai_conversations (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  key_id uuid,
  person_id uuid,
  metadata jsonb not null,
  -- Messages from before the first response, each with its id. The agent's conversation has a replay of them.
  items jsonb not null,
  -- Both null: no response yet.
  agent_id uuid,
  conversation integer,
  created_at timestamptz not null default now(),
  used_at timestamptz not null default now(),
  foreign key (agent_id, conversation) references conversations on delete cascade,
  check ((agent_id is null) = (conversation is null))
);
create unique index openai_conversations_bound on openai_conversations (agent_id, conversation);
create index openai_conversations_unbound on openai_conversations (account_id, used_at) where agent_id is null;

-- Conversations of chat front ends, which send a chat's id and its complete history with each message.
create table client_chats (
  agent_id uuid not null,
  conversation integer not null,
  key_id uuid,
  person_id uuid,
  -- The front end's id; null: a task such as a title, which nothing continues.
  chat text,
  -- The number of the user's messages in the conversation, and a hash of them.
  depth integer not null,
  digest bytea not null,
  used_at timestamptz not null default now(),
  primary key (agent_id, conversation),
  foreign key (agent_id, conversation) references conversations on delete cascade
);
create index client_chats_by_chat on client_chats (agent_id, chat, depth);

-- The author of a message that reached a running turn, by the id of its request.
alter table machine_authors drop constraint machine_authors_kind_check;
alter table machine_authors add constraint machine_authors_kind_check check (kind in ('command', 'file', 'message'));
