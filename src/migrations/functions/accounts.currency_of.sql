-- The currency of an account.
create or replace function accounts.currency_of(account uuid) returns text language sql stable as $$
  select currency from accounts.accounts where id = account
$$;
