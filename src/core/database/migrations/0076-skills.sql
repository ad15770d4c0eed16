-- Skills of workspaces, which several of their agents can have.
create table skills (
  account_id uuid not null references accounts on delete cascade,
  name text not null,
  description text not null,
  license text,
  compatibility text,
  metadata jsonb not null,
  allowed_tools jsonb not null,
  -- The files that it may run.
  programs jsonb not null,
  -- Path, size and mode of each file, in the order of their bytes in `content`.
  files jsonb not null,
  content bytea not null,
  size integer not null,
  -- Of paths, modes and content.
  hash text not null,
  source jsonb not null,
  -- Whether all agents have it, also later ones; otherwise those of skill_agents.
  all_agents boolean not null,
  person_id uuid,
  key_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, name)
);

create table skill_agents (
  account_id uuid not null,
  name text not null,
  agent_id uuid not null references agents on delete cascade,
  primary key (account_id, name, agent_id),
  foreign key (account_id, name) references skills on delete cascade
);
create index skill_agents_by_agent on skill_agents (agent_id);

create function tell_skill_event() returns trigger language plpgsql as $$
declare
  skill skills := case tg_op when 'DELETE' then old else new end;
begin
  perform add_workspace_event(skill.account_id, jsonb_build_object(
    'type', case tg_op when 'INSERT' then 'skill.created' when 'UPDATE' then 'skill.changed' else 'skill.deleted' end,
    'skill', skill.name));
  return null;
end $$;
create trigger skills_told after insert or update or delete on skills
  for each row execute function tell_skill_event();

create function queue_skill_event() returns trigger language plpgsql as $$
begin
  if exists (select from webhooks where account_id = new.account_id and turn_id is null and not disabled) then
    perform queue_webhook_event(new.account_id, null, new.event ->> 'type',
      jsonb_build_object('skill', new.event -> 'skill'));
  end if;
  return null;
end $$;
create trigger skill_events_queued after insert on account_events
  for each row when (new.event ->> 'type' in ('skill.created', 'skill.changed', 'skill.deleted'))
  execute function queue_skill_event();
