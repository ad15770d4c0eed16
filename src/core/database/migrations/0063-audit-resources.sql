-- The name or id of what the request was about, within the agent or the account; null: nothing, or it was refused.
alter table audit_entries add column resource text;
