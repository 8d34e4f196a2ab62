-- What one payment costs: fewer commits for it, and those it needs shared with others.

-- Sending ---------------------------------------------------------------------------------------------------------

-- job, job_attempt and again_ms: the run of the job that sends, and after how long it is to be run again; null where it is a
-- request that sends.
alter type payments.begin_sending_item
  add attribute job uuid, add attribute job_attempt int, add attribute again_ms bigint;

-- Gives who may send: whoever says so first. The job of whoever may waits from now on for when the provider is asked how it
-- went, so that it need not be put off by a commit of its own.
create or replace function payments.begin_sending(node uuid, items payments.begin_sending_item[])
  returns table (begun boolean) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  fresh bigint[];
  jobs  work.settle_item[];
begin
  with begun as (
    update payments.attempts a
       set state = 'sending', provider_id = coalesce(a.provider_id, i.provider_id), updated_at = i.at
      from (select u.*, row_number() over () as n from unnest(items) u order by u.bucket, u.account, u.environment, u.id) i
     where a.bucket = i.bucket and a.account_id = i.account and a.environment = i.environment and a.id = i.id
       and a.state = 'planned'
    returning i.n, i.bucket, i.job, i.job_attempt, i.again_ms)
  select array_agg(b.n),
         array_agg(row(b.bucket, b.job, b.job_attempt, b.again_ms, null)::work.settle_item) filter (where b.job is not null)
    into fresh, jobs from begun b;
  if jobs is not null then perform work.settle(node, jobs); end if;
  return query select coalesce(n = any(fresh), false) from generate_subscripts(items, 1) n order by n;
end $$;

-- Deciding --------------------------------------------------------------------------------------------------------

-- Who is decided about, and when: by the account's clock and the real one. payer is a hash of the other side.
create type payments.look_item as (
  bucket smallint, account uuid, environment text, payer uuid, at timestamptz, real_at timestamptz
);

-- What is counted of the n-th of them: in which row it counts itself (`counts`: it does so now), and since when rows are added
-- up.
create type payments.look_tally as (
  n int, tally uuid, step int, start bigint, since bigint, item uuid, amount bigint, keep int, counts boolean
);

-- Where the n-th of them may stand on a blacklist.
create type payments.look_place as (n int, type text, value text);

-- Counts subjects and reads all that the decisions need, one row for each. The rows that they count themselves in are locked
-- in one order, and what is read afterwards has them as they are then, so that those who ask at the same moment see each
-- other. No two of one call count themselves in the same row: one of them would see the other, who is decided about first.
-- totals has [count, total, items, whether the own item is among them] for each tally, in their order.
create function payments.look_for_fraud_together(items payments.look_item[], tallies payments.look_tally[],
                                                 places payments.look_place[])
  returns table (version int, first_at timestamptz, totals jsonb, hits jsonb) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  insert into payments.velocity as v (bucket, account_id, environment, tally, step, start, item, count, total, expires_at)
  select items[t.n].bucket, items[t.n].account, items[t.n].environment, t.tally, t.step, t.start, t.item, 1, t.amount,
         items[t.n].real_at + t.keep * interval '1 second'
    from unnest(tallies) t where t.counts
   order by 1, 2, 3, 4, 5, 6, 7
  on conflict on constraint velocity_pkey do update set count = v.count + 1, total = v.total + excluded.total;
  -- A statement of its own, so that it sees what others committed while this one waited for the rows.
  return query
    select coalesce((select p.version from payments.fraud_policies p
                      where p.bucket = i.bucket and p.account_id = i.account and p.environment = i.environment), 0),
           (select p.first_at from payments.payers p
             where p.bucket = i.bucket and p.account_id = i.account and p.environment = i.environment and p.payer = i.payer),
           (select jsonb_agg(jsonb_build_array(f.count::text, f.total::text, f.items, f.has_item) order by a.place)
              from unnest(tallies) with ordinality as a(n, tally, step, start, since, item, amount, keep, counts, place)
             cross join lateral (
               select coalesce(sum(v.count), 0) as count, coalesce(sum(v.total), 0) as total,
                      count(distinct v.item)::int as items, coalesce(bool_or(v.item = a.item), false) as has_item
                 from payments.velocity v
                where v.bucket = i.bucket and v.account_id = i.account and v.environment = i.environment and v.tally = a.tally
                  and v.step = a.step and v.start >= a.since) f
             where a.n = i.n),
           -- One look into the index for each: as a plain join, all entries of the account may be walked through instead.
           (select jsonb_agg(jsonb_build_object('id', b.id, 'type', b.type, 'value', b.value, 'shown', b.shown,
                                                'applies_to', b.applies_to) order by b.id)
              from unnest(places) c
             cross join lateral (
               select * from payments.blacklist e
                where e.bucket = i.bucket and e.account_id = i.account and e.environment = i.environment and e.type = c.type
                  and e.value = c.value
                limit 1) b
             where c.n = i.n and (b.expires_at is null or b.expires_at > i.at))
      from unnest(items) with ordinality as i(bucket, account, environment, payer, at, real_at, n)
     order by i.n;
