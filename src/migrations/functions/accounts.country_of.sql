-- Where an account is at home: what its customers write in national form is read by that, if nothing else tells.
create or replace function accounts.country_of(account uuid) returns text language sql stable as $$
  select country from accounts.accounts where id = account
$$;
