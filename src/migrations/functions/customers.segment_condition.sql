-- SQL of being in a segment, over a row `c` of customers.customers: by its filter, or by its list. `$1` to `$3` are the tenant, `$4` the
-- time.
create or replace function customers.segment_condition(p_filter jsonb, p_segment uuid) returns text language sql immutable as $$
  select case when p_filter is not null then customers.condition(p_filter) else format(
    'exists (select from customers.segment_members m where m.bucket = c.bucket and m.account_id = c.account_id
       and m.environment = c.environment and m.segment_id = %L and m.customer_id = c.id)', p_segment) end
$$;
