-- How long a job is leased to a node: so long, and until the next poll, it waits if that node dies. Nodes extend what they
-- have in hand, so that it is no bound on how long a job may run. src/platform/work.ts knows the same number.
create function work.lease() returns interval language sql immutable parallel safe as $$
  select interval '10 seconds'
$$;

-- As before, by that lease.
create or replace function work.add(items work.job_item[]) returns void language plpgsql as $$
begin
  insert into work.jobs (bucket, id, lane, run_at, account_id, environment, key, attempt, owner, payload)
  select i.bucket, i.id, i.lane,
         now() + case when i.owner is null then i.delay_ms * interval '1 millisecond' else work.lease() end,
         i.account_id, i.environment, i.key, case when i.owner is null then 0 else 1 end, i.owner, i.payload
    from unnest(items) i;
end $$;

create or replace function work.move(node uuid, items work.move_item[]) returns table (moved boolean) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  changed uuid[];
begin
  with moves as (
    update work.jobs j
       set lane = i.lane, payload = i.payload, failures = 0, last_error = null,
           owner = case when i.keep then node end, attempt = j.attempt + case when i.keep then 1 else 0 end,
           run_at = now() + case when i.keep then work.lease() else i.delay_ms * interval '1 millisecond' end
      from unnest(items) i where j.bucket = any(array[i.bucket]) and j.id = i.id and j.attempt = i.attempt
    returning j.id)
  select coalesce(array_agg(m.id), '{}') into changed from moves m;
  return query select items[n].id = any(changed) from generate_subscripts(items, 1) n order by n;
end $$;
