-- Lists of one kind of an agent's entries read only what they show.
create index credit_entries_by_agent_and_kind on credit_entries (account_id, agent_name, kind, number)
  where agent_name is not null;
