-- What became of an attempt. status: delivered, failed, cancelled, or pending when it is to be tried again, at next_at
-- (the account's time), in delay_ms. `resource` is set when the endpoint is ordered. slot counts the duration of a
-- success (webhooks.hours). state is the endpoint's, when this attempt changed it. log null: nothing was attempted.
create type webhooks.finish_item as (
  bucket smallint, account uuid, environment text, id uuid, endpoint uuid, attempt int, status text, attempts smallint,
  at timestamptz, next_at timestamptz, delay_ms bigint, error text, response_status smallint, duration_ms int,
  slot smallint, log text, resource text, state text
);

-- Stores the outcomes of many attempts and removes or reschedules their jobs; what is to be known of a callback at its next
-- attempt is noted in the job. A success counts whoever reports it; what else a node reports counts only while the job is
-- still its own. A delivery that failed without another attempt, because its endpoint was not called for a day, counts among
-- those by which an endpoint is disabled, and what is known of the last attempt stays as it is. Gives `failing` for an
-- endpoint that has failed for so long that it is to be disabled.
create or replace function webhooks.finish(node uuid, items webhooks.finish_item[]) returns table (failing boolean)
  language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  item          webhooks.finish_item;
  owned         uuid[];
  failed        uuid[];
  some_failed   boolean := false;
  some_ordered  boolean := false;
  some_changed  boolean := false;
  some_logged   boolean := false;
  oldest        uuid;
  newest        uuid;
begin
  foreach item in array items loop
    if item.status <> 'delivered' then some_failed := true; end if;
    if item.resource is not null then some_ordered := true; end if;
    if item.state is not null then some_changed := true; end if;
    if item.endpoint <> webhooks.no_endpoint() then
      some_logged := true;
      oldest := least(oldest, item.id);
      newest := greatest(newest, item.id);
    end if;
  end loop;
  if some_failed then
    owned := array(select j.id from unnest(items) i
                     join work.jobs j on j.bucket = any(array[i.bucket]) and j.id = i.id and j.attempt = i.attempt);
  end if;
  if some_logged then
    update webhooks.deliveries d
       set status = i.status, attempts = i.attempts, next_attempt_at = i.next_at,
           delivered_at = case when i.status = 'delivered' then i.at end,
           last_error = case when i.log is null then d.last_error else i.error end,
           response_status = case when i.log is null then d.response_status else i.response_status end,
           duration_ms = case when i.log is null then d.duration_ms else i.duration_ms end,
           log = case when i.log is null then d.log when d.log = '' then i.log else d.log || ',' || i.log end
      from unnest(items) i
     where d.bucket = i.bucket and d.account_id = i.account and d.environment = i.environment and d.id = i.id
       and d.id >= oldest and d.id <= newest
       and d.endpoint_id = i.endpoint and i.endpoint <> webhooks.no_endpoint()
       and d.status in ('pending', 'delivering') and (i.status = 'delivered' or i.id = any(owned));
  end if;
  delete from work.jobs j using unnest(items) i
   where j.bucket = any(array[i.bucket]) and j.id = i.id and i.delay_ms is null
     and (j.attempt = i.attempt or i.status = 'delivered');

  if some_logged then
    -- The rows of endpoints are taken in order, so that two nodes wait for each other instead of deadlocking.
    insert into webhooks.hours as h (bucket, account_id, environment, endpoint_id, hour, delivered, failed, durations)
    select i.bucket, i.account, i.environment, i.endpoint, date_trunc('hour', i.at, 'UTC'),
           count(*) filter (where i.status = 'delivered'), count(*) filter (where i.status <> 'delivered'),
           webhooks.durations_in(array_agg(i.slot))
      from unnest(items) i where i.endpoint <> webhooks.no_endpoint() and i.log is not null
     group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    on conflict (bucket, account_id, environment, endpoint_id, hour) do update
      set delivered = h.delivered + excluded.delivered, failed = h.failed + excluded.failed,
          durations = webhooks.add_durations(h.durations, excluded.durations);
    insert into webhooks.health as h (bucket, account_id, environment, endpoint_id, state, failing_since,
                                      failed_deliveries, last_success_at, last_failure_at, last_status)
    select i.bucket, i.account, i.environment, i.endpoint, 'healthy',
           case when bool_or(i.status = 'delivered') then null else min(i.at) end,
           case when bool_or(i.status = 'delivered') then 0 else count(*) filter (where i.status = 'failed') end,
           max(i.at) filter (where i.status = 'delivered'),
           max(i.at) filter (where i.status <> 'delivered' and i.log is not null),
           (array_agg(i.response_status order by i.at desc) filter (where i.log is not null))[1]
      from unnest(items) i where i.endpoint <> webhooks.no_endpoint() and (i.log is not null or i.status = 'failed')
     group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (bucket, account_id, environment, endpoint_id) do update
      set failing_since = case when excluded.last_success_at is null
                               then coalesce(h.failing_since, excluded.failing_since) end,
          failed_deliveries = case when excluded.last_success_at is null
                                   then h.failed_deliveries + excluded.failed_deliveries else 0 end,
          last_success_at = coalesce(excluded.last_success_at, h.last_success_at),
          last_failure_at = coalesce(excluded.last_failure_at, h.last_failure_at),
          last_status = case when coalesce(excluded.last_success_at, excluded.last_failure_at) is null
                             then h.last_status else excluded.last_status end;
  end if;
  if some_changed then
    update webhooks.health h set state = i.state from unnest(items) i
     where i.state is not null and h.bucket = i.bucket and h.account_id = i.account and h.environment = i.environment
       and h.endpoint_id = i.endpoint;
  end if;
  if some_failed then
    update work.jobs j
       set owner = null, run_at = now() + i.delay_ms * interval '1 millisecond',
           payload = case when i.endpoint <> webhooks.no_endpoint() then j.payload
                          else jsonb_build_object('callback', j.payload -> 'callback' || webhooks.tried(i.attempts, i.next_at)) end
      from unnest(items) i
     where j.bucket = any(array[i.bucket]) and j.id = i.id and j.attempt = i.attempt and i.delay_ms is not null;
    failed := array(
      select h.endpoint_id from unnest(items) i
        join webhooks.health h on h.bucket = i.bucket and h.account_id = i.account and h.environment = i.environment
                              and h.endpoint_id = i.endpoint
       where i.status = 'failed' and h.failed_deliveries >= 20 and h.failing_since <= i.at - interval '5 days');
  end if;
  -- The next delivery about the same thing goes on at once, unless it was tried already and waits for its own turn.
  if some_ordered then
    update work.jobs j set run_at = least(j.run_at, now())
      from unnest(items) i
     cross join lateral (
       select d.id, d.attempts from webhooks.deliveries d
        where d.bucket = i.bucket and d.account_id = i.account and d.environment = i.environment
          and d.endpoint_id = i.endpoint and d.resource_id = i.resource and d.ordered
          and d.status in ('pending', 'delivering')
        order by d.id limit 1) next
     where i.resource is not null and i.status in ('delivered', 'failed', 'cancelled') and next.attempts = 0
       and j.bucket = any(array[i.bucket]) and j.id = next.id and j.owner is null;
  end if;
  foreach item in array items loop
    failing := coalesce(item.endpoint = any(failed), false);
    return next;
  end loop;
end $$;
