-- Adds jobs. src/platform/work.ts has what becomes of them.
create or replace function work.add(items work.job_item[]) returns void language plpgsql as $$
begin
  insert into work.jobs (bucket, id, lane, run_at, account_id, environment, key, attempt, owner, payload)
  select i.bucket, i.id, i.lane,
         now() + case when i.owner is null then i.delay_ms * interval '1 millisecond' else (select work.lease()) end,
         i.account_id, i.environment, i.key, case when i.owner is null then 0 else 1 end, i.owner, i.payload
    from unnest(items) i;
end $$;
