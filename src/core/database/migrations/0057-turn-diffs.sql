-- The diffs of the files that a turn changed, in the order of the files in its last event.
create table turn_diffs (
  turn_id uuid primary key references turns on delete cascade,
  diffs jsonb not null
);
