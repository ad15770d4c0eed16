-- A subscription of one person, who alone sees it, and whose private agents use it. It goes with their membership.
alter table providers
  add column owner_id uuid,
  add foreign key (owner_id, account_id) references memberships (person_id, account_id) on delete cascade,
  drop constraint providers_account_id_name_key,
  add unique nulls not distinct (account_id, owner_id, name);
create index providers_by_owner on providers (owner_id, account_id) where owner_id is not null;

-- As in migration 71, with the owner, to whom alone the event is shown.
create or replace function tell_provider() returns trigger language plpgsql as $$
declare
  provider providers := coalesce(new, old);
begin
  -- A workspace's deletion deletes its providers, too.
  if tg_op = 'DELETE' and not exists (select from accounts where id = old.account_id) then
    return null;
  end if;
  perform add_account_event(provider.account_id, jsonb_strip_nulls(jsonb_build_object(
    'type', 'provider.' || case tg_op when 'INSERT' then 'created' when 'UPDATE' then 'changed' else 'deleted' end,
    'provider', provider.name, 'kind', provider.kind, 'ownerId', provider.owner_id)));
  return null;
end $$;

-- As in migration 77, with the owner.
create or replace function tell_provider_login() returns trigger language plpgsql as $$
declare
  provider providers;
begin
  select * into provider from providers where id = new.provider_id;
  perform add_account_event(provider.account_id, jsonb_strip_nulls(jsonb_build_object(
    'type', 'provider.login_' || case new.status when 'pending' then 'started' else new.status end,
    'provider', provider.name, 'kind', provider.kind, 'ownerId', provider.owner_id))
    || case new.status when 'failed' then jsonb_build_object('reason', new.reason) else '{}' end);
  return null;
end $$;

-- A person's own are reported to no webhook.
drop trigger provider_logins_queued on account_events;
create trigger provider_logins_queued after insert on account_events
  for each row when (new.event ->> 'type' = 'provider.login_failed' and new.event -> 'ownerId' is null)
  execute function queue_provider_login();
