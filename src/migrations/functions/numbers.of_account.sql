-- The numbers of an account that are capable of something.
create or replace function numbers.of_account(account uuid, env text, what text) returns text[] language sql stable as $$
  select coalesce(array_agg(o.number), '{}') from numbers.owned o
   where o.account_id = account and o.environment = env and o.capability = what
$$;
