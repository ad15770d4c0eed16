-- What the owner of an import is told of it once, up to 8 MiB, is out of the column that every look-up of an agent reads.
alter table agents add column import_detail jsonb;
update agents set
  import_detail = imported - 'agent' - 'exportedAt',
  imported = jsonb_build_object('agent', imported -> 'agent', 'exportedAt', imported -> 'exportedAt')
where imported is not null;

-- Agents are read by their state, in pages.
create index agents_by_state on agents (host, status, id);
create index agents_of_account on agents (account_id);
