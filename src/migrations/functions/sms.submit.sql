-- A message that somebody wants to send. refusal is set when it is known already that it will not go out; batch_index
-- is set when it belongs to a batch, whose refused messages are kept as failed ones. charge is null where a transaction pays
-- for many last, audit where nobody asked, key where the request has none.
create type sms.submit_item as (
  bucket smallint, account uuid, environment text, id uuid, recipient text, sender text, body text, encoding text,
  segments smallint, unit_price bigint, cost bigint, currency text, country text, network text, type text, validity int,
  metadata jsonb, reference text, callback_url text, batch uuid, batch_index smallint, scheduled_at timestamptz,
  created_at timestamptz, refusal text, request text,
  charge ledger.charge_item, job work.job_item, audit platform.audit_item, key platform.idempotency_item,
  callback_final boolean
);

-- Accepts many messages of many customers in one commit, one verdict each. Where no key was known, the verdicts are those of
-- the items, in their order: to look up the place of each among the new ones copies the list of places for each, twice.
create or replace function sms.submit(node uuid, items sms.submit_item[])
  returns table (seen text, verdict text, existing uuid) language plpgsql
  set plan_cache_mode = force_generic_plan as $$
declare
  keys     platform.idempotency_item[];
  keyed    boolean;
  known    text[];
  fresh    int[];
  wanted   sms.submit_item[] := items;
  verdicts sms.verdict[];
begin
  select array_agg(i.key), bool_or((i.key).key is not null) into keys, keyed from unnest(items) i;
  if not keyed then
    return query select null::text, v.verdict, v.existing from unnest(sms.accept(items, true)) v;
    return;
  end if;
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
  if cardinality(fresh) = cardinality(items) then
    return query select null::text, v.verdict, v.existing from unnest(verdicts) v;
  else
    return query select known[n], verdicts[array_position(fresh, n)].verdict, verdicts[array_position(fresh, n)].existing
      from generate_subscripts(items, 1) n order by n;
  end if;
end $$;