end $$;

-- Takes subjects out of the rows that they counted themselves in, in the same transaction: there will be nothing of them.
create function payments.uncount(items payments.look_item[], tallies payments.look_tally[]) returns void language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  update payments.velocity v set count = v.count - 1, total = v.total - t.amount
    from unnest(tallies) t
   where v.bucket = items[t.n].bucket and v.account_id = items[t.n].account and v.environment = items[t.n].environment
     and v.tally = t.tally and v.step = t.step and v.start = t.start and v.item = t.item and t.counts;
  delete from payments.velocity v using unnest(tallies) t
   where v.bucket = items[t.n].bucket and v.account_id = items[t.n].account and v.environment = items[t.n].environment
     and v.tally = t.tally and v.step = t.step and v.start = t.start and v.item = t.item and t.counts and v.count = 0;
end $$;

drop function payments.look_for_fraud(smallint, uuid, text, payments.tally[], text[], text[], uuid, timestamptz, timestamptz);
drop type payments.tally;

-- Accepting -------------------------------------------------------------------------------------------------------

-- Stores payments that nobody was asked for yet. version is null for one whose reference was used before, be it by another
-- of the same call: nothing of it is stored then. References are taken in their order.
create or replace function payments.accept(node uuid, items payments.accept_item[])
  returns table (version text, deliveries text) language plpgsql
  set plan_cache_mode = force_generic_plan as $$
declare
  stored  uuid[];
  now_is  text[];
  kept    payments.accept_item[];
  told    text[];
begin
  with fresh as (
    insert into payments.payments (bucket, account_id, environment, id, purpose, status, method, provider, amount, currency,
           fee, phone, description, reference, customer, metadata, callback_url, details, invoice_id, risk, sequence,
           request_id, expires_at, created_at, updated_at)
    select i.bucket, i.account, i.environment, i.id, i.purpose, 'pending', i.method, i.provider, i.amount, i.currency,
           i.fee, i.phone, i.description, i.reference, i.customer, i.metadata, i.callback_url, i.details, i.invoice, i.risk,
           i.sequence, i.request, i.expires_at, i.at, i.at
      from unnest(items) i order by i.bucket, i.account, i.environment, i.reference, i.id
    on conflict (bucket, account_id, environment, reference) where reference is not null do nothing
    returning payments.id, payments.xmin::text as version)
  select coalesce(array_agg(f.id), '{}'), array_agg(f.version) into stored, now_is from fresh f;
  kept := items;
  if cardinality(stored) < cardinality(items) then
    kept := array(select items[n] from generate_subscripts(items, 1) n where items[n].id = any(stored) order by n);
  end if;
  if cardinality(kept) > 0 then
    insert into payments.risk_checks (bucket, account_id, environment, id, direction, enforced, currency, amount, score,
           decision, inputs, matched, payer, watched, created_at)
    select k.bucket, k.account, k.environment, k.id, 'payment', true, k.currency, k.amount, k.score, k.decision, k.inputs,
           array(select m::uuid from jsonb_array_elements_text(k.matched) m), k.payer, k.watched, k.at
      from unnest(kept) k where k.score is not null;
    insert into payments.attempts (bucket, account_id, environment, id, payment_id, provider, country, currency, state,
           token, job, created_at, updated_at)
    select k.bucket, k.account, k.environment, k.attempt, k.id, k.provider, k.country, k.currency, 'planned', k.token,
           k.job, k.at, k.real_at
      from unnest(kept) k where k.attempt is not null;
    perform work.add(array(
      select row(k.bucket, k.job, k.lane, k.account, k.environment, null, k.owner, k.delay_ms, k.job_payload)::work.job_item
        from unnest(kept) k where k.attempt is not null));
    told := events.emit(array(
      select row(k.bucket, k.account, k.environment, k.event_id, k.event_type, k.event_resource, k.event_body,
                 k.event_request, k.event_within, k.event_callback, k.event_at, k.event_owner)::events.event_item
        from unnest(kept) k));
  end if;
  return query
    select now_is[array_position(stored, items[n].id)],
           told[array_position(array(select k.id from unnest(kept) k), items[n].id)]
      from generate_subscripts(items, 1) n order by n;
end $$;

-- Payouts ---------------------------------------------------------------------------------------------------------

-- What was decided about a payout and what that rests on, and what of it is stored with the payout.
create type payments.judged_item as (
  payout uuid, found jsonb, reviewed boolean, check_currency text, check_amount bigint, check_score smallint,
  check_decision text, check_inputs jsonb, check_matched jsonb, check_payer uuid, check_watched jsonb
);
