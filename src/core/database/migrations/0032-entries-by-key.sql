-- The clean-up asks for each old key whether the ledger names it.
create index credit_entries_by_key on credit_entries (key_id) where key_id is not null;
