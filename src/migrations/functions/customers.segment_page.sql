-- Ids of customers of a segment, in their order, after one. The next ones are looked at one by one until there are enough, which soon are
-- for most segments, and some way on where a part of them was found. Of a rare one everybody is found by what the areas know, or else by
-- the indexes.
create or replace function customers.segment_page(p_bucket smallint, p_account uuid, p_environment text, p_filter jsonb, p_segment uuid,
  p_at timestamptz, p_after uuid, p_descending boolean, p_most int) returns setof uuid language plpgsql stable as $$
declare
  met     text := customers.segment_condition(p_filter, p_segment);
  place   text := format('($5 is null or c.id %s $5)', case when p_descending then '<' else '>' end);
  way     text := case when p_descending then 'desc' else 'asc' end;
  sorted  text := format('order by c.id %s', way);
  found   uuid[];
  few     uuid[];
  ahead   int;
  is_over boolean;
begin
  foreach ahead in array array[greatest(2000, 4 * p_most), greatest(20000, 20 * p_most), greatest(200000, 200 * p_most)] loop
    exit when ahead >= 200000 and cardinality(found) * 10 < p_most;
    -- Whether the customers end before is only asked where too few were found.
    execute format('select f.ids, cardinality(f.ids) < %s and not exists (select from %s c)
          from (select array(select c.id from %s c where %s %s limit %1$s) as ids offset 0) f',
        p_most, customers.segment_people(place, format('%s limit 1 offset %s', sorted, ahead - 1)),
        customers.segment_people(place, format('%s limit %s', sorted, ahead)), met, sorted)
      into found, is_over using p_bucket, p_account, p_environment, p_at, p_after;
    if is_over or cardinality(found) = p_most then return query select unnest(found); return; end if;
    if few is null then few := customers.few(p_bucket, p_account, p_environment, p_filter, p_segment, p_at, 25000); end if;
    if few is not null then
      return query execute format('select c.id from (select distinct c.id from unnest($6) c(id) where %s %s) w
          cross join lateral %s c where %s order by w.id %s limit %s',
          place, sorted, customers.segment_people('c.id = w.id', 'limit 1'), met, way, p_most)
        using p_bucket, p_account, p_environment, p_at, p_after, few;
      return;
    end if;
  end loop;
  return query execute format('select f.id from (select c.id from %s c where %s offset 0) f order by f.id %s limit %s',
      customers.segment_people(place, ''), met, way, p_most)
    using p_bucket, p_account, p_environment, p_at, p_after;
end $$;
