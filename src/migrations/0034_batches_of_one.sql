-- What a group commit costs when nobody shares it. Most batches are of one to five items, and then a function costs what it
-- takes to begin its statements, 50 to 150 thousand instructions each, whatever they do. So a statement is left out when
-- there is nothing for it; rows are looked through, packed for another function and given back in loops, which begin nothing;
-- and what is written to a table of many partitions says between which ids it lies, so that only those partitions are opened.

-- Work ------------------------------------------------------------------------------------------------------------

create or replace function work.settle(node uuid, items work.settle_item[]) returns table (settled boolean) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  item       work.settle_item;
  some_done  boolean := false;
  some_again boolean := false;
begin
  foreach item in array items loop
    if item.delay_ms is null then some_done := true; else some_again := true; end if;
  end loop;
  if some_done then
    delete from work.jobs j using unnest(items) i
     where j.bucket = i.bucket and j.id = i.id and j.attempt = i.attempt and i.delay_ms is null;
  end if;
  if some_again then
    update work.jobs j
       set owner = null, last_error = i.error, failures = case when i.error is null then 0 else j.failures + 1 end,
           run_at = case when i.delay_ms < 0 then 'infinity' else now() + i.delay_ms * interval '1 millisecond' end
      from unnest(items) i
     where j.bucket = i.bucket and j.id = i.id and j.attempt = i.attempt and i.delay_ms is not null;
  end if;
  settled := true;
  for n in 1 .. cardinality(items) loop return next; end loop;
end $$;

-- Charging --------------------------------------------------------------------------------------------------------

-- Charges wallets, each item decided as if they came one after the other: 'charged', 'replayed' (this source and step
-- was charged before, perhaps in the same batch) or 'insufficient'. A free item (amount 0) moves nothing and is charged.
-- The rule is that every posting is new, none is free and every wallet covers its items: then one update and one insert
-- do it all. What stands in the way (a wallet that is short or missing, a posting that is there already) undoes them and
-- has the items looked at one by one. Items of one wallet, as a single one is, need no grouping; several wallets are grouped
-- by a sort and joined by nested loops, so that they are locked in the order of their key. The settings leave one plan, by
-- index for each item, so that it can be kept for the session: the planner, left to choose, now and then reads all transfers
-- to find those of a hundred items.
create or replace function ledger.charge(items ledger.charge_item[]) returns text[] language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_hashagg = off as $$
declare
  first      ledger.charge_item := items[1];
  item       ledger.charge_item;
  one_wallet boolean := true;
  wanted     bigint := 0;
  paid       int;
begin
  if cardinality(items) = 0 then return '{}'; end if;
  foreach item in array items loop
    if item.amount = 0 then return ledger.charge_in_turn(items); end if;
    wanted := wanted + item.amount;
    if item.account_id <> first.account_id or item.currency <> first.currency or item.environment <> first.environment
       or item.bucket <> first.bucket then
      one_wallet := false;
    end if;
  end loop;
  if one_wallet then
    update ledger.wallets w set balance = w.balance - wanted, updated_at = now()
     where w.bucket = first.bucket and w.account_id = first.account_id and w.environment = first.environment
       and w.currency = first.currency and wanted <= w.balance - w.held + w.overdraft;
    paid := case when found then cardinality(items) else 0 end;
  else
    with charged as (
      update ledger.wallets w set balance = w.balance - c.total, updated_at = now()
        from (select i.bucket, i.account_id, i.environment, i.currency, sum(i.amount)::bigint as total, count(*) as many
                from unnest(items) i group by 1, 2, 3, 4 order by 1, 2, 3, 4) c
       where w.bucket = c.bucket and w.account_id = c.account_id and w.environment = c.environment and w.currency = c.currency
         and c.total <= w.balance - w.held + w.overdraft
      returning c.many)
    select sum(c.many) into paid from charged c;
  end if;
  if paid is distinct from cardinality(items) then raise exception 'a wallet is short' using errcode = 'LB002'; end if;
  insert into ledger.transfers (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency)
  select i.bucket, i.account_id, i.environment, i.source_id, i.step, 0, i.transfer_id, 'wallet', i.credit, i.amount, i.currency
    from unnest(items) i;
  return array_fill('charged'::text, array[cardinality(items)]);
