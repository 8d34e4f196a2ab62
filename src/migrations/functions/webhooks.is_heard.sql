-- Whether one of the accounts has an endpoint that may want to hear of it.
create or replace function webhooks.is_heard(items events.event_item[]) returns boolean language plpgsql stable
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return exists (
    select from (select distinct i.bucket, i.account_id, i.environment from unnest(items) i) a
      join webhooks.endpoints e
        on e.bucket = a.bucket and e.account_id = a.account_id and e.environment = a.environment
     where e.enabled);
end $$;
