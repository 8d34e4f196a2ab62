-- How jobs are found, whatever was in the table when the plan was made. A queue is empty most of the time, and a plan that a
-- session made then is kept: with nothing in the table it costs nothing to begin with it, read all of it and hold each job
-- against the items, and so the plans did, also with sequential scans forbidden (by reading the primary key from end to end).
-- When jobs came by the thousand, each claim and each settlement read all of them: 1,900 microseconds a job among 5,000,
-- where it takes 50.

-- Work ------------------------------------------------------------------------------------------------------------

-- The jobs that were locked are changed where they lie: a row that a scan has just found needs no second look into an
-- index, and a plan that begins with the table would have to read it in sequence. A job that was changed between the
-- statement's snapshot and its lock is passed over; the next claim has it.
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

-- Keeps the leases of jobs that are still running, fenced by their attempt. One that was settled meanwhile has no owner.
create function work.extend(node uuid, buckets smallint[], ids uuid[], attempts int[], lease_seconds int[]) returns void
  language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  update work.jobs j set run_at = now() + r.seconds * interval '1 second'
    from unnest(buckets, ids, attempts, lease_seconds) as r(bucket, id, attempt, seconds)
   where j.bucket = r.bucket and j.id = r.id and j.attempt = r.attempt and j.owner = node;
end $$;

-- Hands back jobs that a node has not begun, fenced by their attempt: due at once, for whoever polls next.
create function work.hand_back(node uuid, buckets smallint[], ids uuid[], attempts int[]) returns void language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  update work.jobs j set run_at = now(), owner = null
    from unnest(buckets, ids, attempts) as r(bucket, id, attempt)
   where j.bucket = r.bucket and j.id = r.id and j.attempt = r.attempt and j.owner = node;
end $$;

-- Everywhere -------------------------------------------------------------------------------------------------------

-- All functions that look up jobs by their key: the bucket is asked for as one of a list of one. PostgreSQL looks such a
-- thing up in an index as it does an equal one, but sees no order in it that could be of use to a join, and so no reason to
-- consider reading the index from end to end. A test holds this for functions to come.
do $$
declare
  definition text;
begin
  for definition in
    select pg_get_functiondef(p.oid) from pg_proc p join pg_namespace s on s.oid = p.pronamespace
     where s.nspname !~ '^pg_' and p.prokind = 'f' and p.prosrc ~ 'work\.jobs' and p.prosrc ~ '\mj\.bucket = [a-z]+\.bucket'
  loop
    execute regexp_replace(definition, '\mj\.bucket = ([a-z]+)\.bucket', 'j.bucket = any(array[\1.bucket])', 'g');
  end loop;
end $$;
