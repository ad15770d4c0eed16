-- What a turn's request adds to the agent's instructions, and the functions that its client offers.
alter table turns add column instructions text;
alter table turns add column functions jsonb;

-- Responses of OpenAI's API that can be read again. Each is a stretch of a turn: the events after one of its numbers. The
-- row is written before its turn's, and without it counts as absent.
create table responses (
  id uuid primary key,
  turn_id uuid not null,
  agent_id uuid not null references agents on delete cascade,
  after_seq integer not null,
  previous_id uuid,
  -- What the request said, and the response repeats.
  request jsonb not null,
  input jsonb not null,
  created_at timestamptz not null default now()
);
create index responses_turn_id on responses (turn_id);
create index responses_agent_id on responses (agent_id);

-- MCP servers whose tools an agent has, by name.
alter table agents add column mcp_servers jsonb not null default '{}';
