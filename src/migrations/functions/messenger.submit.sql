create type messenger.submit_item as (
  bucket smallint, account uuid, environment text, id uuid, type text, recipient text, sender text, content jsonb,
  context_id text, template text, language text, metadata jsonb, reference text, callback_url text, fallback jsonb, unit text, cost bigint,
  currency text, country text, clock_offset_ms bigint, created_at timestamptz, needs_window boolean, request text,
  charge ledger.charge_item, job work.job_item, timer work.job_item, audit platform.audit_item,
  key platform.idempotency_item
);

-- Accepts many messages in one commit: the window and the opt-out of each recipient, keys, charges, rows, jobs and audit
-- entries, one verdict each. What is refused is neither stored nor charged.
create or replace function messenger.submit(node uuid, items messenger.submit_item[]) returns table (seen text, verdict text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  item     messenger.submit_item;
  known    text[];
  answers  text[] := array_fill(null::text, array[cardinality(items)]);
  allowed  messenger.submit_item[] := '{}';
  stored   uuid[];
  paying   messenger.submit_item[];
  verdicts text[];
  unpaid   uuid[] := '{}';
  accepted messenger.submit_item[];
  contact  record;
begin
  known := platform.claim_keys(array(select i.key from unnest(items) i));
  for n in 1 .. cardinality(items) loop
    continue when known[n] is not null;
    item := items[n];
    select c.window_expires_at, c.opted_out_at into contact from messenger.contacts c
     where c.bucket = item.bucket and c.account_id = item.account and c.environment = item.environment
       and c.phone = item.recipient;
    if item.reference is not null and exists (
         select from messenger.messages m where m.bucket = item.bucket and m.account_id = item.account
            and m.environment = item.environment and m.reference = item.reference) then
      answers[n] := 'duplicate';
    elsif contact.opted_out_at is not null then
      answers[n] := 'opted_out';
    elsif item.needs_window and (contact.window_expires_at is null
        or date_trunc('second', item.created_at) > date_trunc('second', contact.window_expires_at)) then
      answers[n] := 'window_closed';
    else
      allowed := allowed || item;
    end if;
  end loop;

  -- A reference that another commit takes at the same moment is not stored: the verdict follows from what came back.
  with made as (
    insert into messenger.messages (bucket, account_id, environment, id, direction, status, type, recipient, sender, content,
                                    context_id, template, language, metadata, reference, callback_url, fallback, unit, cost,
                                    currency, country, request_id, clock_offset_ms, created_at)
    select i.bucket, i.account, i.environment, i.id, 'outbound', 'accepted', i.type, i.recipient, i.sender, i.content,
           i.context_id, i.template, i.language, i.metadata, i.reference, i.callback_url, i.fallback, i.unit, i.cost,
           i.currency, i.country, i.request, i.clock_offset_ms, i.created_at
      from unnest(allowed) i order by i.bucket, i.account, i.environment, i.reference, i.id
    on conflict (bucket, account_id, environment, reference) where reference is not null do nothing
    returning messages.id)
  select coalesce(array_agg(m.id), '{}') into stored from made m;
  paying := allowed;
  if cardinality(stored) < cardinality(allowed) then
    paying := array(select i from unnest(allowed) i where i.id = any(stored));
  end if;
  verdicts := ledger.charge(array(select p.charge from unnest(paying) p));
  accepted := paying;
  if 'insufficient' = any(verdicts) then
    accepted := array(select paying[n] from generate_subscripts(paying, 1) n where verdicts[n] <> 'insufficient' order by n);
    unpaid := array(select paying[n].id from generate_subscripts(paying, 1) n where verdicts[n] = 'insufficient');
    delete from messenger.messages m using unnest(paying) p
     where m.bucket = p.bucket and m.account_id = p.account and m.environment = p.environment and m.id = p.id
       and p.id = any(unpaid);
  end if;
  perform work.add(array(
    select j.job from unnest(accepted) a cross join lateral (values (a.job), (a.timer)) as j(job) where (j.job).id is not null));
  perform platform.record(array(select a.audit from unnest(accepted) a));

  for n in 1 .. cardinality(items) loop
    continue when known[n] is not null or answers[n] is not null;
    answers[n] := case when items[n].id = any(unpaid) then 'insufficient'
                       when items[n].id = any(stored) then 'charged' else 'duplicate' end;
  end loop;
  perform platform.free_keys(array(
    select items[n].key from generate_subscripts(items, 1) n where known[n] is null and answers[n] <> 'charged'));
  return query select known[n], answers[n] from generate_subscripts(items, 1) n order by n;
end $$;
