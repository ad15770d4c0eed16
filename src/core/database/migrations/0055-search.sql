-- Messages and replies of ended turns, for the search. Derived from `turns` and `turn_events`: backups leave them out.
create table search_texts (
  turn_id uuid not null references turns on delete cascade,
  kind text not null check (kind in ('message', 'reply')),
  -- Those of the turn, which never change. The account is in `words`.
  agent_id uuid not null,
  created_at timestamptz not null,
  text text not null,
  -- The text's words and pairs of characters, and the ids of its account and its agent (src/search/words.ts).
  words tsvector not null,
  primary key (turn_id, kind)
);
create index search_texts_by_words on search_texts using gin (words) with (fastupdate = off);
-- For words that many texts have: the newest are found without reading the others.
create index search_texts_newest on search_texts (created_at desc, turn_id desc, kind desc);

-- Ended turns that are not in `search_texts` yet. The newest are stored first.
create table search_queue (
  turn_id uuid primary key references turns on delete cascade,
  number bigint generated always as identity
);
create index search_queue_newest on search_queue (number desc);

create function queue_for_search() returns trigger language plpgsql as $$
begin
  insert into search_queue (turn_id) values (new.id) on conflict do nothing;
  return null;
end $$;
create trigger turns_ended_queued_for_search after insert or update of status on turns
  for each row when (new.status not in ('queued', 'running')) execute function queue_for_search();

insert into search_queue (turn_id)
  select id from turns where status not in ('queued', 'running') order by created_at;
