-- The plan of an account.
create or replace function accounts.plan_of(account uuid) returns text language sql stable as $$
  select plan from accounts.accounts where id = account
$$;
