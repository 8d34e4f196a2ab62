-- The hot commits of payments: accepted, being sent, settled, and what is counted on the way. Each is one call that takes
-- many rows; what it does to one of them does not depend on the others.

-- Which job looks after an attempt: it goes when the attempt is over.
alter table payments.attempts add column job uuid;

-- What is known of a success before it is settled. said_paid_at: the provider said so when it was asked, and not how much;
-- called_amount and called_receipt: its callback said how much, and it could not be confirmed at that moment.
alter table payments.attempts
  add column said_paid_at timestamptz,
  add column called_amount bigint,
  add column called_receipt text;

-- Without the columns that lead the primary key: with them the planner believes this index as good as the key for finding one
-- attempt, and reads all of the tenant's with it.
drop index payments.attempts_of_payment;
create index attempts_of_payment on payments.attempts (payment_id);

-- Money that came -------------------------------------------------------------------------------------------------

-- A leg of a step that takes nothing out of a wallet, so that it cannot be refused.
create type ledger.income_item as (
  bucket smallint, account_id uuid, environment text, source_id uuid, step text, leg smallint, transfer_id uuid,
  debit text, credit text, amount bigint, currency text
);

-- Posts such legs, each once: those that stand there already move nothing. A wallet that is named for the first time is
-- made. Wallets are taken in the order of their key, as everywhere.
create function ledger.receive(items ledger.income_item[]) returns void language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_hashagg = off as $$
begin
  with posted as (
    insert into ledger.transfers (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency)
    select i.bucket, i.account_id, i.environment, i.source_id, i.step, i.leg, i.transfer_id, i.debit, i.credit, i.amount,
           i.currency
      from unnest(items) i
    on conflict do nothing
    returning bucket, account_id, environment, credit, amount, currency)
  insert into ledger.wallets as w (bucket, account_id, environment, currency, balance)
  select p.bucket, p.account_id, p.environment, p.currency, sum(p.amount)::bigint
    from posted p where p.credit = 'wallet' group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (bucket, account_id, environment, currency)
    do update set balance = w.balance + excluded.balance, updated_at = now();
end $$;

-- Deciding --------------------------------------------------------------------------------------------------------

-- What is counted of a subject: in which row it counts itself (`counts`: it does so now), and since when rows are added up.
create type payments.tally as (
  tally uuid, step int, start bigint, since bigint, item uuid, amount bigint, keep int, counts boolean
);

-- Counts a subject and reads all that the decision needs. The rows that it counts itself in are locked in one order, and
-- what is read afterwards has them as they are then, so that those who ask at the same moment see each other. totals has
-- [count, total, items, whether the own item is among them] for each tally, in their order.
create function payments.look_for_fraud(p_bucket smallint, p_account uuid, p_environment text, p_tallies payments.tally[],
                                        p_types text[], p_values text[], p_payer uuid, p_at timestamptz, p_real_at timestamptz)
  returns table (version int, first_at timestamptz, totals jsonb, hits jsonb) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  insert into payments.velocity as v (bucket, account_id, environment, tally, step, start, item, count, total, expires_at)
  select p_bucket, p_account, p_environment, w.tally, w.step, w.start, w.item, 1, w.amount,
         p_real_at + w.keep * interval '1 second'
    from unnest(p_tallies) w where w.counts
   order by w.tally, w.step, w.start, w.item
  on conflict on constraint velocity_pkey do update set count = v.count + 1, total = v.total + excluded.total;
  -- A statement of its own, so that it sees what others committed while this one waited for the rows.
  totals := (
    select jsonb_agg(jsonb_build_array(f.count::text, f.total::text, f.items, f.has_item) order by a.n)
      from unnest(p_tallies) with ordinality as a(tally, step, start, since, item, amount, keep, counts, n)
     cross join lateral (
       select coalesce(sum(v.count), 0) as count, coalesce(sum(v.total), 0) as total, count(distinct v.item)::int as items,
              coalesce(bool_or(v.item = a.item), false) as has_item
         from payments.velocity v
        where v.bucket = p_bucket and v.account_id = p_account and v.environment = p_environment and v.tally = a.tally
          and v.step = a.step and v.start >= a.since) f);
  version := coalesce((select p.version from payments.fraud_policies p
                        where p.bucket = p_bucket and p.account_id = p_account and p.environment = p_environment), 0);
  first_at := (select p.first_at from payments.payers p
                where p.bucket = p_bucket and p.account_id = p_account and p.environment = p_environment
                  and p.payer = p_payer);
  if cardinality(p_types) > 0 then
    -- One look into the index for each: as a plain join, all entries of the account may be walked through instead.
    hits := (
      select jsonb_agg(jsonb_build_object('id', b.id, 'type', b.type, 'value', b.value, 'shown', b.shown,
                                          'applies_to', b.applies_to) order by b.id)
        from unnest(p_types, p_values) as c(type, value)
       cross join lateral (
         select * from payments.blacklist e
          where e.bucket = p_bucket and e.account_id = p_account and e.environment = p_environment and e.type = c.type
            and e.value = c.value
          limit 1) b
       where b.expires_at is null or b.expires_at > p_at);
  end if;
  return next;
