-- Where an import comes from, and what its owner is told of it. `importing`: its machine has not got its files yet, which
-- are in the data folder of its host.
alter table agents add column imported jsonb;
alter table agents add column importing boolean not null default false;

-- Turns of an import are over when they come: nobody is told of them one by one.
drop trigger turns_begun_told on turns;
create trigger turns_begun_told after insert on turns for each row
  when (new.status = 'running') execute function tell_turn_event();
