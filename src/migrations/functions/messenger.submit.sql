create type messenger.submit_item as (
  bucket smallint, account uuid, environment text, id uuid, type text, recipient text, sender text, content jsonb,
  context_id text, template text, language text, metadata jsonb, reference text, callback_url text, fallback jsonb, unit text, cost bigint,
  currency text, country text, clock_offset_ms bigint, created_at timestamptz, needs_window boolean, request text,
  charge ledger.charge_item, job work.job_item, timer work.job_item, audit platform.audit_item,
  key platform.idempotency_item
);

-- Accepts many messages in one commit: the window and the opt-out of each recipient, keys, charges, rows, jobs and audit
-- entries, one verdict each: 'charged', or why not, for 'duplicate' with the message that has the reference. What is refused is
-- neither stored nor charged. What hardly any message has (a key, a reference, a price, a refusal) is asked for once, since
-- each list of what is left copies every item.
create or replace function messenger.submit(node uuid, items messenger.submit_item[])
  returns table (seen text, verdict text, existing uuid) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  many     int := cardinality(items);
  known    text[] := array_fill(null::text, array[many]);
  answers  text[];
  holders  uuid[] := array_fill(null::uuid, array[many]);
  wanted   messenger.submit_item[] := items;
  keyed    boolean;
  referred boolean;
  priced   boolean;
  timed    boolean;
  stored   uuid[];
  verdicts text[];
  unpaid   uuid[] := '{}';
begin
  select bool_or((i.key).key is not null), bool_or(i.reference is not null), bool_or((i.charge).amount > 0),
         bool_or((i.timer).id is not null)
    into keyed, referred, priced, timed from unnest(items) i;
  if keyed then
    known := platform.claim_keys(array(select i.key from unnest(items) i));
  end if;
  answers := array(
    select case when c.opted_out_at is not null then 'opted_out'
                when i.needs_window and (c.window_expires_at is null
                     or date_trunc('second', i.created_at) > date_trunc('second', c.window_expires_at)) then 'window_closed' end
      from unnest(items) with ordinality i
      left join messenger.contacts c
        on c.bucket = i.bucket and c.account_id = i.account and c.environment = i.environment and c.phone = i.recipient
     order by i.ordinality);
  if keyed or array_remove(answers, null) <> '{}' then
    wanted := array(select items[n] from generate_subscripts(items, 1) n where known[n] is null and answers[n] is null order by n);
  end if;

  -- A reference that was used before, or that another commit takes at the same moment, is not stored.
  with made as (
    insert into messenger.messages (bucket, account_id, environment, id, direction, status, type, recipient, sender, content,
                                    context_id, template, language, metadata, reference, callback_url, fallback, unit, cost,
                                    currency, country, request_id, clock_offset_ms, created_at)
    select i.bucket, i.account, i.environment, i.id, 'outbound', 'accepted', i.type, i.recipient, i.sender, i.content,
           i.context_id, i.template, i.language, i.metadata, i.reference, i.callback_url, i.fallback, i.unit, i.cost,
           i.currency, i.country, i.request, i.clock_offset_ms, i.created_at
      from unnest(wanted) i order by i.bucket, i.account, i.environment, i.reference, i.id
    on conflict (bucket, account_id, environment, reference) where reference is not null do nothing
    returning messages.id)
  select coalesce(array_agg(m.id), '{}') into stored from made m;
  if cardinality(stored) < cardinality(wanted) then
    wanted := array(select i from unnest(wanted) i where i.id = any(stored));
  end if;
  if priced then
    verdicts := ledger.charge(array(select i.charge from unnest(wanted) i));
    if 'insufficient' = any(verdicts) then
      unpaid := array(select i.id from unnest(wanted) with ordinality i where verdicts[i.ordinality] = 'insufficient');
      delete from messenger.messages m using unnest(wanted) w
       where m.bucket = w.bucket and m.account_id = w.account and m.environment = w.environment and m.id = w.id
         and w.id = any(unpaid);
      wanted := array(select i from unnest(wanted) i where not i.id = any(unpaid));
    end if;
  end if;
  perform work.add(array(select i.job from unnest(wanted) i));
  if timed then
    perform work.add(array(select i.timer from unnest(wanted) i where (i.timer).id is not null));
  end if;
  perform platform.record(array(select i.audit from unnest(wanted) i));

  if cardinality(wanted) = many then
    return query select null::text, 'charged'::text, null::uuid from generate_series(1, many);
    return;
  end if;
  if referred then
    -- A statement of its own, so that it sees what another node committed meanwhile.
    select array_agg(m.id order by i.ordinality) into holders
      from unnest(items) with ordinality i
      left join messenger.messages m
        on m.bucket = i.bucket and m.account_id = i.account and m.environment = i.environment and m.reference = i.reference
       and m.id <> i.id;
  end if;
  answers := array(
    select case when known[i.ordinality] is not null then null
                when i.id = any(unpaid) then 'insufficient'
                when i.id = any(stored) then 'charged'
                when holders[i.ordinality] is not null then 'duplicate'
                else coalesce(answers[i.ordinality], 'duplicate') end
      from unnest(items) with ordinality i order by i.ordinality);
  if keyed then
    perform platform.free_keys(array(
      select items[n].key from generate_subscripts(items, 1) n where known[n] is null and answers[n] <> 'charged'));
  end if;
  return query select known[n], answers[n], case when answers[n] = 'duplicate' then holders[n] end
    from generate_subscripts(items, 1) n order by n;
end $$;