end $$;

-- What became of a payment or payout, by the account's clock and the real one.
create type payments.fate as (
  bucket smallint, account_id uuid, environment text, id uuid, status text, at timestamptz, real_at timestamptz
);

-- Counts what became of payments or payouts, as their checks say it should be.
create function payments.count_fates(fates payments.fate[]) returns void language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  insert into payments.payers (bucket, account_id, environment, payer, first_at)
  select c.bucket, c.account_id, c.environment, c.payer, min(f.at)
    from unnest(fates) f
    join payments.risk_checks c
      on c.bucket = f.bucket and c.account_id = f.account_id and c.environment = f.environment and c.id = f.id
   where f.status = 'completed' and c.payer is not null
   group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict do nothing;
  insert into payments.velocity as v (bucket, account_id, environment, tally, step, start, item, count, total, expires_at)
  select c.bucket, c.account_id, c.environment, w.tally, w.step,
         floor(extract(epoch from f.at) / w.step)::bigint * w.step, w.item, count(*), sum(w.amount),
         max(f.real_at + w.keep * interval '1 second')
    from unnest(fates) f
    join payments.risk_checks c
      on c.bucket = f.bucket and c.account_id = f.account_id and c.environment = f.environment and c.id = f.id
   cross join lateral jsonb_to_recordset(c.watched)
      as w(tally uuid, step int, item uuid, amount numeric, keep int, statuses text[])
   where f.status = any(w.statuses)
   group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7
  on conflict (bucket, account_id, environment, tally, step, start, item)
    do update set count = v.count + excluded.count, total = v.total + excluded.total;
end $$;

-- Accepting -------------------------------------------------------------------------------------------------------

-- A payment, with what was decided about it (score null: nothing was), the attempt to collect it and the job that looks
-- after that (attempt null: nobody is to be asked), and what is told of it.
create type payments.accept_item as (
  bucket smallint, account uuid, environment text, id uuid, purpose text, method text, provider text, amount bigint,
  currency text, fee bigint, phone text, description text, reference text, customer jsonb, metadata jsonb,
  callback_url text, details jsonb, invoice uuid, risk jsonb, sequence int, request text, expires_at timestamptz,
  at timestamptz, real_at timestamptz,
  score smallint, decision text, inputs jsonb, matched jsonb, payer uuid, watched jsonb,
  attempt uuid, country text, token bytea, job uuid, lane text, owner uuid, delay_ms bigint, job_payload jsonb,
  event_id uuid, event_type text, event_resource text, event_body text, event_request text, event_within text,
  event_callback text, event_at timestamptz, event_owner uuid
);

-- Stores payments that nobody was asked for yet. version is null for one whose reference was used before: nothing of it is
-- stored then.
create function payments.accept(node uuid, items payments.accept_item[])
  returns table (version text, deliveries text) language plpgsql
  set plan_cache_mode = force_generic_plan as $$
declare
  i payments.accept_item;
begin
  foreach i in array items loop
    version := null;
    deliveries := null;
    insert into payments.payments (bucket, account_id, environment, id, purpose, status, method, provider, amount, currency,
           fee, phone, description, reference, customer, metadata, callback_url, details, invoice_id, risk, sequence,
           request_id, expires_at, created_at, updated_at)
    values (i.bucket, i.account, i.environment, i.id, i.purpose, 'pending', i.method, i.provider, i.amount, i.currency,
           i.fee, i.phone, i.description, i.reference, i.customer, i.metadata, i.callback_url, i.details, i.invoice, i.risk,
           i.sequence, i.request, i.expires_at, i.at, i.at)
    on conflict (bucket, account_id, environment, reference) where reference is not null do nothing
    returning payments.xmin::text into version;
    if version is not null then
      if i.score is not null then
        insert into payments.risk_checks (bucket, account_id, environment, id, direction, enforced, currency, amount, score,
               decision, inputs, matched, payer, watched, created_at)
        values (i.bucket, i.account, i.environment, i.id, 'payment', true, i.currency, i.amount, i.score, i.decision, i.inputs,
               array(select m::uuid from jsonb_array_elements_text(i.matched) m), i.payer, i.watched, i.at);
      end if;
      if i.attempt is not null then
        insert into payments.attempts (bucket, account_id, environment, id, payment_id, provider, country, currency, state,
               token, job, created_at, updated_at)
        values (i.bucket, i.account, i.environment, i.attempt, i.id, i.provider, i.country, i.currency, 'planned', i.token,
               i.job, i.at, i.real_at);
        perform work.add(array[row(i.bucket, i.job, i.lane, i.account, i.environment, null, i.owner, i.delay_ms,
                                   i.job_payload)::work.job_item]);
      end if;
      deliveries := (events.emit(array[row(i.bucket, i.account, i.environment, i.event_id, i.event_type, i.event_resource,
                                           i.event_body, i.event_request, i.event_within, i.event_callback, i.event_at,
                                           i.event_owner)::events.event_item]))[1];
    end if;
    return next;
  end loop;
