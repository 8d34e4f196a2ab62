-- What goes to the URL that a request named for its own callbacks has no endpoint whose log somebody could read. So it has
-- no row of its own among the deliveries, which would be written, changed and never looked at: its job carries all there is
-- to know of it, and goes when it was heard, or given up.

-- What becomes of a callback's attempts, as its job has it. Moments are the account's own, in milliseconds.
create function webhooks.tried(attempts smallint, next_at timestamptz) returns jsonb language sql stable as $$
  select jsonb_build_object('attempts', attempts, 'next_ms', floor(extract(epoch from next_at) * 1000)::bigint)
$$;

-- A callback as its job has it.
create function webhooks.callback(event uuid, name text, resource text, url text, created_at timestamptz, attempts smallint,
                                  next_at timestamptz) returns jsonb language sql stable as $$
  select jsonb_build_object('event', event, 'name', name, 'resource', resource, 'url', url,
                            'created_ms', floor(extract(epoch from created_at) * 1000)::bigint, 'attempts', attempts,
                            'next_ms', floor(extract(epoch from next_at) * 1000)::bigint)
$$;

-- Those that wait to be tried again.
update work.jobs j
   set payload = jsonb_build_object('callback', webhooks.callback(d.event_id, d.event, d.resource_id, d.url, d.created_at,
                                                                  d.attempts, d.next_attempt_at))
  from webhooks.deliveries d
 where j.lane = 'webhooks.deliver' and j.key = 'callback' and d.bucket = j.bucket and d.account_id = j.account_id
   and d.environment = j.environment and d.id = j.id and d.endpoint_id = webhooks.no_endpoint() and d.url is not null;

-- As before, but for callbacks.
create or replace function webhooks.fan_out(items events.event_item[]) returns text[] language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  matches webhooks.match[];
  behind  uuid[] := '{}';
  some_logged  boolean;
  some_ordered boolean;
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

  select bool_or(m.endpoint_id <> webhooks.no_endpoint()), bool_or(m.ordered) into some_logged, some_ordered from unnest(matches) m;
  if some_logged then
    insert into webhooks.deliveries (bucket, account_id, environment, id, endpoint_id, url, event_id, event, resource_id,
                                     status, ordered, created_at, next_attempt_at)
    select m.bucket, m.account_id, m.environment, m.id, m.endpoint_id, m.url, m.event_id, m.event, m.resource_id, 'pending',
           m.ordered, m.created_at, m.created_at
      from unnest(matches) m where m.endpoint_id <> webhooks.no_endpoint();
  end if;
  if some_ordered then
    behind := array(
      select m.id from unnest(matches) m
       where m.ordered and exists (
         select from webhooks.deliveries d
          where d.bucket = m.bucket and d.account_id = m.account_id and d.environment = m.environment
            and d.endpoint_id = m.endpoint_id and d.ordered and d.resource_id = m.resource_id and d.id < m.id
            and d.status in ('pending', 'delivering')));
  end if;
  perform work.add(array(
    select row(m.bucket, m.id, 'webhooks.deliver', m.account_id, m.environment, webhooks.address(m.endpoint_id),
               case when m.id = any(behind) then null else m.owner end, case when m.id = any(behind) then 1000 else 0 end,
               case when m.url is null then '{}' else jsonb_build_object('callback',
                 webhooks.callback(m.event_id, m.event, m.resource_id, m.url, m.created_at, 0::smallint, m.created_at)) end)::work.job_item
      from unnest(matches) m));
  for told in
    select m.n, string_agg(m.id || '/' || webhooks.address(m.endpoint_id) || '/' || m.version, ',') as addresses
      from unnest(matches) m where m.id <> all(behind) group by m.n
  loop
    begun[told.n] := told.addresses;
  end loop;
  return begun;
end $$;

-- As before, but for callbacks: what is to be known of them at the next attempt is noted in the job.
create or replace function webhooks.finish(node uuid, items webhooks.finish_item[]) returns table (failing boolean)
  language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  failed        uuid[];
  some_failed   boolean;
  some_ordered  boolean;
  some_changed  boolean;
  some_logged   boolean;
begin
  select bool_or(i.status <> 'delivered'), bool_or(i.resource is not null), bool_or(i.state is not null),
         bool_or(i.endpoint <> webhooks.no_endpoint())
    into some_failed, some_ordered, some_changed, some_logged from unnest(items) i;
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
       and d.endpoint_id = i.endpoint and i.endpoint <> webhooks.no_endpoint()
       and d.status in ('pending', 'delivering')
       and (i.status = 'delivered'
            or exists (select from work.jobs j where j.bucket = i.bucket and j.id = i.id and j.attempt = i.attempt));
  end if;
  delete from work.jobs j using unnest(items) i
   where j.bucket = i.bucket and j.id = i.id and i.delay_ms is null
     and (j.attempt = i.attempt or i.status = 'delivered');

  if some_logged then
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

