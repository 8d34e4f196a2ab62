-- What a verdict does: where the attempt comes to, the payment as it is then, what is posted and what is told. version says
-- which row of the payment that was made of; null: the payment stays as it is. step null: nothing is posted;
-- event null: nothing is told.
create type payments.settle_item as (
  bucket smallint, account uuid, environment text, payment uuid, attempt uuid, attempt_state text, provider_id text,
  real_at timestamptz,
  version text, status text, failure_reason text, late boolean, sequence int, reference text, provider_reference text,
  details jsonb, expires_at timestamptz, completed_at timestamptz, receipt_token bytea, receipt_url text, at timestamptz,
  step text, debit text, credit text, amount bigint, transfer uuid, fee bigint, fee_transfer uuid, currency text,
  event events.event_item
);

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
     and a.id = k.attempt and j.bucket = any(array[a.bucket]) and j.id = a.job;

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
    if (item.event).id is not null then
      if item.status in ('completed', 'failed', 'cancelled', 'expired') then
        fates := fates || row(item.bucket, item.account, item.environment, item.payment, item.status, item.at,
                              item.real_at)::payments.fate;
      end if;
      spoken := spoken || n;
      speeches := speeches || item.event;
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