exception when unique_violation or sqlstate 'LB002' then
  return ledger.charge_in_turn(items);
end $$;

-- Telling ---------------------------------------------------------------------------------------------------------

-- Writes one delivery and its job for each address that an event goes to; what goes to a callback is in its job only. Gives
-- for each event null when nobody wants it, else `delivery/endpoint/version` for each delivery that its owner is to begin at
-- once, separated by commas. An ordered delivery behind another one waits for it; webhooks.finish lets it go on, and if the
-- two passed each other unseen it looks for itself after a second.
create or replace function webhooks.fan_out(items events.event_item[]) returns text[] language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  item         events.event_item;
  matches      webhooks.match[];
  match        webhooks.match;
  some_ordered boolean := false;
  behind       uuid[] := '{}';
  waits        boolean;
  jobs         work.job_item[];
  begun        text[] := array_fill(null::text, array[cardinality(items)]);
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
       and (e.filters = '{}' or webhooks.passes(e.filters, i.body)));
  if cardinality(matches) > 0 then
    insert into webhooks.deliveries (bucket, account_id, environment, id, endpoint_id, event_id, event, resource_id,
                                     status, ordered, created_at, next_attempt_at)
    select m.bucket, m.account_id, m.environment, m.id, m.endpoint_id, m.event_id, m.event, m.resource_id, 'pending',
           m.ordered, m.created_at, m.created_at
      from unnest(matches) m;
    foreach match in array matches loop
      if match.ordered then some_ordered := true; end if;
    end loop;
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
  for n in 1 .. cardinality(items) loop
    item := items[n];
    if item.callback_url is not null then
      matches := matches || row(n, webhooks.delivery_id(item.id, webhooks.no_endpoint()), webhooks.no_endpoint(), 0, false,
                                item.bucket, item.account_id, item.environment, item.id, item.type, item.resource_id,
                                item.callback_url, item.created_at, item.owner)::webhooks.match;
    end if;
  end loop;

  foreach match in array matches loop
    waits := match.id = any(behind);
    jobs := jobs || row(
      match.bucket, match.id, 'webhooks.deliver', match.account_id, match.environment, webhooks.address(match.endpoint_id),
      case when waits then null else match.owner end, case when waits then 1000 else 0 end,
      case when match.url is null then '{}' else jsonb_build_object('callback',
        webhooks.callback(match.event_id, match.event, match.resource_id, match.url, match.created_at, 0::smallint,
                          match.created_at)) end)::work.job_item;
    if not waits then
      begun[match.n] := concat_ws(',', begun[match.n],
                                  match.id || '/' || webhooks.address(match.endpoint_id) || '/' || match.version);
    end if;
  end loop;
  if jobs is not null then perform work.add(jobs); end if;
  return begun;
end $$;

-- What became of deliveries ---------------------------------------------------------------------------------------

-- Durations of attempts, as webhooks.hours counts them, from the slots they fall into. Null stands for an attempt that is
-- not counted.
create function webhooks.durations_in(slots smallint[]) returns int[] language plpgsql immutable as $$
declare
  counts int[] := array_fill(0, array[20]);
  slot   smallint;
begin
  foreach slot in array slots loop
    if slot is not null then counts[slot + 1] := counts[slot + 1] + 1; end if;
  end loop;
  return counts;
end $$;

create function webhooks.add_durations(counts int[], more int[]) returns int[] language plpgsql immutable as $$
begin
  for slot in 1 .. cardinality(more) loop
    if more[slot] > 0 then counts[slot] := counts[slot] + more[slot]; end if;
  end loop;
  return counts;
end $$;

-- Stores the outcomes of many attempts and removes or reschedules their jobs; what is to be known of a callback at its next
-- attempt is noted in the job. A success counts whoever reports it; what else a node reports counts only while the job is
-- still its own. Gives `failing` for an endpoint that has failed for so long that it is to be disabled.
create or replace function webhooks.finish(node uuid, items webhooks.finish_item[]) returns table (failing boolean)
  language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  item          webhooks.finish_item;
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
  foreach item in array items loop
    failing := coalesce(item.endpoint = any(failed), false);
    return next;
  end loop;
end $$;
