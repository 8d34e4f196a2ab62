create type notes.submit_item as (
  bucket smallint, account uuid, environment text, id uuid, text text, cost bigint, currency text, transfer uuid,
  job uuid, owner uuid, job_payload jsonb, audit uuid, actor text, ip text, request text,
  key text, request_hash text, reply_status smallint, reply_body text
);

-- Accepts many notes in one commit: keys, charges, rows, jobs and audit entries, one verdict each.
create or replace function notes.submit(node uuid, items notes.submit_item[]) returns table (seen text, verdict text) language plpgsql
  set plan_cache_mode = force_generic_plan as $$
declare
  item     notes.submit_item;
  keys     platform.idempotency_item[];
  known    text[];
  fresh    int[];
  place    int := 0;
  charges  ledger.charge_item[] := '{}';
  verdicts text[];
  accepted notes.submit_item[] := items;
  jobs     work.job_item[];
  audits   platform.audit_item[];
begin
  foreach item in array items loop
    keys := keys || row(item.bucket, item.account, item.environment, item.key, item.request_hash, item.reply_status,
                        item.reply_body)::platform.idempotency_item;
  end loop;
  known := platform.claim_keys(keys);
  for n in 1 .. cardinality(items) loop
    continue when known[n] is not null;
    item := items[n];
    fresh := fresh || n;
    charges := charges || row(item.bucket, item.account, item.environment, item.currency, item.cost, item.id, 'charge',
                              item.transfer, 'revenue:notes')::ledger.charge_item;
  end loop;

  verdicts := ledger.charge(charges);
  if cardinality(charges) < cardinality(items) or 'insufficient' = any(verdicts) then
    accepted := array(select items[fresh[n]] from generate_subscripts(fresh, 1) n where verdicts[n] = 'charged' order by n);
    perform platform.free_keys(array(select keys[fresh[n]] from generate_subscripts(fresh, 1) n where verdicts[n] <> 'charged'));
  end if;

  insert into notes.notes (bucket, account_id, environment, id, text, status, cost, currency)
  select i.bucket, i.account, i.environment, i.id, i.text, 'queued', i.cost, i.currency from unnest(accepted) i;
  foreach item in array accepted loop
    jobs := jobs || row(item.bucket, item.job, 'notes.publish', item.account, item.environment, null, item.owner, 0,
                        item.job_payload)::work.job_item;
    audits := audits || row(item.bucket, item.account, item.environment, item.audit, item.actor, 'note.create',
                            'note:' || item.id, null, null, item.ip, item.request)::platform.audit_item;
  end loop;
  perform work.add(jobs);
  perform platform.record(audits);
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
