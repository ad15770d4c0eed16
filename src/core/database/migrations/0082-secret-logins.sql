-- Sign-ins to MCP servers, as secrets of workspaces. Such a secret has no value: its token is the login's.
alter table workspace_secrets alter column value drop not null;

create table secret_logins (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null,
  name text not null,
  -- The MCP server's address.
  url text not null,
  -- The client that a person has set, encrypted; null: the server registers itself.
  client bytea,
  -- The attempt that a person is to finish, encrypted.
  attempt bytea,
  -- Of that attempt: the end of an earlier one changes nothing.
  attempt_id uuid,
  -- SHA-256 of the state that the browser comes back with. Null: it has come back.
  state_hash bytea unique,
  attempt_ends_at timestamptz,
  -- The beginner of the attempt, who alone finishes it.
  begun_by_person uuid,
  begun_by_key uuid,
  -- SHA-256 of the code that confirms an attempt which came back in another browser, and how often a wrong one was sent.
  code_hash bytea,
  wrong_codes integer not null default 0,
  -- Encrypted.
  tokens bytea,
  -- Increases with each change of the tokens.
  version bigint not null default 0,
  scopes jsonb not null default '[]',
  connected_at timestamptz,
  expires_at timestamptz,
  -- A server is refreshing the tokens; later, it has died.
  refreshing_until timestamptz,
  -- Why the login, or the last attempt, failed.
  reason text,
  unique (account_id, name),
  foreign key (account_id, name) references workspace_secrets on delete cascade
);

create function tell_secret_login() returns trigger language plpgsql as $$
begin
  perform add_workspace_event(new.account_id, jsonb_build_object(
    'type', case when new.tokens is null then 'secret.login_failed' else 'secret.login_connected' end,
    'secret', new.name, 'url', new.url)
    || case when new.tokens is null then jsonb_build_object('reason', new.reason) else '{}' end);
  return null;
end $$;
create trigger secret_logins_connected after update on secret_logins
  for each row when (new.tokens is not null and new.connected_at is distinct from old.connected_at)
  execute function tell_secret_login();
create trigger secret_logins_failed after update on secret_logins
  for each row when (new.tokens is null and new.reason is not null and new.reason is distinct from old.reason)
  execute function tell_secret_login();

create trigger secret_login_events_queued after insert on account_events
  for each row when (new.event ->> 'type' = 'secret.login_failed') execute function queue_provider_login();
