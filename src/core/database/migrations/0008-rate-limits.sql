-- How often each key, account or address has asked within its window; the columns are those that rate-limiter-flexible
-- uses. Unlogged: after a crash of the database everybody begins anew, and no request waits for the disk.
create unlogged table rate_limits (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);
