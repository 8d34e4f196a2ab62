-- The time zone of an account.
create or replace function accounts.timezone_of(account uuid) returns text language sql stable as $$
  select timezone from accounts.accounts where id = account
$$;
