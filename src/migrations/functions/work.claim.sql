-- Leases up to limits[n] due jobs of lanes[n] to a node. Rows another node is just taking are passed over. The jobs that were
-- locked are changed where they lie: a row that a scan has just found needs no second look into an index, and a plan that
-- begins with the table would have to read it in sequence. A job that was changed between the statement's snapshot and its
-- lock is passed over; the next claim has it.
create or replace function work.claim(node uuid, buckets smallint[], lanes text[], limits int[], lease_seconds int[])
  returns setof work.jobs language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
  set enable_hashjoin = off set enable_mergejoin = off set enable_memoize = off as $$
begin
  return query
    update work.jobs j
       set run_at = now() + due.seconds * interval '1 second', owner = node, attempt = j.attempt + 1
      from (select d.place, l.seconds
              from unnest(lanes, limits, lease_seconds) as l(lane, most, seconds)
             cross join lateral (
               select w.ctid as place from work.jobs w
                where w.lane = l.lane and w.run_at <= now() and w.bucket = any(buckets)
                order by w.run_at limit l.most for update skip locked) d) due
     where j.ctid = due.place
    returning j.*;
end $$;
