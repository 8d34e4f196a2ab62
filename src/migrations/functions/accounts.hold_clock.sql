-- How far an account's clock was moved, for whoever is about to make something wait by it: nobody moves the clock before the
-- transaction ends, so that what it makes wait is found by whoever moves it next. Beside home there is only a copy of the clock,
-- which cannot be held; there it is a row of the account's own, which whoever moves the clock writes too.
create or replace function accounts.hold_clock(account uuid, environment text) returns bigint language plpgsql as $$
declare
  found bigint;
  own   smallint := get_byte(uuid_send(account), 15);
begin
  if environment <> 'test' then return 0; end if;
  if platform.is_beside_home() then
    insert into accounts.held_clocks (bucket, account_id, offset_ms)
    values (own, account, accounts.clock_offset_ms(account, environment)) on conflict do nothing;
    select c.offset_ms into found from accounts.held_clocks c where c.bucket = own and c.account_id = account for share;
    return found;
  end if;
  insert into accounts.sandbox_clocks (account_id) values (account) on conflict do nothing;
  select c.offset_ms into found from accounts.sandbox_clocks c where c.account_id = account for share;
  return found;
end $$;
