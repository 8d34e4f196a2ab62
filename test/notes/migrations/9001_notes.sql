-- An area for tests and benchmarks: a write that touches everything a paid send touches, without a carrier.

create schema notes;

create domain notes.status as text check (value in ('queued', 'published'));

-- One row is a note somebody paid for.
create table notes.notes (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  text        text not null,
  status      notes.status not null,
  cost        bigint not null,
  currency    text not null,
  primary key (bucket, account_id, environment, id)
);

create type notes.submit_item as (
  bucket smallint, account uuid, environment text, id uuid, text text, cost bigint, currency text, transfer uuid,
  job uuid, owner uuid, job_payload jsonb, audit uuid, actor text, ip text, request text,
  key text, request_hash text, reply_status smallint, reply_body text
);

-- Accepts many notes in one commit: keys, charges, rows, jobs and audit entries, one verdict each.
create function notes.submit(node uuid, items notes.submit_item[]) returns table (seen text, verdict text) language plpgsql
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

create type notes.finish_item as (
  bucket smallint, account uuid, environment text, id uuid, job uuid, attempt int,
  event_id uuid, event_type text, event_resource text, event_body text, event_request text, event_within text,
  event_callback text, event_at timestamptz, event_owner uuid
);

-- Publishes many notes, tells of it and removes their jobs, in one commit. A note that was published already is not
-- told of again.
create function notes.finish(node uuid, items notes.finish_item[]) returns table (deliveries text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  item   notes.finish_item;
  fresh  uuid[];
  some_known boolean;
  chosen boolean[];
  place  int := 0;
  events events.event_item[] := '{}';
  told   text[];
begin
  with published as (
    update notes.notes t set status = 'published' from unnest(items) i
     where t.bucket = i.bucket and t.account_id = i.account and t.environment = i.environment and t.id = i.id and t.status = 'queued'
    returning t.id)
  select coalesce(array_agg(p.id), '{}') into fresh from published p;
  some_known := cardinality(fresh) < cardinality(items);
  delete from work.jobs j using unnest(items) i where j.bucket = any(array[i.bucket]) and j.id = i.job and j.attempt = i.attempt;
  for n in 1 .. cardinality(items) loop
    item := items[n];
    chosen := chosen || (not some_known or item.id = any(fresh));
    continue when not chosen[n];
    events := events || row(item.bucket, item.account, item.environment, item.event_id, item.event_type, item.event_resource,
                            item.event_body, item.event_request, item.event_within, item.event_callback, item.event_at,
                            item.event_owner)::events.event_item;
  end loop;
  told := events.emit(events);
  for n in 1 .. cardinality(items) loop
    deliveries := null;
    if chosen[n] then
      place := place + 1;
      deliveries := told[place];
    end if;
    return next;
  end loop;
end $$;
