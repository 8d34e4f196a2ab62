-- How far an account's clock was moved, for whoever is about to make something wait by it: nobody moves the clock before the
-- transaction ends, so that what it makes wait is found by whoever moves it next.
create or replace function accounts.hold_clock(account uuid, environment text) returns bigint language plpgsql as $$
declare
  found bigint;
begin
  if environment <> 'test' then return 0; end if;
  insert into accounts.sandbox_clocks (account_id) values (account) on conflict do nothing;
  select c.offset_ms into found from accounts.sandbox_clocks c where c.account_id = account for share;
  return found;
end $$;
