-- What a text costs. A change of a text is told under two names, `sms.status` and its own, and was written down twice: the
-- second time it is the same event but for its name and its id. It is one row now, and who reads it finds both.

-- The name of the narrower event that a row also is, and how that one's body begins, up to its time; null for most.
alter table events.events add column twin_type text, add column twin_head text;

-- The id of the narrower event: that of the wider one with its last bit turned over, so that either leads to the other, and
-- both stand at the same place in the order.
create function events.twin_of(id uuid) returns uuid language sql immutable as $$
  select (left(id::text, 35) || translate(right(id::text, 1), '0123456789abcdef', '1032547698badcfe'))::uuid
$$;

-- What a narrower event says: from the time on, the same as the wider one.
create function events.twin_body(head text, body text) returns text language sql immutable as $$
  select head || right(body, 1 - strpos(body, ',"timestamp":'))
$$;

-- As before, and narrower ones too.
create or replace function events.bodies(buckets smallint[], accounts uuid[], environments text[], ids uuid[])
  returns table (event_id uuid, body text) language plpgsql stable
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return query select e.id, e.body
    from (select distinct * from unnest(buckets, accounts, environments, ids)) as w(bucket, account, environment, id)
    join events.events e
      on e.bucket = w.bucket and e.account_id = w.account and e.environment = w.environment and e.id = w.id
  union all
  select w.id, events.twin_body(e.twin_head, e.body)
    from (select distinct * from unnest(buckets, accounts, environments, ids)) as w(bucket, account, environment, id)
    join events.events e
      on e.bucket = w.bucket and e.account_id = w.account and e.environment = w.environment and e.id = events.twin_of(w.id)
   where e.twin_type is not null;
end $$;

-- Whether one of the accounts has an endpoint that may want to hear of it.
create function webhooks.is_heard(items events.event_item[]) returns boolean language plpgsql stable
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return exists (
    select from (select distinct i.bucket, i.account_id, i.environment from unnest(items) i) a
      join webhooks.endpoints e
        on e.bucket = a.bucket and e.account_id = a.account_id and e.environment = a.environment
     where e.enabled);
end $$;

-- Writes events that are told under a second name too, and gives the deliveries of each: first of all items, then of all
-- their twins, in the same order. Where nobody listens, only the callbacks are told, who hear the wider one.
create function events.emit_twins(items events.event_item[], twin_types text[], twin_heads text[]) returns text[]
  language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  twins events.event_item[];
begin
  insert into events.events (bucket, account_id, environment, id, type, resource_id, body, request_id, twin_type, twin_head)
  select i.bucket, i.account_id, i.environment, i.id, i.type, i.resource_id, i.body, i.request_id, i.twin_type, i.twin_head
    from rows from (unnest(items), unnest(twin_types), unnest(twin_heads))
      as i(bucket, account_id, environment, id, type, resource_id, body, request_id, within, callback_url, created_at, owner,
           twin_type, twin_head);
  if not webhooks.is_heard(items) then
    return webhooks.fan_out(items) || array_fill(null::text, array[cardinality(items)]);
  end if;
  twins := array(
    select row(i.bucket, i.account_id, i.environment, events.twin_of(i.id), i.twin_type, i.resource_id,
               events.twin_body(i.twin_head, i.body), i.request_id, i.type, null, i.created_at, i.owner)::events.event_item
      from rows from (unnest(items), unnest(twin_types), unnest(twin_heads))
        as i(bucket, account_id, environment, id, type, resource_id, body, request_id, within, callback_url, created_at,
             owner, twin_type, twin_head));
  return webhooks.fan_out(items || twins);
end $$;

-- A message is changed twice soon after it is written. With half of each page left to that it stays in its page, and its
-- index entries stay as they are: of the changes of a batch, a third had not found room.
do $$
declare
  part record;
begin
  for part in select c.oid::regclass::text as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
               where i.inhparent = 'sms.messages'::regclass
  loop
    execute format('alter table %s set (fillfactor = 50)', part.name);
  end loop;
end $$;

-- The narrower event has no id of its own.
alter type sms.change drop attribute narrow_id;
alter type sms.accepted_item drop attribute narrow_id;
alter type sms.failed_item drop attribute narrow_id;
alter type sms.receipt_item drop attribute narrow_id;

