-- Whether an account is suspended.
create or replace function accounts.is_suspended(account uuid) returns boolean language sql stable as $$
  select status = 'suspended' from accounts.accounts where id = account
$$;
