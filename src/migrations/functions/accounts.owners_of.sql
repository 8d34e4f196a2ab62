-- The addresses of an account's owners.
create or replace function accounts.owners_of(account uuid) returns setof text language sql stable as $$
  select email from accounts.members where account_id = account and role = 'owner' order by id limit 10
$$;