-- The narrow event of a change says what the wide one says, under a name and an id of its own: only how it begins is handed
-- over, up to its time.
alter type sms.change rename attribute narrow_body to narrow_head;
alter type sms.accepted_item rename attribute narrow_body to narrow_head;
alter type sms.failed_item rename attribute narrow_body to narrow_head;
alter type sms.receipt_item rename attribute narrow_body to narrow_head;

create or replace function sms.tell(changes sms.change[], out wide text[], out narrow text[]) language plpgsql as $$
declare
  many int := cardinality(changes);
  told text[];
begin
  if many = 0 then return; end if;
  told := events.emit(array(
      select row(c.bucket, c.account, c.environment, c.event_id, c.event_type, c.event_resource, c.event_body,
                 c.event_request, c.event_within, c.event_callback, c.event_at, c.event_owner)::events.event_item
        from unnest(changes) c)
    || array(
      select row(c.bucket, c.account, c.environment, c.narrow_id, c.narrow_type, c.event_resource,
                 c.narrow_head || substr(c.event_body, strpos(c.event_body, ',"timestamp":')),
                 c.event_request, c.event_type, null, c.event_at, c.event_owner)::events.event_item
        from unnest(changes) c));
  wide := told[1 : many];
  narrow := told[many + 1 : 2 * many];
end $$;

