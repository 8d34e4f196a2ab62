-- SQL of the customers of a segment: of a filter, or of a list. `$1` to `$3` are the tenant, `$4` the time.
create or replace function customers.segment_where(p_filter jsonb, p_segment uuid) returns text language sql immutable as $$
  select 'from customers.customers c where c.bucket = $1 and c.account_id = $2 and c.environment = $3 and c.merged_into is null
    and c.erased_at is null and '
    || case when p_filter is not null then customers.condition(p_filter) else format(
      'exists (select from customers.segment_members m where m.bucket = c.bucket and m.account_id = c.account_id
         and m.environment = c.environment and m.segment_id = %L and m.customer_id = c.id)', p_segment) end
$$;
