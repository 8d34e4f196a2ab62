create function accounts.country_of(account uuid) returns text language sql stable as $$
  select country from accounts.accounts where id = account
$$;
