-- The image whose runtimes the agent's machine runs; null until its machine is known to.
alter table agents add column image text;
