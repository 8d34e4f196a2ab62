-- A delivery to be made again: `source` as `id`, as a part of `replay` or alone.
create type webhooks.redeliver_item as (
  bucket smallint, account uuid, environment text, id uuid, source uuid, endpoint uuid, replay uuid, at timestamptz
);

-- Makes such deliveries. One that is asked for by itself waits for no other: on an ordered endpoint it would wait for older
-- ones about the same thing, and so for the very one that it repeats. Those of a replay stay in order.
create or replace function webhooks.redeliver(items webhooks.redeliver_item[]) returns int language plpgsql as $$
declare
  made work.job_item[];
begin
  with again as (
    insert into webhooks.deliveries (bucket, account_id, environment, id, endpoint_id, url, event_id, event, resource_id,
                                     status, ordered, created_at, next_attempt_at, test, replay_of, replay_id, body)
    select d.bucket, d.account_id, d.environment, i.id, d.endpoint_id, d.url, d.event_id, d.event, d.resource_id,
           'pending', d.ordered and i.replay is not null, i.at, i.at, d.test, d.id, i.replay, d.body
      from unnest(items) i
      join webhooks.deliveries d on d.bucket = i.bucket and d.account_id = i.account and d.environment = i.environment
                                and d.id = i.source and d.endpoint_id = i.endpoint
    returning bucket, id, account_id, environment, endpoint_id
  )
  select array_agg(row(a.bucket, a.id, 'webhooks.deliver', a.account_id, a.environment,
                       webhooks.address(a.endpoint_id), null, 0, '{}')::work.job_item)
    into made from again a;
  perform work.add(made);
  return coalesce(cardinality(made), 0);
end $$;
