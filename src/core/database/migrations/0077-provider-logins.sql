-- Logins of subscriptions. A Claude subscription, whose token is its provider's credential, has a row only while that is refused.
create table provider_logins (
  provider_id uuid primary key references providers on delete cascade,
  -- The login that a person is to finish, encrypted.
  device bytea,
  -- Of that login: the end of an earlier one changes nothing.
  device_id uuid,
  poll_at timestamptz,
  expires_at timestamptz,
  -- Encrypted.
  tokens bytea,
  -- Increases with each change of the tokens.
  version bigint not null default 0,
  -- What people see of the account.
  account text,
  refresh_at timestamptz,
  -- A server is refreshing the tokens; later, it has died.
  refreshing_until timestamptz,
  -- Why it failed.
  reason text,
  status text not null generated always as (
    case when device is not null then 'pending' when tokens is not null then 'connected' else 'failed' end) stored
);
create index provider_logins_polled on provider_logins (poll_at) where device is not null;
create index provider_logins_refreshed on provider_logins (refresh_at) where tokens is not null;

create function tell_provider_login() returns trigger language plpgsql as $$
declare
  provider providers;
begin
  select * into provider from providers where id = new.provider_id;
  perform add_account_event(provider.account_id, jsonb_build_object(
    'type', 'provider.login_' || case new.status when 'pending' then 'started' else new.status end,
    'provider', provider.name, 'kind', provider.kind)
    || case new.status when 'failed' then jsonb_build_object('reason', new.reason) else '{}' end);
  return null;
end $$;
create trigger provider_logins_begun_told after insert on provider_logins
  for each row execute function tell_provider_login();
create trigger provider_logins_told after update on provider_logins
  for each row when (old.status <> new.status or old.device_id <> new.device_id) execute function tell_provider_login();

create function queue_provider_login() returns trigger language plpgsql as $$
begin
  if exists (select from webhooks where account_id = new.account_id and turn_id is null and not disabled) then
    perform queue_webhook_event(new.account_id, null, new.event ->> 'type', new.event - 'type');
  end if;
  return null;
end $$;
create trigger provider_logins_queued after insert on account_events
  for each row when (new.event ->> 'type' = 'provider.login_failed') execute function queue_provider_login();
