-- Lists of one verdict read only what they show, in each agent's log.
create index network_log_allowed on network_log (agent_id, started_at, id) where reason is null;
create index network_log_refused on network_log (agent_id, started_at, id) where reason is not null;
