-- A note that somebody wants to write, with all that is stored with it: what it costs, the job that publishes it, the entry of
-- the audit log, and the Idempotency-Key of the request (null: it has none).
create type notes.submit_item as (
  bucket smallint, account uuid, environment text, id uuid, text text, cost bigint, currency text,
  charge ledger.charge_item, job work.job_item, audit platform.audit_item, key platform.idempotency_item
);

-- Accepts many notes in one commit, one verdict each. What decides comes first and in this order: keys (a request that was
-- answered before does nothing), then money. Only what both allow is stored, and the keys of the others are free again.
create or replace function notes.submit(node uuid, items notes.submit_item[]) returns table (seen text, verdict text)
  language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  known    text[];
  fresh    notes.submit_item[] := items;
  verdicts text[];
  accepted notes.submit_item[];
  place    int := 0;
begin
  known := platform.claim_keys(array(select i.key from unnest(items) i));
  if array_remove(known, null) <> '{}' then
    fresh := array(select items[n] from generate_subscripts(items, 1) n where known[n] is null order by n);
  end if;

  verdicts := ledger.charge(array(select i.charge from unnest(fresh) i));
  accepted := fresh;
  if 'insufficient' = any(verdicts) then
    accepted := array(select fresh[n] from generate_subscripts(fresh, 1) n where verdicts[n] = 'charged' order by n);
    perform platform.free_keys(array(
      select fresh[n].key from generate_subscripts(fresh, 1) n where verdicts[n] <> 'charged'));
  end if;

  insert into notes.notes (bucket, account_id, environment, id, text, status, cost, currency)
  select i.bucket, i.account, i.environment, i.id, i.text, 'queued', i.cost, i.currency from unnest(accepted) i;
  perform work.add(array(select i.job from unnest(accepted) i));
  perform platform.record(array(select i.audit from unnest(accepted) i));

  for n in 1 .. cardinality(items) loop
    seen := known[n];
    verdict := null;
    if known[n] is null then
      place := place + 1;
      verdict := verdicts[place];
    end if;
    return next;
  end loop;
end $$;