end $$;

-- Sending ---------------------------------------------------------------------------------------------------------

-- An attempt that is about to be sent, and as what the provider will know it, where that is known before.
create type payments.begin_sending_item as (
  bucket smallint, account uuid, environment text, id uuid, provider_id text, at timestamptz
);

-- Gives who may send: whoever says so first.
create function payments.begin_sending(node uuid, items payments.begin_sending_item[]) returns table (begun boolean)
  language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  fresh bigint[];
begin
  with begun as (
    update payments.attempts a
       set state = 'sending', provider_id = coalesce(a.provider_id, i.provider_id), updated_at = i.at
      from (select * from unnest(items) with ordinality as u(bucket, account, environment, id, provider_id, at, n)
             order by u.bucket, u.account, u.environment, u.id) i
     where a.bucket = i.bucket and a.account_id = i.account and a.environment = i.environment and a.id = i.id
       and a.state = 'planned'
    returning i.n)
  select array_agg(b.n) into fresh from begun b;
  return query select coalesce(n = any(fresh), false) from generate_subscripts(items, 1) n order by n;
end $$;

-- Settling --------------------------------------------------------------------------------------------------------

-- How far an attempt has come. It never goes back.
create function payments.progress_of(state text) returns int language sql immutable as $$
  select array_position(array['planned', 'sending', 'unknown', 'accepted', 'final'], state)
$$;

-- What a verdict does: where the attempt comes to, the payment as it is then, what is posted and what is told. version says
-- which row of the payment that was made of; null: the payment stays as it is. step null: nothing is posted.
create type payments.settle_item as (
  bucket smallint, account uuid, environment text, payment uuid, attempt uuid, attempt_state text, provider_id text,
  real_at timestamptz,
  version text, status text, failure_reason text, late boolean, sequence int, reference text, provider_reference text,
  details jsonb, expires_at timestamptz, completed_at timestamptz, receipt_token bytea, receipt_url text, at timestamptz,
  step text, debit text, credit text, amount bigint, transfer uuid, fee bigint, fee_transfer uuid, currency text,
  event_id uuid, event_type text, event_resource text, event_body text, event_request text, event_within text,
  event_callback text, event_at timestamptz, event_owner uuid
);

-- Stores what verdicts do to payments. One whose payment was changed since it was read is not stored at all: whoever asked
-- looks again. version is that of the payment after its change. Payments are taken in the order of their key, then attempts,
-- then wallets.
create function payments.settle(node uuid, items payments.settle_item[])
  returns table (stored boolean, version text, deliveries text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  won    int[];
  now_is text[];
  kept   payments.settle_item[];
  moved  payments.settle_item[];
  spoken int[];
  told   text[];
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
  kept := array(select items[n] from generate_subscripts(items, 1) n where items[n].version is null or n = any(won) order by n);
  moved := array(select items[n] from generate_subscripts(items, 1) n where n = any(won) order by n);

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

  if exists (select from unnest(moved) m where m.step is not null) then
    perform ledger.receive(array(
      select row(m.bucket, m.account, m.environment, m.payment, m.step, l.leg, l.transfer, m.debit, l.credit, l.amount,
                 m.currency)::ledger.income_item
        from unnest(moved) m
       cross join lateral (values (0::smallint, m.transfer, m.credit, m.amount),
                                  (1::smallint, m.fee_transfer, 'revenue:payment_fees', m.fee)) as l(leg, transfer, credit, amount)
       where m.step is not null and l.amount > 0));
  end if;
  perform payments.count_fates(array(
    select row(m.bucket, m.account, m.environment, m.payment, m.status, m.at, m.real_at)::payments.fate
      from unnest(moved) m where m.status in ('completed', 'failed', 'cancelled', 'expired') and m.event_id is not null));
  spoken := array(select n from generate_subscripts(items, 1) n where n = any(won) and items[n].event_id is not null order by n);
  if cardinality(spoken) > 0 then
    told := events.emit(array(
      select row(items[n].bucket, items[n].account, items[n].environment, items[n].event_id, items[n].event_type,
                 items[n].event_resource, items[n].event_body, items[n].event_request, items[n].event_within,
                 items[n].event_callback, items[n].event_at, items[n].event_owner)::events.event_item
        from unnest(spoken) n order by n));
  end if;
  return query
    select items[n].version is null or n = any(won), now_is[array_position(won, n)], told[array_position(spoken, n)]
      from generate_subscripts(items, 1) n order by n;
end $$;
