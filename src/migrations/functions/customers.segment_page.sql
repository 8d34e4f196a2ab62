-- Ids of customers of a segment, in their order, after one. The next ones are looked at first, which are enough for most segments; for a
-- rare one all are found by what the areas and the indexes know, and then ordered.
create or replace function customers.segment_page(p_bucket smallint, p_account uuid, p_environment text, p_filter jsonb, p_segment uuid,
  p_at timestamptz, p_after uuid, p_descending boolean, p_most int) returns setof uuid language plpgsql stable as $$
declare
  met     text := customers.segment_condition(p_filter, p_segment);
  place   text := format('($5 is null or c.id %s $5)', case when p_descending then '<' else '>' end);
  sorted  text := case when p_descending then 'desc' else 'asc' end;
  found   uuid[];
  few     uuid[];
  looked  int;
  ahead   int;
begin
  foreach ahead in array array[greatest(1000, 2 * p_most), greatest(20000, 20 * p_most)] loop
    execute format('select array_agg(c.id order by c.id %s) filter (where %s), count(*) from %s c', sorted, met,
        customers.segment_people(place, format('order by c.id %s limit %s', sorted, ahead)))
      into found, looked using p_bucket, p_account, p_environment, p_at, p_after;
    if cardinality(found) >= p_most or looked < ahead then return query select unnest(found[:p_most]); return; end if;
  end loop;
  few := customers.few(p_bucket, p_account, p_environment, p_filter, p_segment, p_at, 25000);
  return query execute format('select f.id from (select c.id from %s c where %s offset 0) f order by f.id %s limit %s',
      customers.segment_people(place || case when few is null then '' else ' and c.id = any($6)' end,
        case when few is null then '' else 'offset 0' end), met, sorted, p_most)
    using p_bucket, p_account, p_environment, p_at, p_after, few;
end $$;