create or replace function sms.tell(changes sms.change[], out wide text[], out narrow text[]) language plpgsql as $$
declare
  many int := cardinality(changes);
  told text[];
begin
  if many = 0 then return; end if;
  told := events.emit_twins(
    array(select row(c.bucket, c.account, c.environment, c.event_id, c.event_type, c.event_resource, c.event_body,
                     c.event_request, c.event_within, c.event_callback, c.event_at, c.event_owner)::events.event_item
            from unnest(changes) c),
    array(select c.narrow_type from unnest(changes) c), array(select c.narrow_head from unnest(changes) c));
  wide := told[1 : many];
  narrow := told[many + 1 : 2 * many];
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
               items[n].event_callback, items[n].event_at, items[n].event_owner, items[n].narrow_type,
               items[n].narrow_head)::sms.change
      from unnest(fresh) n order by n));
  return query
    select n = any(fresh), told.wide[array_position(fresh, n)], told.narrow[array_position(fresh, n)]
      from generate_subscripts(items, 1) n order by n;
end $$;

-- As before, in fewer statements: what a batch changes does not depend on one another.
create or replace function sms.accepted(node uuid, items sms.accepted_item[])
  returns table (changed boolean, wide text, narrow text, early text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  sent  uuid[];
  held  jsonb;
  fresh int[];
  news  sms.accepted_item[] := items;
  many  int;
  told  text[];
begin
  with changed as (
    update sms.messages m set status = 'sent', sent_at = i.at, route = i.carrier, under_way = false, attempts = i.attempts
      from unnest(items) i
     where m.bucket = i.bucket and m.account_id = i.account and m.environment = i.environment and m.id = i.id
       and m.status = 'queued'
    returning m.id
  ), over as (
    delete from work.jobs j using unnest(items) i where j.bucket = i.bucket and j.id = i.job
  ), written as (
    insert into sms.carrier_ids as c (carrier, id, bucket, account_id, environment, message_id, part, parts)
    select distinct on (i.carrier, p.id) i.carrier, p.id, i.bucket, i.account, i.environment, i.id, p.part - 1,
           jsonb_array_length(i.carrier_ids)
      from unnest(items) i cross join lateral jsonb_array_elements_text(i.carrier_ids) with ordinality as p(id, part)
     order by i.carrier, p.id
    on conflict (carrier, id) do update
      set bucket = excluded.bucket, account_id = excluded.account_id, environment = excluded.environment,
          message_id = excluded.message_id, part = excluded.part, parts = excluded.parts
    returning c.id, c.message_id, c.early)
  select (select array_agg(c.id) from changed c),
         (select jsonb_object_agg(e.message_id, e.ids)
            from (select w.message_id, jsonb_agg(w.id) as ids from written w where w.early is not null group by 1) e)
    into sent, held;
  if cardinality(sent) = cardinality(items) then
    many := cardinality(items);
  else
    fresh := array(select min(n) from generate_subscripts(items, 1) n where items[n].id = any(sent) group by items[n].id order by 1);
    news := array(select items[n] from unnest(fresh) n order by n);
    many := cardinality(fresh);
    -- One that goes out again, because it could not be delivered, has its new carrier.
    update sms.messages m set route = i.carrier, under_way = false
      from unnest(items) i
     where m.bucket = i.bucket and m.account_id = i.account and m.environment = i.environment and m.id = i.id
       and m.status = 'sent' and m.job = i.job and m.route is null;
  end if;

  if many > 0 then
    told := events.emit_twins(
      array(select row(i.bucket, i.account, i.environment, i.event_id, i.event_type, i.event_resource, i.event_body,
                       i.event_request, i.event_within, i.event_callback, i.event_at, i.event_owner)::events.event_item
              from unnest(news) i),
      array(select i.narrow_type from unnest(news) i), array(select i.narrow_head from unnest(news) i));
  end if;
  if fresh is null then
    return query select true, told[n], told[many + n], held ->> items[n].id::text
      from generate_subscripts(items, 1) n order by n;
  else
    return query
      select n = any(fresh), told[array_position(fresh, n)], told[many + array_position(fresh, n)], held ->> items[n].id::text
        from generate_subscripts(items, 1) n order by n;
  end if;
end $$;

-- As before, but that the events are handed on as they are.
create or replace function sms.receipt(node uuid, items sms.receipt_item[])
  returns table (changed boolean, wide text, narrow text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  fresh int[];
  news  sms.receipt_item[] := items;
  many  int;
  told  text[];
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

  many := cardinality(fresh);
  if many < cardinality(items) then
    news := array(select items[n] from unnest(fresh) n order by n);
  end if;
  if many > 0 then
    told := events.emit_twins(
      array(select row(i.bucket, i.account, i.environment, i.event_id, i.event_type, i.event_resource, i.event_body,
                       i.event_request, i.event_within, i.event_callback, i.event_at, i.event_owner)::events.event_item
              from unnest(news) i),
      array(select i.narrow_type from unnest(news) i), array(select i.narrow_head from unnest(news) i));
  end if;
  return query
    select n = any(fresh), told[array_position(fresh, n)], told[many + array_position(fresh, n)]
      from generate_subscripts(items, 1) n order by n;
end $$;

-- As before, but what every message of a batch has in common (nobody refused, no references, no keys) is asked once.
create or replace function sms.accept(items sms.submit_item[], p_charge boolean) returns sms.verdict[] language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  many     int := cardinality(items);
  verdicts text[];
  existing uuid[] := array_fill(null::uuid, array[many]);
  referred boolean;
  audited  boolean;
  named    uuid[];
  paying   int[];
  charged  text[];
  taken    sms.submit_item[] := items;
begin
  verdicts := array(
    select case when i.refusal is not null or exists (
             select from sms.opt_outs o
              where o.bucket = i.bucket and o.account_id = i.account and o.environment = i.environment
                and o.phone = i.recipient and o.sender in ('*', i.sender)) then 'opted_out' end
      from unnest(items) i);
  select bool_or(i.reference is not null), bool_or(i.audit is not null) into referred, audited from unnest(items) i;
  if referred then
    with made as (
      insert into sms.references (bucket, account_id, environment, reference, message_id)
      select items[n].bucket, items[n].account, items[n].environment, items[n].reference, items[n].id
        from generate_subscripts(items, 1) n
       where items[n].reference is not null and (verdicts[n] is null or items[n].batch is not null)
       order by 1, 2, 3, 4, n
      on conflict do nothing returning message_id)
    select array_agg(m.message_id) into named from made m;
    -- A statement of its own, so that it sees what another node committed meanwhile.
    select array_agg(r.message_id order by n) into existing
      from generate_subscripts(items, 1) n
      left join sms.references r
        on r.bucket = items[n].bucket and r.account_id = items[n].account and r.environment = items[n].environment
       and r.reference = items[n].reference and not items[n].id = any(coalesce(named, '{}'));
    verdicts := array(select case when existing[n] is null then verdicts[n] else 'duplicate' end
                        from generate_subscripts(items, 1) n order by n);
  end if;

  if array_remove(verdicts, null) = '{}' then
    if p_charge then
      charged := ledger.charge(array(
        select row(i.bucket, i.account, i.environment, i.currency, i.cost, i.id, 'charge', i.transfer,
                   'revenue:sms')::ledger.charge_item from unnest(items) i));
      verdicts := array(select case c.verdict when 'insufficient' then 'insufficient' else 'accepted' end
                          from unnest(charged) with ordinality as c(verdict, n) order by c.n);
    else
      verdicts := array_fill('accepted'::text, array[many]);
    end if;
  else
    paying := array(select n from generate_subscripts(items, 1) n where verdicts[n] is null order by n);
    if p_charge and cardinality(paying) > 0 then
      charged := ledger.charge(array(
        select row(items[n].bucket, items[n].account, items[n].environment, items[n].currency, items[n].cost, items[n].id,
                   'charge', items[n].transfer, 'revenue:sms')::ledger.charge_item
          from unnest(paying) with ordinality as p(n, ord) order by p.ord));
    end if;
    verdicts := array(select coalesce(v.verdict, case charged[array_position(paying, v.n::int)]
                                                   when 'insufficient' then 'insufficient' else 'accepted' end)
                        from unnest(verdicts) with ordinality as v(verdict, n) order by v.n);
  end if;
  if referred and 'insufficient' = any(charged) then
    delete from sms.references r using generate_subscripts(items, 1) n
     where verdicts[n] = 'insufficient' and r.bucket = items[n].bucket and r.account_id = items[n].account
       and r.environment = items[n].environment and r.reference = items[n].reference and r.message_id = items[n].id;
  end if;

  if not 'accepted' = all(verdicts) then
    taken := array(select items[n] from generate_subscripts(items, 1) n where verdicts[n] = 'accepted' order by n);
    -- Those of a batch that were refused are kept as failed ones.
    insert into sms.messages
           (bucket, account_id, environment, id, direction, status, recipient, sender, body, encoding, segments, unit_price,
            cost, currency, country, network, type, validity, metadata, reference, callback_url, batch_id, batch_index,
            scheduled_at, created_at, failed_at, error_code, request_id)
    select i.bucket, i.account, i.environment, i.id, 'outbound', 'failed', i.recipient, i.sender, i.body, i.encoding,
           i.segments, i.unit_price, 0, i.currency, i.country, i.network, i.type, i.validity, coalesce(i.metadata, '{}'),
           i.reference, i.callback_url, i.batch, i.batch_index, i.scheduled_at, i.created_at, i.created_at, 'OPTED_OUT',
           i.request
      from unnest(array(select items[n] from generate_subscripts(items, 1) n
                         where verdicts[n] = 'opted_out' and items[n].batch is not null)) i;
  end if;
  if cardinality(taken) > 0 then
    insert into sms.messages
           (bucket, account_id, environment, id, direction, status, recipient, sender, body, encoding, segments, unit_price,
            cost, currency, country, network, type, validity, metadata, reference, callback_url, batch_id, batch_index,
            scheduled_at, created_at, request_id, job)
    select i.bucket, i.account, i.environment, i.id, 'outbound', 'queued', i.recipient, i.sender, i.body, i.encoding,
           i.segments, i.unit_price, i.cost, i.currency, i.country, i.network, i.type, i.validity,
           coalesce(i.metadata, '{}'), i.reference, i.callback_url, i.batch, i.batch_index, i.scheduled_at, i.created_at,
           i.request, i.job
      from unnest(taken) i;
    perform work.add(array(
      select row(i.bucket, i.job, i.lane, i.account, i.environment, null, i.owner, i.delay_ms, i.job_payload)::work.job_item
        from unnest(taken) i));
    if audited then
      perform platform.record(array(
        select row(i.bucket, i.account, i.environment, i.audit, i.actor, 'sms.send', 'sms:' || i.id, null, null, i.ip,
                   i.request)::platform.audit_item
          from unnest(taken) i where i.audit is not null));
    end if;
  end if;
  return array(select row(verdicts[n], existing[n])::sms.verdict from generate_subscripts(items, 1) n order by n);
end $$;

create or replace function sms.submit(node uuid, items sms.submit_item[])
  returns table (seen text, verdict text, existing uuid) language plpgsql
  set plan_cache_mode = force_generic_plan as $$
declare
  keys     platform.idempotency_item[];
  known    text[];
  fresh    int[];
  wanted   sms.submit_item[] := items;
  verdicts sms.verdict[];
begin
  if not exists (select from unnest(items) i where i.key is not null) then
    return query select null::text, v.verdict, v.existing
      from unnest(sms.accept(items, true)) with ordinality as v(verdict, existing, n) order by v.n;
    return;
  end if;
  keys := array(select row(i.bucket, i.account, i.environment, i.key, i.request_hash, i.reply_status, i.reply_body)::platform.idempotency_item
                  from unnest(items) i);
  known := platform.claim_keys(keys);
  fresh := array(select n from generate_subscripts(items, 1) n where known[n] is null order by n);
  if cardinality(fresh) < cardinality(items) then
    wanted := array(select items[f.n] from unnest(fresh) with ordinality as f(n, ord) order by f.ord);
    keys := array(select keys[f.n] from unnest(fresh) with ordinality as f(n, ord) order by f.ord);
  end if;
  if cardinality(wanted) > 0 then
    verdicts := sms.accept(wanted, true);
    if exists (select from unnest(verdicts) v where v.verdict <> 'accepted') then
      perform platform.free_keys(array(
        select keys[n] from generate_subscripts(wanted, 1) n where verdicts[n].verdict <> 'accepted' and keys[n].key is not null));
    end if;
  end if;
  return query select known[n], verdicts[array_position(fresh, n)].verdict, verdicts[array_position(fresh, n)].existing
    from generate_subscripts(items, 1) n order by n;
end $$;
