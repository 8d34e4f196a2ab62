-- Hands back jobs that a node has not begun, fenced by their attempt: due at once, for whoever polls next.
create or replace function work.hand_back(node uuid, buckets smallint[], ids uuid[], attempts int[]) returns void language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  update work.jobs j set run_at = now(), owner = null
    from unnest(buckets, ids, attempts) as r(bucket, id, attempt)
   where j.bucket = any(array[r.bucket]) and j.id = r.id and j.attempt = r.attempt and j.owner = node;
end $$;
