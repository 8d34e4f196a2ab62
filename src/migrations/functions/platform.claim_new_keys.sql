-- platform.claim_keys when some keys were used before. The second look is a statement of its own, so that it sees what
-- another node committed meanwhile.
create or replace function platform.claim_new_keys(items platform.idempotency_item[]) returns text[] language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  fresh platform.idempotency_item[];
  seen  text[];
begin
  with made as (
    insert into platform.idempotency (bucket, account_id, environment, key, request_hash, status, body)
    select i.bucket, i.account_id, i.environment, i.key, i.request_hash, i.status, i.body
      from unnest(items) i where i.key is not null
     order by i.bucket, i.account_id, i.environment, i.key
    on conflict (bucket, account_id, environment, key) do nothing
    returning bucket, account_id, environment, key
  )
  select array_agg(row(m.bucket, m.account_id, m.environment, m.key, null, null, null)::platform.idempotency_item)
    into fresh from made m;
  select array_agg(case when i.key is null or f.key is not null then null
                        when k.request_hash = i.request_hash then 'same' else 'other' end order by i.ord)
    into seen
    from unnest(items) with ordinality
      as i(bucket, account_id, environment, key, request_hash, status, body, ord)
    left join unnest(fresh) f
      on f.bucket = i.bucket and f.account_id = i.account_id and f.environment = i.environment and f.key = i.key
    left join platform.idempotency k
      on k.bucket = i.bucket and k.account_id = i.account_id and k.environment = i.environment and k.key = i.key;
  return seen;
end $$;
