-- The few agents of a host that something is to be done with, which the server looks for each minute.
create index agents_importing on agents (host) where importing;
create index agents_unsettled on agents (host) where desired = 'deleted'
  or desired = 'running' and status in ('provisioning', 'suspended')
  or desired = 'suspended' and status in ('provisioning', 'ready');
