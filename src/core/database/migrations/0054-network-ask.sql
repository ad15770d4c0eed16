-- Whether a person is asked about destinations that are on neither of the agent's lists.
alter table network_rules add column ask boolean not null default false;
