-- How far an account's clock was moved, for whoever is about to make something wait by it: nobody moves the clock before the
-- transaction ends, so that what it makes wait is found by whoever moves it next. Beside home there is only a copy of the clock,
-- which cannot be held: what is made to wait in the moment of a move may be found late by it.
create or replace function accounts.hold_clock(account uuid, environment text) returns bigint language plpgsql as $$
declare
  found bigint;
begin
  if environment <> 'test' then return 0; end if;
  if platform.is_beside_home() then return accounts.clock_offset_ms(account, environment); end if;
  insert into accounts.sandbox_clocks (account_id) values (account) on conflict do nothing;
  select c.offset_ms into found from accounts.sandbox_clocks c where c.account_id = account for share;
  return found;
end $$;
