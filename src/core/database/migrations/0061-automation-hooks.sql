-- The secrets of hooks, encrypted. The address of a hook has the automation's id.
create table automation_hooks (
  automation_id uuid primary key references automations on delete cascade,
  secret bytea not null,
  -- The end of the secret, which is shown.
  hint text not null,
  -- The secret before the last rotation, and until when it is valid.
  earlier_secret bytea,
  earlier_until timestamptz,
  -- The request that rotated it last.
  rotated_by uuid
);

-- What senders delivered. Verified ones and others are bounded apart.
create table automation_deliveries (
  id uuid primary key,
  automation_id uuid not null references automations on delete cascade,
  verified boolean not null,
  verdict text not null,
  reason text,
  -- Null: there were no filters, or they were not tried.
  filter jsonb,
  -- The sender's id and event.
  delivery_id text,
  event text,
  -- Without credentials; of verified ones.
  headers jsonb not null,
  -- Up to a bound; null: it was not verified.
  body bytea,
  body_bytes integer not null,
  run_id uuid,
  created_at timestamptz not null default clock_timestamp()
);
create index automation_deliveries_newest on automation_deliveries (automation_id, created_at desc, id desc);

-- The ids of verified deliveries that have a run.
create table automation_delivery_ids (
  automation_id uuid not null references automations on delete cascade,
  delivery_id text not null,
  run_id uuid not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (automation_id, delivery_id)
);
create index automation_delivery_ids_old on automation_delivery_ids (created_at);
