-- The name of an account.
create or replace function accounts.name_of(account uuid) returns text language sql stable as $$
  select name from accounts.accounts where id = account
$$;
