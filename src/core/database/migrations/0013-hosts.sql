-- An agent's machine is in the data folder of one host. Only the server of that host may start it.
alter table agents
  add column host text,
  add column has_machine boolean not null default false;
-- What has answered a message has had a machine.
update agents set has_machine = status in ('ready', 'suspended') or exists (select from turns where agent_id = agents.id);
create index agents_host on agents (host);

-- What the service wants of an agent is called its desired state.
alter table agents rename column wanted to desired;
