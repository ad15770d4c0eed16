-- When a key that was replaced stops counting; null: not replaced yet.
alter table provider_keys add column retires_at timestamptz;
