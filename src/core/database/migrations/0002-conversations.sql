-- Rises with each reset of the conversation; the guest begins an empty one when it sees another number.
alter table agents add column conversation integer not null default 1;

alter table turns
  add column conversation integer not null default 1,
  -- The model that was asked; null leaves it to the runtime.
  add column model text,
  add column usage jsonb not null
    default '{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "reasoning": 0, "microCredits": 0}';
alter table turns alter column usage drop default;
