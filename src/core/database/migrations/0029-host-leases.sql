-- Which server leads each host's agents. Times are the database's.
create table host_leases (
  host text primary key,
  -- A random id of the process.
  server text not null,
  -- Where the other servers reach it.
  url text not null,
  -- Rises with each take-over.
  epoch bigint not null default 1,
  renewed_at timestamptz not null default now(),
  -- '-infinity': given back.
  expires_at timestamptz not null
);

-- One-time tickets, so that any server takes what another has given.
create table tickets (
  hash text primary key,
  admission jsonb not null,
  expires_at timestamptz not null
);
