-- Stores the keys of a group commit with their answers, before anything else happens in it. Gives for each item null
-- when the key is new (or none was sent), 'same' when it was used for the same request, else 'other'. As a rule all are
-- new, and a plain insert does it. Sorted, so that two nodes with the same keys wait for each other instead of
-- deadlocking.
create or replace function platform.claim_keys(items platform.idempotency_item[]) returns text[] language plpgsql
  set plan_cache_mode = force_generic_plan as $$
begin
  insert into platform.idempotency (bucket, account_id, environment, key, request_hash, status, body)
  select i.bucket, i.account_id, i.environment, i.key, i.request_hash, i.status, i.body
    from unnest(items) i where i.key is not null
   order by i.bucket, i.account_id, i.environment, i.key;
  return array_fill(null::text, array[cardinality(items)]);
exception when unique_violation then
  return platform.claim_new_keys(items);
end $$;
