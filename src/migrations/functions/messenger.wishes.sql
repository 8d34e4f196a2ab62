-- Users of the messenger who opted in or out at an account. A door for segments; planned as a part of the query that asks.
create or replace function messenger.wishes(p_bucket smallint, p_account uuid, p_environment text)
  returns table (address text, granted boolean) language sql stable as $$
  select c.phone, c.opted_out_at is null from messenger.contacts c
   where c.bucket = p_bucket and c.account_id = p_account and c.environment = p_environment
     and (c.opted_out_at is not null or c.opted_in_at is not null)
$$;
