-- An agent's conversations. Their numbers are in its turns.
create table conversations (
  agent_id uuid not null references agents on delete cascade,
  number integer not null,
  -- The beginning of its first message, or what a person chose; null: it has no message.
  title text,
  -- The runtime that has its session; null: none. Another one gets a replay.
  runtime text,
  -- The replay of what was said before the session; null: none. For the current conversation, the agent's row has it too.
  retold uuid,
  key_id uuid,
  person_id uuid,
  -- The request that created it, which a client may repeat; null: it is not repeated.
  request_id uuid,
  created_at timestamptz not null default now(),
  -- When its last turn began; null: none has.
  last_turn_at timestamptz,
  primary key (agent_id, number)
);
create index conversations_by_activity
  on conversations (agent_id, (coalesce(last_turn_at, created_at)) desc, number desc);

-- The highest number that was ever used: a new conversation does not get a deleted one's, which the machine may know.
alter table agents add column last_conversation integer not null default 1;
update agents set last_conversation = greatest(
  conversation,
  (select max(conversation) from turns where agent_id = agents.id),
  (select max(conversation) from snapshots where agent_id = agents.id));

-- Whether a queued turn is for its conversation, whatever the current one is when it begins.
alter table turns add column names_conversation boolean not null default false;
create index turns_of_conversations on turns (agent_id, conversation, created_at desc, id desc);

-- Rows for the conversations of an agent's turns.
create function add_conversations_of_turns(agent uuid) returns void language sql as $$
  insert into conversations (agent_id, number, title, created_at, last_turn_at)
  select agent, turns.conversation,
    (array_agg(left(split_part(ltrim(message, E' \t\r\n'), E'\n', 1), 60) order by created_at))[1],
    min(created_at), max(created_at)
  from turns where agent_id = agent and status <> 'queued'
  group by turns.conversation order by max(created_at) desc limit 1000
  on conflict (agent_id, number) do update
    set title = coalesce(conversations.title, excluded.title), last_turn_at = excluded.last_turn_at
$$;

-- The current conversation has a row, whatever changes the agent.
create function number_conversation() returns trigger language plpgsql as $$
begin
  new.last_conversation := greatest(new.last_conversation, new.conversation);
  return new;
end $$;
create trigger conversations_numbered before insert or update of conversation on agents
  for each row execute function number_conversation();

create function keep_conversation() returns trigger language plpgsql as $$
begin
  insert into conversations (agent_id, number, runtime, retold) values (new.id, new.conversation, new.runtime, new.retold)
  on conflict (agent_id, number) do update set retold = excluded.retold
    where conversations.retold is distinct from excluded.retold;
  return null;
end $$;
create trigger conversations_kept after insert or update of conversation, retold on agents
  for each row execute function keep_conversation();

insert into conversations (agent_id, number, runtime, retold, created_at)
  select id, conversation, runtime, retold, created_at from agents;
select add_conversations_of_turns(id) from agents;

-- An agent's first conversation is announced with the agent.
create function tell_conversation() returns trigger language plpgsql as $$
declare
  conversation conversations := case tg_op when 'DELETE' then old else new end;
begin
  perform add_account_event(account_id, jsonb_build_object(
    'type', case tg_op when 'INSERT' then 'conversation.created' when 'UPDATE' then 'conversation.changed'
      else 'conversation.deleted' end,
    'agent', name, 'conversation', conversation.number)
    || case tg_op when 'DELETE' then '{}' else jsonb_build_object('title', conversation.title) end)
  from agents where id = conversation.agent_id;
  return null;
end $$;
create trigger conversations_created_told after insert on conversations
  for each row when (new.number > 1) execute function tell_conversation();
create trigger conversations_titled_told after update of title on conversations
  for each row when (old.title is distinct from new.title) execute function tell_conversation();
create trigger conversations_deleted_told after delete on conversations
  for each row execute function tell_conversation();
