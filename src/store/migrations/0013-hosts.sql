-- What the service wants of an agent is called its desired state.
alter table agents rename column wanted to desired;
