alter table provider_keys drop constraint provider_keys_purpose_check,
  add constraint provider_keys_purpose_check check (purpose in ('tokens', 'cookies', 'push'));

-- Browsers that show a person's notifications (RFC 8030).
create table push_subscriptions (
  id uuid primary key,
  person_id uuid not null references people on delete cascade,
  -- The push service's address for the browser.
  endpoint text not null,
  -- What messages are encrypted for (RFC 8291), in base64url.
  p256dh text not null,
  auth text not null,
  -- The server's public key that the browser subscribed with: only its owner may send.
  server_key text not null,
  name text,
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  sent_at timestamptz,
  -- Why the last message did not arrive.
  error text,
  unique (person_id, endpoint)
);
