-- Keeps the leases of jobs that are still running, fenced by their attempt. One that was settled meanwhile has no owner.
create or replace function work.extend(node uuid, buckets smallint[], ids uuid[], attempts int[], lease_seconds int[]) returns void
  language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  update work.jobs j set run_at = now() + r.seconds * interval '1 second'
    from unnest(buckets, ids, attempts, lease_seconds) as r(bucket, id, attempt, seconds)
   where j.bucket = any(array[r.bucket]) and j.id = r.id and j.attempt = r.attempt and j.owner = node;
end $$;
