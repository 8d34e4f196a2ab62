-- Webhooks: who wants to hear of what, and what became of telling them. A delivery is written in the transaction of the
-- change it tells of, with a job (work.jobs, lane webhooks.deliver, the delivery's id) that is born leased to the node
-- which makes the change.

create schema webhooks;

-- One row is an address that an account registered. Secrets and custom headers are sealed. `version` grows with every
-- change that matters to a delivery, so that nodes notice that what they remember is old.
create table webhooks.endpoints (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  id              uuid not null,
  version         int not null default 1,
  url             text not null,
  events          text[] not null,
  description     text,
  enabled         boolean not null,
  disabled_reason text,
  headers         bytea,
  ordered         boolean not null,
  rate_limit      int,
  filters         jsonb not null,
  secret          bytea not null,
  next_secret     bytea,
  activates_at    timestamptz,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (bucket, account_id, environment, id)
) with (fillfactor = 70);

-- One row is how an endpoint has been doing. failing_since and failed_deliveries count from its last success.
create table webhooks.health (
  bucket            smallint not null,
  account_id        uuid not null,
  environment       text not null,
  endpoint_id       uuid not null,
  state             text not null default 'healthy' check (state in ('healthy', 'degraded', 'failing')),
  failing_since     timestamptz,
  failed_deliveries int not null default 0,
  last_success_at   timestamptz,
  last_failure_at   timestamptz,
  last_status       smallint,
  primary key (bucket, account_id, environment, endpoint_id)
) with (fillfactor = 50);

-- One row counts an endpoint's attempts of one hour; durations counts the successful ones by their duration.
create table webhooks.hours (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  endpoint_id uuid not null,
  hour        timestamptz not null,
  delivered   int not null,
  failed      int not null,
  durations   int[] not null,
  primary key (bucket, account_id, environment, endpoint_id, hour)
) with (fillfactor = 50);

-- One row is the account's secret that signs what goes to callback_url, event_url and answer_url. Sealed.
create table webhooks.callback_secrets (
  bucket       smallint not null,
  account_id   uuid not null,
  environment  text not null,
  version      int not null default 1,
  secret       bytea not null,
  next_secret  bytea,
  activates_at timestamptz,
  primary key (bucket, account_id, environment)
);

-- One row is an event on its way to one address: an endpoint's, or (endpoint_id zero) the `url` a request named for its
-- own callbacks. Who looks for one delivery also names its endpoint, so that any of the indexes finds it at once: the
-- plan for a partition is made while it is empty, and then all of them look alike. `body` is kept only when the event itself is not (a test). `log` has one entry for each attempt: JSON
-- objects with commas between them.
create table webhooks.deliveries (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  id              uuid not null,
  endpoint_id     uuid not null,
  url             text,
  event_id        uuid not null,
  event           text not null,
  resource_id     text not null,
  status          text not null check (status in ('pending', 'delivering', 'delivered', 'failed', 'cancelled')),
  ordered         boolean not null,
  attempts        smallint not null default 0,
  created_at      timestamptz not null,
  next_attempt_at timestamptz,
  delivered_at    timestamptz,
  last_error      text,
  response_status smallint,
  duration_ms     int,
  test            boolean not null default false,
  replay_of       uuid,
  replay_id       uuid,
  body            text,
  log             text not null default '',
  primary key (bucket, account_id, environment, id)
) partition by range (id);
create index deliveries_of_endpoint on webhooks.deliveries (bucket, endpoint_id, id);
-- What an ordered endpoint has to hear, by what it is about. The status is not part of it: a status in an index would
-- make every change of it a change of every index.
create index deliveries_in_order on webhooks.deliveries (bucket, endpoint_id, resource_id, id) where ordered;
-- A delivery grows by the log of its first attempt a moment after it was written; the room for it is left beside it.
select platform.ensure_partitions('webhooks.deliveries', 'day', 3, 20);

-- One row is a window of time that is being delivered again.
create table webhooks.replays (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  endpoint_id uuid not null,
  since       timestamptz not null,
  until       timestamptz not null,
  status      text not null,
  events      text[],
  total       int not null,
  queued      int not null default 0,
  cursor      uuid,
  finished    boolean not null default false,
  created_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);

-- Telling ---------------------------------------------------------------------------------------------------------

-- Whether an event's body has what an endpoint wants to hear of: each path holds its value. Escapes that jsonb does not
-- take (U+0000 and halves of surrogate pairs) are left out for the comparison; an escaped backslash stays what it is.
create function webhooks.passes(filters jsonb, body text) returns boolean language sql immutable as $$
  select not exists (
    select from jsonb_each(filters) f
     where f.value #>> '{}' is distinct from
           regexp_replace(body, '(\\\\)|\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\1', 'g')::jsonb
             #>> string_to_array(f.key, '.'))
$$;

-- Stands for the endpoint of what goes to a callback URL.
create function webhooks.no_endpoint() returns uuid language sql immutable as $$
  select '00000000-0000-0000-0000-000000000000'::uuid
$$;

-- What names an address in a job's key and to the node that delivers: the endpoint, or `callback`.
create function webhooks.address(endpoint uuid) returns text language sql immutable as $$
  select case when endpoint = webhooks.no_endpoint() then 'callback' else endpoint::text end
$$;

-- The id of a delivery follows from the event and the endpoint, so that it is the same however often it is made. It
-- keeps the event's time and counter: deliveries sort as their events do.
create function webhooks.delivery_id(event uuid, endpoint uuid) returns uuid language sql immutable as $$
  select (left(replace(event::text, '-', ''), 16) || '8' || left(md5(event::text || endpoint::text), 15))::uuid
$$;

-- An event on its way to one address; n is the place of the event among those of the commit.
create type webhooks.match as (
  n int, id uuid, endpoint_id uuid, version int, ordered boolean, bucket smallint, account_id uuid, environment text,
  event_id uuid, event text, resource_id text, url text, created_at timestamptz, owner uuid
);

-- Writes one delivery and its job for each address that an event goes to. Gives for each event null when nobody wants
-- it, else `delivery/endpoint/version` for each delivery that its owner is to begin at once, separated by commas. An
-- ordered delivery behind another one waits for it; webhooks.finish lets it go on, and if the two passed each other
-- unseen it looks for itself after a second.
create function webhooks.fan_out(items events.event_item[]) returns text[] language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  matches webhooks.match[];
  behind  uuid[] := '{}';
  begun   text[] := array_fill(null::text, array[cardinality(items)]);
  told    record;
begin
  matches := array(
    select row(i.n, webhooks.delivery_id(i.id, e.id), e.id, e.version, e.ordered, i.bucket, i.account_id, i.environment,
               i.id, i.type, i.resource_id, null, i.created_at, i.owner)::webhooks.match
      from unnest(items) with ordinality as i(bucket, account_id, environment, id, type, resource_id, body, request_id,
                                              within, callback_url, created_at, owner, n)
      join webhooks.endpoints e
        on e.bucket = i.bucket and e.account_id = i.account_id and e.environment = i.environment
     where e.enabled and e.events && array[i.type, split_part(i.type, '.', 1) || '.*', '*']
       and (i.within is null or not e.events && array[i.within, split_part(i.within, '.', 1) || '.*', '*'])
       and (e.filters = '{}' or webhooks.passes(e.filters, i.body))
    union all
    select row(i.n, webhooks.delivery_id(i.id, webhooks.no_endpoint()), webhooks.no_endpoint(), 0, false, i.bucket, i.account_id, i.environment, i.id, i.type,
               i.resource_id, i.callback_url, i.created_at, i.owner)::webhooks.match
      from unnest(items) with ordinality as i(bucket, account_id, environment, id, type, resource_id, body, request_id,
                                              within, callback_url, created_at, owner, n)
     where i.callback_url is not null);
  if cardinality(matches) = 0 then
    return begun;
  end if;

  insert into webhooks.deliveries (bucket, account_id, environment, id, endpoint_id, url, event_id, event, resource_id,
                                   status, ordered, created_at, next_attempt_at)
  select m.bucket, m.account_id, m.environment, m.id, m.endpoint_id, m.url, m.event_id, m.event, m.resource_id, 'pending',
         m.ordered, m.created_at, m.created_at
    from unnest(matches) m;
  if exists (select from unnest(matches) m where m.ordered) then
    behind := array(
      select m.id from unnest(matches) m
       where m.ordered and exists (
         select from webhooks.deliveries d
          where d.bucket = m.bucket and d.account_id = m.account_id and d.environment = m.environment
            and d.endpoint_id = m.endpoint_id and d.ordered and d.resource_id = m.resource_id and d.id < m.id
            and d.status in ('pending', 'delivering')));
  end if;
  perform work.add(array(
    select row(m.bucket, m.id, 'webhooks.deliver', m.account_id, m.environment, webhooks.address(m.endpoint_id), case when m.id = any(behind) then null else m.owner end,
               case when m.id = any(behind) then 1000 else 0 end, '{}')::work.job_item
      from unnest(matches) m));
  for told in
    select m.n, string_agg(m.id || '/' || webhooks.address(m.endpoint_id) || '/' || m.version, ',') as addresses
      from unnest(matches) m where m.id <> all(behind) group by m.n
  loop
    begun[told.n] := told.addresses;
  end loop;
  return begun;
end $$;

-- Writes events and what makes them heard, in the commit of the change they tell of. Gives what fan_out gives.
create function events.emit(items events.event_item[]) returns text[] language plpgsql as $$
begin
  insert into events.events (bucket, account_id, environment, id, type, resource_id, body, request_id)
  select i.bucket, i.account_id, i.environment, i.id, i.type, i.resource_id, i.body, i.request_id from unnest(items) i;
  return webhooks.fan_out(items);
end $$;

-- What became of an attempt. status: delivered, failed, cancelled, or pending when it is to be tried again, at next_at
-- (the account's time), in delay_ms. `resource` is set when the endpoint is ordered. slot counts the duration of a
-- success (webhooks.hours). state is the endpoint's, when this attempt changed it. log null: nothing was attempted.
create type webhooks.finish_item as (
  bucket smallint, account uuid, environment text, id uuid, endpoint uuid, attempt int, status text, attempts smallint,
  at timestamptz, next_at timestamptz, delay_ms bigint, error text, response_status smallint, duration_ms int,
  slot smallint, log text, resource text, state text
);

-- Stores the outcomes of many attempts and removes or reschedules their jobs. A success counts whoever reports it; what
-- else a node reports counts only while the job is still its own. Gives `failing` for an endpoint that has failed for so
-- long that it is to be disabled.
create function webhooks.finish(node uuid, items webhooks.finish_item[]) returns table (failing boolean)
  language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  failed        uuid[];
  some_failed   boolean;
  some_ordered  boolean;
  some_changed  boolean;
begin
  select bool_or(i.status <> 'delivered'), bool_or(i.resource is not null), bool_or(i.state is not null)
    into some_failed, some_ordered, some_changed from unnest(items) i;
  update webhooks.deliveries d
     set status = i.status, attempts = i.attempts, next_attempt_at = i.next_at,
         delivered_at = case when i.status = 'delivered' then i.at end,
         last_error = case when i.log is null then d.last_error else i.error end,
         response_status = case when i.log is null then d.response_status else i.response_status end,
         duration_ms = case when i.log is null then d.duration_ms else i.duration_ms end,
         log = case when i.log is null then d.log when d.log = '' then i.log else d.log || ',' || i.log end
    from unnest(items) i
   where d.bucket = i.bucket and d.account_id = i.account and d.environment = i.environment and d.id = i.id
     and d.endpoint_id = i.endpoint and d.status in ('pending', 'delivering')
     and (i.status = 'delivered'
          or exists (select from work.jobs j where j.bucket = i.bucket and j.id = i.id and j.attempt = i.attempt));
  delete from work.jobs j using unnest(items) i
   where j.bucket = i.bucket and j.id = i.id and i.delay_ms is null
     and (j.attempt = i.attempt or i.status = 'delivered');

  -- The rows of endpoints are taken in order, so that two nodes wait for each other instead of deadlocking.
  insert into webhooks.hours as h (bucket, account_id, environment, endpoint_id, hour, delivered, failed, durations)
  select i.bucket, i.account, i.environment, i.endpoint, date_trunc('hour', i.at, 'UTC'),
         count(*) filter (where i.status = 'delivered'), count(*) filter (where i.status <> 'delivered'), array[
           count(*) filter (where i.slot = 0), count(*) filter (where i.slot = 1),
           count(*) filter (where i.slot = 2), count(*) filter (where i.slot = 3),
           count(*) filter (where i.slot = 4), count(*) filter (where i.slot = 5),
           count(*) filter (where i.slot = 6), count(*) filter (where i.slot = 7),
           count(*) filter (where i.slot = 8), count(*) filter (where i.slot = 9),
           count(*) filter (where i.slot = 10), count(*) filter (where i.slot = 11),
           count(*) filter (where i.slot = 12), count(*) filter (where i.slot = 13),
           count(*) filter (where i.slot = 14), count(*) filter (where i.slot = 15),
           count(*) filter (where i.slot = 16), count(*) filter (where i.slot = 17),
           count(*) filter (where i.slot = 18), count(*) filter (where i.slot = 19)
         ]
    from unnest(items) i where i.endpoint <> webhooks.no_endpoint() and i.log is not null
   group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  on conflict (bucket, account_id, environment, endpoint_id, hour) do update
    set delivered = h.delivered + excluded.delivered, failed = h.failed + excluded.failed,
        durations = (select array_agg(u.a + u.b order by u.n)
                       from unnest(h.durations, excluded.durations) with ordinality u(a, b, n));
  insert into webhooks.health as h (bucket, account_id, environment, endpoint_id, state, failing_since,
                                    failed_deliveries, last_success_at, last_failure_at, last_status)
  select i.bucket, i.account, i.environment, i.endpoint, 'healthy',
         case when bool_or(i.status = 'delivered') then null else min(i.at) end,
         case when bool_or(i.status = 'delivered') then 0 else count(*) filter (where i.status = 'failed') end,
         max(i.at) filter (where i.status = 'delivered'), max(i.at) filter (where i.status <> 'delivered'),
         (array_agg(i.response_status order by i.at desc))[1]
    from unnest(items) i where i.endpoint <> webhooks.no_endpoint() and i.log is not null
   group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (bucket, account_id, environment, endpoint_id) do update
    set failing_since = case when excluded.last_success_at is null
                             then coalesce(h.failing_since, excluded.failing_since) end,
        failed_deliveries = case when excluded.last_success_at is null
                                 then h.failed_deliveries + excluded.failed_deliveries else 0 end,
        last_success_at = coalesce(excluded.last_success_at, h.last_success_at),
        last_failure_at = coalesce(excluded.last_failure_at, h.last_failure_at), last_status = excluded.last_status;

  if some_changed then
    update webhooks.health h set state = i.state from unnest(items) i
     where i.state is not null and h.bucket = i.bucket and h.account_id = i.account and h.environment = i.environment
       and h.endpoint_id = i.endpoint;
  end if;
  if some_failed then
    update work.jobs j set owner = null, run_at = now() + i.delay_ms * interval '1 millisecond'
      from unnest(items) i
     where j.bucket = i.bucket and j.id = i.id and j.attempt = i.attempt and i.delay_ms is not null;
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
       and j.bucket = i.bucket and j.id = next.id and j.owner is null;
  end if;
  return query select coalesce(i.endpoint = any(failed), false)
    from unnest(items) with ordinality as i(bucket, account, environment, id, endpoint, attempt, status, attempts, at,
                                            next_at, delay_ms, error, response_status, duration_ms, slot, log, resource,
                                            state, n)
   order by i.n;
end $$;

-- A delivery that is left to later without an attempt: because an older one about `resource` is not over, or, where that
-- is null, because its endpoint is disabled.
create type webhooks.put_back_item as (
  bucket smallint, account uuid, environment text, id uuid, endpoint uuid, attempt int, delay_ms bigint, resource text
);

-- Puts deliveries back for delay_ms, after which they look for themselves. What they wait for may be over by now, so it is
-- looked at again and kept from changing until the commit: whoever changes it afterwards finds them put back, and lets
-- them go on. If it is changing at this moment, or has changed, they fall due at once. Gives whether each one waits.
create function webhooks.put_back(node uuid, items webhooks.put_back_item[]) returns table (waits boolean)
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
   where j.bucket = i.bucket and j.id = i.id and j.attempt = i.attempt;
  return query select i.id = any(behind || disabled)
    from unnest(items) with ordinality as i(bucket, account, environment, id, endpoint, attempt, delay_ms, resource, n)
   order by i.n;
end $$;

-- Lets the oldest deliveries that an endpoint has to hear by now fall due, at most so many; or only the very oldest, due
-- or not, to try with. Gives how many those are.
create function webhooks.wake(of_bucket smallint, of_account uuid, of_environment text, of_endpoint uuid, at timestamptz,
                              since uuid, only_oldest boolean, most int) returns int language sql as $$
  with woken as (
    update work.jobs j set run_at = least(j.run_at, now())
      from (select d.id from webhooks.deliveries d
             where d.bucket = of_bucket and d.account_id = of_account and d.environment = of_environment
               and d.endpoint_id = of_endpoint and d.id >= since and d.status in ('pending', 'delivering')
               and (only_oldest or d.next_attempt_at <= at)
             order by d.id limit case when only_oldest then 1 else most end) due
     where j.bucket = of_bucket and j.id = due.id and j.owner is null
    returning j.id
  )
  select count(*)::int from woken
$$;

-- A delivery to be made again: `source` as `id`, as a part of `replay` or alone.
create type webhooks.redeliver_item as (
  bucket smallint, account uuid, environment text, id uuid, source uuid, endpoint uuid, replay uuid, at timestamptz
);

create function webhooks.redeliver(items webhooks.redeliver_item[]) returns int language plpgsql as $$
declare
  made work.job_item[];
begin
  with again as (
    insert into webhooks.deliveries (bucket, account_id, environment, id, endpoint_id, url, event_id, event, resource_id,
                                     status, ordered, created_at, next_attempt_at, replay_of, replay_id, body)
    select d.bucket, d.account_id, d.environment, i.id, d.endpoint_id, d.url, d.event_id, d.event, d.resource_id,
           'pending', d.ordered, i.at, i.at, d.id, i.replay, d.body
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
