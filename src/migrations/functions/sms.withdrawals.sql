-- Numbers that opted out of texts of an account, of all senders or of one. A door for segments; planned as a part of the query
-- that asks.
create or replace function sms.withdrawals(p_bucket smallint, p_account uuid, p_environment text)
  returns table (address text, at timestamptz) language sql stable as $$
  select o.phone, o.created_at from sms.opt_outs o where o.bucket = p_bucket and o.account_id = p_account and o.environment = p_environment
$$;
