-- SQL of the customers of an account that fit a condition; `$1` to `$3` are the tenant. An end such as `limit 1000` or `offset 0` has them
-- read before others are asked about them.
create or replace function customers.segment_people(p_condition text, p_end text) returns text language sql immutable as $$
  select format('(select * from customers.customers c where c.bucket = $1 and c.account_id = $2 and c.environment = $3
    and c.merged_into is null and c.erased_at is null and %s %s)', p_condition, p_end)
$$;
