-- A note that somebody wants to write, with all that is stored with it: what it costs, the job that publishes it, the entry of
-- the audit log, and the Idempotency-Key of the request (null: it has none).
create type notes.submit_item as (
  bucket smallint, account uuid, environment text, id uuid, text text, cost bigint, currency text, reference text,
  charge ledger.charge_item, job work.job_item, audit platform.audit_item, key platform.idempotency_item
);

-- Accepts many notes in one commit, one verdict each. What decides comes first: keys (a request that was answered before does
-- nothing), references, then money, because a wallet is locked for as short as possible. What is refused leaves nothing
-- behind, and its key is free again.
create or replace function notes.submit(node uuid, items notes.submit_item[])
  returns table (seen text, verdict text, existing uuid) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  known    text[];
  fresh    notes.submit_item[] := items;
  stored   uuid[];
  paying   notes.submit_item[];
  verdicts text[];
  unpaid   uuid[] := '{}';
  accepted notes.submit_item[];
begin
  known := platform.claim_keys(array(select i.key from unnest(items) i));
  if array_remove(known, null) <> '{}' then
    fresh := array(select items[n] from generate_subscripts(items, 1) n where known[n] is null order by n);
  end if;

  -- Never "insert where not exists": of two commits at the same moment both would find nothing, and one would fail. Here the
  -- second waits for the first, inserts nothing, and the verdict follows from what came back. All of them insert in the same
  -- order, so that they wait for each other and never in a circle.
  with made as (
    insert into notes.notes (bucket, account_id, environment, id, text, status, cost, currency, reference)
    select i.bucket, i.account, i.environment, i.id, i.text, 'queued', i.cost, i.currency, i.reference from unnest(fresh) i
     order by i.bucket, i.account, i.environment, i.reference, i.id
    on conflict (bucket, account_id, environment, reference) where reference is not null do nothing
    returning notes.id)
  select coalesce(array_agg(m.id), '{}') into stored from made m;
  paying := fresh;
  if cardinality(stored) < cardinality(fresh) then
    paying := array(select f from unnest(fresh) f where f.id = any(stored));
  end if;

  verdicts := ledger.charge(array(select p.charge from unnest(paying) p));
  accepted := paying;
  if 'insufficient' = any(verdicts) then
    accepted := array(select paying[n] from generate_subscripts(paying, 1) n where verdicts[n] = 'charged' order by n);
    unpaid := array(select paying[n].id from generate_subscripts(paying, 1) n where verdicts[n] <> 'charged');
    delete from notes.notes t using unnest(paying) p
     where t.bucket = p.bucket and t.account_id = p.account and t.environment = p.environment and t.id = p.id
       and p.id = any(unpaid);
  end if;
  if cardinality(accepted) < cardinality(fresh) then
    perform platform.free_keys(array(
      select f.key from unnest(fresh) f where not f.id = any(stored) or f.id = any(unpaid)));
  end if;
  perform work.add(array(select a.job from unnest(accepted) a));
  perform platform.record(array(select a.audit from unnest(accepted) a));

  for n in 1 .. cardinality(items) loop
    seen := known[n];
    existing := null;
    verdict := case when seen is not null then null
                    when items[n].id = any(unpaid) then 'insufficient'
                    when items[n].id = any(stored) then 'accepted' else 'duplicate' end;
    -- A statement of its own, so that it sees what another node committed while this one waited.
    if verdict = 'duplicate' then
      existing := (select t.id from notes.notes t
                    where t.bucket = items[n].bucket and t.account_id = items[n].account
                      and t.environment = items[n].environment and t.reference = items[n].reference);
    end if;
    return next;
  end loop;
end $$;
