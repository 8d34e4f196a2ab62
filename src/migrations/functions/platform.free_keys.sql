-- Frees the keys of items that a group commit refused after all: their answer is the refusal, stored separately.
create or replace function platform.free_keys(items platform.idempotency_item[]) returns void language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  delete from platform.idempotency k using unnest(items) i
   where i.key is not null
     and k.bucket = i.bucket and k.account_id = i.account_id and k.environment = i.environment and k.key = i.key;
end $$;
