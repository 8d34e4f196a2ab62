-- Addresses that get no bulk mail of an account at a time. A door for segments; planned as a part of the query that asks.
create or replace function email.withdrawals(p_bucket smallint, p_account uuid, p_environment text, p_at timestamptz)
  returns table (address text, at timestamptz) language sql stable as $$
  select s.email, s.created_at from email.suppressions s
   where s.bucket = p_bucket and s.account_id = p_account and s.environment = p_environment
     and (s.expires_at is null or s.expires_at > p_at)
$$;
