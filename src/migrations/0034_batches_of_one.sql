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

-- The id of a delivery follows from the event and the endpoint, so that it is the same however often it is made. It
-- keeps the event's time and counter: deliveries sort as their events do.
create or replace function webhooks.delivery_id(event uuid, endpoint uuid) returns uuid language sql immutable as $$
  select (left(event::text, 18) || '-8' || left(md5(event::text || endpoint::text), 15))::uuid
$$;

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
  delivery     uuid;
  some_ordered boolean := false;
  behind       uuid[];
  waits        boolean := false;
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
  end if;
  foreach match in array matches loop
    if match.ordered then some_ordered := true; end if;
  end loop;
  if some_ordered then
    behind := array(
      select m.id from unnest(matches) m
       where m.ordered and exists (
         select from webhooks.deliveries d
          where d.bucket = m.bucket and d.account_id = m.account_id and d.environment = m.environment
            and d.endpoint_id = m.endpoint_id and d.ordered and d.resource_id = m.resource_id and d.id < m.id
            and d.status in ('pending', 'delivering')));
  end if;

  foreach match in array matches loop
    if some_ordered then waits := match.id = any(behind); end if;
    if waits then
      jobs := jobs || row(match.bucket, match.id, 'webhooks.deliver', match.account_id, match.environment,
                          match.endpoint_id, null, 1000, '{}')::work.job_item;
    else
      jobs := jobs || row(match.bucket, match.id, 'webhooks.deliver', match.account_id, match.environment,
                          match.endpoint_id, match.owner, 0, '{}')::work.job_item;
      begun[match.n] := concat_ws(',', begun[match.n], match.id || '/' || match.endpoint_id || '/' || match.version);
    end if;
  end loop;
  for n in 1 .. cardinality(items) loop
    item := items[n];
    if item.callback_url is not null then
      delivery := webhooks.delivery_id(item.id, webhooks.no_endpoint());
      jobs := jobs || row(item.bucket, delivery, 'webhooks.deliver', item.account_id, item.environment, 'callback', item.owner,
                          0, jsonb_build_object('callback', webhooks.callback(item.id, item.type, item.resource_id,
                            item.callback_url, item.created_at, 0::smallint, item.created_at)))::work.job_item;
      begun[n] := concat_ws(',', begun[n], delivery || '/callback/0');
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
                     join work.jobs j on j.bucket = i.bucket and j.id = i.id and j.attempt = i.attempt);
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

-- Payments --------------------------------------------------------------------------------------------------------

-- Counts what became of payments or payouts, as their checks say it should be.
create or replace function payments.count_fates(fates payments.fate[]) returns void language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  fate           payments.fate;
  some_completed boolean := false;
  oldest         uuid;
  newest         uuid;
begin
  foreach fate in array fates loop
    if fate.status = 'completed' then some_completed := true; end if;
    oldest := least(oldest, fate.id);
    newest := greatest(newest, fate.id);
  end loop;
  if some_completed then
    insert into payments.payers (bucket, account_id, environment, payer, first_at)
    select c.bucket, c.account_id, c.environment, c.payer, min(f.at)
      from unnest(fates) f
      join payments.risk_checks c
        on c.bucket = f.bucket and c.account_id = f.account_id and c.environment = f.environment and c.id = f.id
       and c.id >= oldest and c.id <= newest
     where f.status = 'completed' and c.payer is not null
     group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict do nothing;
  end if;
  if oldest is not null then
    insert into payments.velocity as v (bucket, account_id, environment, tally, step, start, item, count, total, expires_at)
    select c.bucket, c.account_id, c.environment, w.tally, w.step,
           floor(extract(epoch from f.at) / w.step)::bigint * w.step, w.item, count(*), sum(w.amount),
           max(f.real_at + w.keep * interval '1 second')
      from unnest(fates) f
      join payments.risk_checks c
        on c.bucket = f.bucket and c.account_id = f.account_id and c.environment = f.environment and c.id = f.id
       and c.id >= oldest and c.id <= newest
     cross join lateral jsonb_to_recordset(c.watched)
        as w(tally uuid, step int, item uuid, amount numeric, keep int, statuses text[])
     where f.status = any(w.statuses)
     group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7
    on conflict (bucket, account_id, environment, tally, step, start, item)
      do update set count = v.count + excluded.count, total = v.total + excluded.total;
  end if;
end $$;

