-- A payment, with what was decided about it (score null: nothing was), the attempt to collect it and the job that looks
-- after that (attempt null: nobody is to be asked), and what is told of it.
create type payments.accept_item as (
  bucket smallint, account uuid, environment text, id uuid, purpose text, method text, provider text, amount bigint,
  currency text, fee bigint, phone text, description text, reference text, customer jsonb, metadata jsonb,
  callback_url text, details jsonb, invoice uuid, risk jsonb, sequence int, request text, expires_at timestamptz,
  at timestamptz, real_at timestamptz,
  score smallint, decision text, inputs jsonb, matched jsonb, payer uuid, watched jsonb,
  attempt uuid, country text, token bytea, job work.job_item, event events.event_item
);

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
           (k.job).id, k.at, k.real_at
      from unnest(kept) k where k.attempt is not null;
    perform work.add(array(select k.job from unnest(kept) k where k.attempt is not null));
    told := events.emit(array(select k.event from unnest(kept) k));
  end if;
  return query
    select now_is[array_position(stored, items[n].id)],
           told[array_position(array(select k.id from unnest(kept) k), items[n].id)]
      from generate_subscripts(items, 1) n order by n;
end $$;
