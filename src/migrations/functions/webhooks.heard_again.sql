-- An event was heard because somebody had it sent again. Its first delivery, if that still waits for its next attempt, is
-- over too, and on an ordered endpoint the next one about the same thing goes on. Gives whether something does.
create or replace function webhooks.heard_again(of_bucket smallint, of_account uuid, of_environment text, of_endpoint uuid,
                                                again uuid, at timestamptz) returns boolean language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  told uuid;
  first webhooks.deliveries;
begin
  select r.event_id into told from webhooks.deliveries r
   where r.bucket = of_bucket and r.account_id = of_account and r.environment = of_environment
     and r.id = again and r.endpoint_id = of_endpoint and r.status = 'delivered';
  select d.* into first from webhooks.deliveries d
   where d.bucket = of_bucket and d.account_id = of_account and d.environment = of_environment
     and d.id = webhooks.delivery_id(told, of_endpoint) and d.endpoint_id = of_endpoint
     and d.status in ('pending', 'delivering', 'failed')
     for update;
  if first.id is null then return false; end if;
  update webhooks.deliveries d
     set heard_since = first.status = 'failed', status = case when first.status = 'failed' then 'failed' else 'delivered' end,
         delivered_at = case when first.status = 'failed' then null else at end, next_attempt_at = null
   where d.bucket = of_bucket and d.account_id = of_account and d.environment = of_environment and d.id = first.id
     and d.endpoint_id = of_endpoint;
  if first.status = 'failed' then return false; end if;
  -- The job of one that is being tried at this moment goes with what becomes of that.
  delete from work.jobs j where j.bucket = any(array[of_bucket]) and j.id = first.id and j.owner is null;
  if not first.ordered then return false; end if;
  update work.jobs j set run_at = least(j.run_at, now())
    from (select d.id, d.attempts from webhooks.deliveries d
           where d.bucket = of_bucket and d.account_id = of_account and d.environment = of_environment
             and d.endpoint_id = of_endpoint and d.resource_id = first.resource_id and d.ordered
             and d.status in ('pending', 'delivering')
           order by d.id limit 1) next
   where next.attempts = 0 and j.bucket = any(array[of_bucket]) and j.id = next.id and j.owner is null;
  return found;
end $$;
