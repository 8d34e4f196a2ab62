-- Ids of customers of a segment, in their order, after one.
create or replace function customers.segment_page(p_bucket smallint, p_account uuid, p_environment text, p_filter jsonb, p_segment uuid,
  p_at timestamptz, p_after uuid, p_descending boolean, p_most int) returns setof uuid language plpgsql stable as $$
begin
  return query execute format('select c.id %s and ($5 is null or c.id %s $5) order by c.id %s limit %s',
      customers.segment_where(p_filter, p_segment), case when p_descending then '<' else '>' end,
      case when p_descending then 'desc' else 'asc' end, p_most)
    using p_bucket, p_account, p_environment, p_at, p_after;
end $$;
