-- The bodies of many events, narrower ones too, each once, for whoever keeps only their ids, and what stands beside a body.
-- created_at is null where the id says when.
create or replace function events.bodies(buckets smallint[], accounts uuid[], environments text[], ids uuid[])
  returns table (event_id uuid, body text, type text, resource_id text, created_at timestamptz) language plpgsql stable
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return query select e.id, e.body, e.type, e.resource_id, e.created_at
    from (select distinct * from unnest(buckets, accounts, environments, ids)) as w(bucket, account, environment, id)
    join events.events e
      on e.bucket = w.bucket and e.account_id = w.account and e.environment = w.environment and e.id = w.id
  union all
  select w.id, events.twin_body(e.twin_head, e.body), e.twin_type, e.resource_id, e.created_at
    from (select distinct * from unnest(buckets, accounts, environments, ids)) as w(bucket, account, environment, id)
    join events.events e
      on e.bucket = w.bucket and e.account_id = w.account and e.environment = w.environment and e.id = events.twin_of(w.id)
   where e.twin_type is not null;
end $$;
