-- The secret of the provider's workspace that is its key; null: it has credentials of its own, or none.
alter table providers add column secret text;