create or replace function sms.accepted(node uuid, items sms.accepted_item[])
  returns table (changed boolean, wide text, narrow text, early text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  sent  uuid[];
  fresh int[];
  told  record;
  held  jsonb;
begin
  with changed as (
    update sms.messages m set status = 'sent', sent_at = i.at, route = i.carrier, under_way = false, attempts = i.attempts
      from unnest(items) i
     where m.bucket = i.bucket and m.account_id = i.account and m.environment = i.environment and m.id = i.id
       and m.status = 'queued'
    returning m.id)
  select array_agg(c.id) into sent from changed c;
  fresh := array(select min(n) from generate_subscripts(items, 1) n where items[n].id = any(sent) group by items[n].id order by 1);
  if cardinality(fresh) < cardinality(items) then
    -- One that goes out again, because it could not be delivered, has its new carrier.
    update sms.messages m set route = i.carrier, under_way = false
      from unnest(items) i
     where m.bucket = i.bucket and m.account_id = i.account and m.environment = i.environment and m.id = i.id
       and m.status = 'sent' and m.job = i.job and m.route is null;
  end if;
  delete from work.jobs j using unnest(items) i where j.bucket = i.bucket and j.id = i.job;

  with written as (
    insert into sms.carrier_ids as c (carrier, id, bucket, account_id, environment, message_id, part, parts)
    select distinct on (i.carrier, p.id) i.carrier, p.id, i.bucket, i.account, i.environment, i.id, p.part - 1,
           jsonb_array_length(i.carrier_ids)
      from unnest(items) i cross join lateral jsonb_array_elements_text(i.carrier_ids) with ordinality as p(id, part)
     order by i.carrier, p.id
    on conflict (carrier, id) do update
      set bucket = excluded.bucket, account_id = excluded.account_id, environment = excluded.environment,
          message_id = excluded.message_id, part = excluded.part, parts = excluded.parts
    returning c.id, c.message_id, c.early)
  select jsonb_object_agg(e.message_id, e.ids) into held
    from (select w.message_id, jsonb_agg(w.id) as ids from written w where w.early is not null group by 1) e;

  told := sms.tell(array(
    select row(items[n].bucket, items[n].account, items[n].environment, items[n].event_id, items[n].event_type,
               items[n].event_resource, items[n].event_body, items[n].event_request, items[n].event_within,
               items[n].event_callback, items[n].event_at, items[n].event_owner, items[n].narrow_id, items[n].narrow_type,
               items[n].narrow_head)::sms.change
      from unnest(fresh) n order by n));
  return query
    select n = any(fresh), told.wide[array_position(fresh, n)], told.narrow[array_position(fresh, n)],
           held ->> items[n].id::text
      from generate_subscripts(items, 1) n order by n;
end $$;

create or replace function sms.failed(node uuid, items sms.failed_item[])
  returns table (changed boolean, wide text, narrow text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  charges ledger.charge_item[];
  fresh   int[];
  told    record;
begin
  with changed as (
    update sms.messages m
       set status = 'failed', failed_at = i.at, error_code = i.error_code, carrier_code = i.carrier_code,
           route = i.carrier, attempts = i.attempts
      from unnest(items) i
     where m.bucket = i.bucket and m.account_id = i.account and m.environment = i.environment and m.id = i.id
       and m.status = 'queued'
       and exists (select from work.jobs j where j.bucket = i.bucket and j.id = i.job and j.attempt = i.attempt)
    returning m.bucket, m.account_id, m.environment, m.currency, m.cost, m.id, m.charges, i.transfer)
  select coalesce(array_agg(row(c.bucket, c.account_id, c.environment, c.currency, c.cost, c.id, sms.charge_step(c.charges),
                                c.transfer, 'revenue:sms')::ledger.charge_item), '{}')
    into charges from changed c;
  fresh := array(select min(n) from generate_subscripts(items, 1) n
                  where exists (select from unnest(charges) c where c.source_id = items[n].id)
                  group by items[n].id order by 1);
  delete from work.jobs j using unnest(items) i where j.bucket = i.bucket and j.id = i.job and j.attempt = i.attempt;
  if cardinality(charges) > 0 then
    perform ledger.uncharge(charges);
  end if;

  told := sms.tell(array(
    select row(items[n].bucket, items[n].account, items[n].environment, items[n].event_id, items[n].event_type,
               items[n].event_resource, items[n].event_body, items[n].event_request, items[n].event_within,
               items[n].event_callback, items[n].event_at, items[n].event_owner, items[n].narrow_id, items[n].narrow_type,
               items[n].narrow_head)::sms.change
      from unnest(fresh) n order by n));
  return query
    select n = any(fresh), told.wide[array_position(fresh, n)], told.narrow[array_position(fresh, n)]
      from generate_subscripts(items, 1) n order by n;
end $$;

create or replace function sms.receipt(node uuid, items sms.receipt_item[])
  returns table (changed boolean, wide text, narrow text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  fresh int[];
  told  record;
begin
  -- One row for each message of the batch: the parts that arrived, and the receipt that speaks for it.
  with heard as (
    select h.*, items[h.speaker].status as verdict, items[h.speaker].at as at, items[h.speaker].error_code as error_code,
           items[h.speaker].carrier_code as carrier_code
      from (select i.bucket, i.account, i.environment, i.id,
                   bit_or(case when i.status = 'delivered' then 1::bigint << i.part else 0 end) as mask,
                   min((1::bigint << i.parts) - 1) as whole,
                   coalesce(min(i.n) filter (where i.status = 'failed'), max(i.n))::int as speaker
              from (select u.*, row_number() over () as n from unnest(items) u) i group by 1, 2, 3, 4) h
  ), changed as (
    update sms.messages m
       set delivered_parts = m.delivered_parts | h.mask,
           status = case when h.verdict = 'failed' then 'failed'
                         when (m.delivered_parts | h.mask) & h.whole = h.whole then 'delivered' else m.status end,
           delivered_at = case when h.verdict = 'delivered' and (m.delivered_parts | h.mask) & h.whole = h.whole then h.at end,
           failed_at = case when h.verdict = 'failed' then h.at end,
           error_code = h.error_code, carrier_code = h.carrier_code
      from heard h
     where m.bucket = h.bucket and m.account_id = h.account and m.environment = h.environment and m.id = h.id
       and m.status = 'sent'
    returning m.status, h.speaker)
  select coalesce(array_agg(c.speaker order by c.speaker) filter (where c.status <> 'sent'), '{}') into fresh from changed c;
  if exists (select from unnest(items) i where i.carrier_id is not null) then
    update sms.carrier_ids c set early = null from unnest(items) i
     where c.carrier = i.carrier and c.id = i.carrier_id and c.early is not null;
  end if;

  told := sms.tell(array(
    select row(items[n].bucket, items[n].account, items[n].environment, items[n].event_id, items[n].event_type,
               items[n].event_resource, items[n].event_body, items[n].event_request, items[n].event_within,
               items[n].event_callback, items[n].event_at, items[n].event_owner, items[n].narrow_id, items[n].narrow_type,
               items[n].narrow_head)::sms.change
      from unnest(fresh) n order by n));
  return query
    select n = any(fresh), told.wide[array_position(fresh, n)], told.narrow[array_position(fresh, n)]
      from generate_subscripts(items, 1) n order by n;
end $$;
