-- The schema of the output that a turn has to end with. The output is in the turn's last event.
alter table turns add column output_schema jsonb;
