-- The egress policy decides whether a refused host is settled (`AgentEgress.settleHosts`).
drop trigger network_rules_hosts_settled on network_rules;
drop function settle_hosts, is_in_rules;
create index inbox_items_blocked on inbox_items (agent_id) where kind = 'blocked';
