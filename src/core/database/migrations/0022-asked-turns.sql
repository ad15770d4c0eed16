-- The account's agents that an agent may ask as tools of its own, by name.
alter table agents add column agents jsonb not null default '[]';

-- A turn that another agent's turn asked for. `asked_by`: that turn; `first_turn`: the one that a client began and that
-- all came of; `depth`: 1 where a client's own turn asked. Null for turns of clients.
alter table turns add column asked_by uuid;
alter table turns add column first_turn uuid;
alter table turns add column depth smallint;
create index turns_first_turn on turns (first_turn) where first_turn is not null;
