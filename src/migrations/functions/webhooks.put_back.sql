-- A delivery that is left to later without an attempt: because an older one about `resource` is not over, or, where that
-- is null, because its endpoint is disabled.
create type webhooks.put_back_item as (
  bucket smallint, account uuid, environment text, id uuid, endpoint uuid, attempt int, delay_ms bigint, resource text
);

-- Puts deliveries back for delay_ms, after which they look for themselves. What they wait for may be over by now, so it is
-- looked at again and kept from changing until the commit: whoever changes it afterwards finds them put back, and lets
-- them go on. If it is changing at this moment, or has changed, they fall due at once. Gives whether each one waits.
create or replace function webhooks.put_back(node uuid, items webhooks.put_back_item[]) returns table (waits boolean)
  language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  behind   uuid[];
  disabled uuid[];
begin
  behind := array(
    select i.id from unnest(items) i
     cross join lateral (
       select d.id from webhooks.deliveries d
        where d.bucket = i.bucket and d.account_id = i.account and d.environment = i.environment
          and d.endpoint_id = i.endpoint and d.resource_id = i.resource and d.ordered and d.id < i.id
          and d.status in ('pending', 'delivering')
        order by d.id limit 1 for share skip locked) older
     where i.resource is not null);
  disabled := array(
    select i.id from unnest(items) i
     cross join lateral (
       select e.id from webhooks.endpoints e
        where e.bucket = i.bucket and e.account_id = i.account and e.environment = i.environment and e.id = i.endpoint
          and not e.enabled
        limit 1 for share skip locked) endpoint
     where i.resource is null);
  update work.jobs j
     set owner = null,
         run_at = now() + case when i.id = any(behind || disabled) then i.delay_ms else 0 end * interval '1 millisecond'
    from unnest(items) i
   where j.bucket = any(array[i.bucket]) and j.id = i.id and j.attempt = i.attempt;
  return query select i.id = any(behind || disabled)
    from unnest(items) with ordinality as i(bucket, account, environment, id, endpoint, attempt, delay_ms, resource, n)
   order by i.n;
end $$;
