-- Certificates that the service orders by ACME (RFC 8555). All servers of a database use the same ones.
create table acme_accounts (
  directory text primary key,
  -- The account's private key, sealed.
  key bytea not null,
  -- The account at the directory, and the address that it has; null: not registered, no address.
  url text,
  email text
);

create table acme_certificates (
  directory text not null,
  name text not null,
  -- The chain and the private key, sealed; null: none was issued.
  pair bytea,
  -- Failed orders since the last certificate, and why the last one failed.
  failures integer not null default 0,
  error text,
  next_order_at timestamptz,
  -- Whether the directory set that time.
  limited boolean not null default false,
  -- The server that orders now.
  lease uuid,
  leased_until timestamptz,
  primary key (directory, name)
);

-- What the directory reads to see that a name leads here. Any server may be asked.
create table acme_challenges (
  token text primary key,
  name text not null,
  type text not null check (type in ('http-01', 'tls-alpn-01')),
  key_authorization text not null,
  expires_at timestamptz not null
);
