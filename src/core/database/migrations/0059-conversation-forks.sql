-- The turn from which a conversation continues, and the replay with which it began: the messages and replies up to that turn.
alter table conversations add column forked_from uuid references turns on delete set null;
alter table conversations add column beginning uuid references retold_conversations (id);
create index conversations_of_turns on conversations (forked_from) where forked_from is not null;
create index conversations_of_beginnings on conversations (beginning) where beginning is not null;
