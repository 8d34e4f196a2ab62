-- work.claim for one lane that is shared out: of each account that waits an equal part, however long one of them has waited
-- or however much of it there is. Accounts are looked up one after the other in the index, from `since` on, at most a
-- thousand; passed_over have as much as they may.
create or replace function work.claim_in_turn(node uuid, buckets smallint[], lane_name text, most int, lease_seconds int,
                                              since uuid, passed_over uuid[])
  returns setof work.jobs language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
  set enable_hashjoin = off set enable_mergejoin = off set enable_memoize = off as $$
declare
  waiting uuid[];
begin
  with recursive accounts as (
    (select w.account_id as id from work.jobs w
      where w.lane = lane_name and w.lane like '%@%' and w.account_id > since order by w.account_id limit 1)
    union all
    select (select w.account_id from work.jobs w
             where w.lane = lane_name and w.lane like '%@%' and w.account_id > a.id order by w.account_id limit 1)
      from accounts a where a.id is not null)
  select array_agg(a.id) into waiting
    from (select f.id from accounts f where f.id is not null limit 1000) a
   where a.id <> all(passed_over)
     and now() >= (select w.run_at from work.jobs w
                    where w.lane = lane_name and w.lane like '%@%' and w.account_id = a.id order by w.run_at limit 1);
  if waiting is null then return; end if;
  return query
    update work.jobs j
       set run_at = now() + lease_seconds * interval '1 second', owner = node, attempt = j.attempt + 1
      from (select d.place from unnest(waiting) as a(id)
             cross join lateral (
               select w.ctid as place from work.jobs w
                where w.lane = lane_name and w.lane like '%@%' and w.account_id = a.id and w.run_at <= now()
                  and w.bucket = any(buckets)
                order by w.run_at limit greatest(1, most / cardinality(waiting)) for update skip locked) d
             limit most) due
     where j.ctid = due.place
    returning j.*;
end $$;
