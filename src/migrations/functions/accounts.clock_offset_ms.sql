-- How far a test account has moved its own clock.
create or replace function accounts.clock_offset_ms(account uuid, environment text) returns bigint language sql stable as $$
  select coalesce((select offset_ms from accounts.sandbox_clocks where account_id = account and environment = 'test'), 0)
$$;
