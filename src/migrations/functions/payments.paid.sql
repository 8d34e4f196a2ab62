-- Payments that an account got from numbers. A door for segments; planned as a part of the query that asks.
create or replace function payments.paid(p_bucket smallint, p_account uuid, p_environment text)
  returns table (address text, amount bigint, currency text, at timestamptz) language sql stable as $$
  select p.phone, p.amount - p.refunded, p.currency::text, p.completed_at from payments.payments p
   where p.bucket = p_bucket and p.account_id = p_account and p.environment = p_environment
     and p.phone is not null and p.completed_at is not null
$$;