-- Stores what verdicts do to payments. One whose payment was changed since it was read is not stored at all: whoever asked
-- looks again. version is that of the payment after its change. Payments are taken in the order of their key, then attempts,
-- then wallets.
create or replace function payments.settle(node uuid, items payments.settle_item[])
  returns table (stored boolean, version text, deliveries text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  item     payments.settle_item;
  won      int[];
  now_is   text[];
  kept     payments.settle_item[] := items;
  incomes  ledger.income_item[];
  fates    payments.fate[];
  spoken   int[];
  speeches events.event_item[];
  told     text[];
begin
  with changed as (
    update payments.payments p
       set status = i.status, failure_reason = i.failure_reason, late = i.late, sequence = i.sequence,
           reference = i.reference, provider_reference = i.provider_reference, details = i.details,
           expires_at = i.expires_at, completed_at = i.completed_at, receipt_url = i.receipt_url,
           receipt_token = coalesce(i.receipt_token, p.receipt_token), updated_at = i.at
      from (select u.*, row_number() over () as n from unnest(items) u order by u.bucket, u.account, u.environment, u.payment) i
     where p.bucket = i.bucket and p.account_id = i.account and p.environment = i.environment and p.id = i.payment
       and p.xmin::text = i.version
    returning i.n::int, p.xmin::text as version)
  select coalesce(array_agg(c.n), '{}'), array_agg(c.version) into won, now_is from changed c;
  if cardinality(won) < cardinality(items) then
    kept := array(select items[n] from generate_subscripts(items, 1) n where items[n].version is null or n = any(won) order by n);
  end if;

  -- Of several verdicts about one attempt the farthest counts, and what the provider calls it is kept whoever brings it.
  update payments.attempts a
     set state = case when payments.progress_of(a.state) < i.progress then i.state else a.state end,
         provider_id = coalesce(a.provider_id, i.provider_id), updated_at = i.real_at
    from (select k.bucket, k.account, k.environment, k.attempt, max(payments.progress_of(k.attempt_state)) as progress,
                 (array_agg(k.attempt_state order by payments.progress_of(k.attempt_state) desc))[1] as state,
                 max(k.provider_id) as provider_id, max(k.real_at) as real_at
            from unnest(kept) k where k.attempt_state is not null group by 1, 2, 3, 4 order by 1, 2, 3, 4) i
   where a.bucket = i.bucket and a.account_id = i.account and a.environment = i.environment and a.id = i.attempt
     and (payments.progress_of(a.state) < i.progress or (a.provider_id is null and i.provider_id is not null));
  delete from work.jobs j using unnest(kept) k, payments.attempts a
   where k.attempt_state = 'final' and a.bucket = k.bucket and a.account_id = k.account and a.environment = k.environment
     and a.id = k.attempt and j.bucket = a.bucket and j.id = a.job;

  for n in 1 .. cardinality(items) loop
    continue when not n = any(won);
    item := items[n];
    if item.step is not null and item.amount > 0 then
      incomes := incomes || row(item.bucket, item.account, item.environment, item.payment, item.step, 0, item.transfer,
                                item.debit, item.credit, item.amount, item.currency)::ledger.income_item;
    end if;
    if item.step is not null and item.fee > 0 then
      incomes := incomes || row(item.bucket, item.account, item.environment, item.payment, item.step, 1, item.fee_transfer,
                                item.debit, 'revenue:payment_fees', item.fee, item.currency)::ledger.income_item;
    end if;
    if item.event_id is not null then
      if item.status in ('completed', 'failed', 'cancelled', 'expired') then
        fates := fates || row(item.bucket, item.account, item.environment, item.payment, item.status, item.at,
                              item.real_at)::payments.fate;
      end if;
      spoken := spoken || n;
      speeches := speeches || row(item.bucket, item.account, item.environment, item.event_id, item.event_type,
                                  item.event_resource, item.event_body, item.event_request, item.event_within,
                                  item.event_callback, item.event_at, item.event_owner)::events.event_item;
    end if;
  end loop;
  if incomes is not null then perform ledger.receive(incomes); end if;
  if fates is not null then perform payments.count_fates(fates); end if;
  if speeches is not null then told := events.emit(speeches); end if;
  for n in 1 .. cardinality(items) loop
    stored := items[n].version is null or n = any(won);
    version := now_is[array_position(won, n)];
    deliveries := told[array_position(spoken, n)];
    return next;
  end loop;
end $$;
