-- Events of a workspace's members, invitations and name. A workspace that is being deleted has none.
create function add_workspace_event(workspace uuid, event jsonb) returns void language sql as $$
  select add_account_event(id, event) from accounts where id = workspace and disabled_at is null
$$;

create function tell_member_event() returns trigger language plpgsql as $$
declare
  membership memberships := case tg_op when 'DELETE' then old else new end;
begin
  perform add_workspace_event(membership.account_id, jsonb_build_object(
    'type', case tg_op when 'INSERT' then 'member.joined' when 'UPDATE' then 'member.changed' else 'member.removed' end,
    'personId', id, 'name', name, 'role', membership.role))
  from people where id = membership.person_id;
  return null;
end $$;
create trigger members_told after insert or delete on memberships for each row execute function tell_member_event();
create trigger members_changed_told after update of role on memberships
  for each row when (old.role <> new.role) execute function tell_member_event();

create function tell_invitation_event() returns trigger language plpgsql as $$
begin
  perform add_workspace_event(new.account_id, jsonb_build_object(
    'type', case when tg_op = 'INSERT' then 'invitation.created'
      when new.accepted_at is not null then 'invitation.accepted' else 'invitation.revoked' end,
    'invitationId', new.id, 'role', new.role, 'email', new.email));
  return null;
end $$;
create trigger invitations_created_told after insert on invitations
  for each row execute function tell_invitation_event();
create trigger invitations_ended_told after update of accepted_at, revoked_at on invitations
  for each row when (coalesce(old.accepted_at, old.revoked_at) is null
    and coalesce(new.accepted_at, new.revoked_at) is not null) execute function tell_invitation_event();

create function tell_workspace_name() returns trigger language plpgsql as $$
begin
  perform add_workspace_event(new.id, jsonb_build_object('type', 'workspace.renamed', 'name', new.name));
  return null;
end $$;
create trigger accounts_renamed_told after update of name on accounts
  for each row when (old.name <> new.name) execute function tell_workspace_name();
