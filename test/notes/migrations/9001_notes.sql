-- An area for tests and benchmarks: a write that touches everything a paid send touches, without a carrier.

create schema notes;

-- One row is a note somebody paid for.
create table notes.notes (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  text        text not null,
  status      text not null check (status in ('queued', 'published')),
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
  keys     platform.idempotency_item[];
  known    text[];
  fresh    int[];
  wanted   notes.submit_item[] := items;
  verdicts text[];
  accepted notes.submit_item[];
begin
  keys := array(select row(i.bucket, i.account, i.environment, i.key, i.request_hash, i.reply_status, i.reply_body)::platform.idempotency_item
                  from unnest(items) i);
  known := platform.claim_keys(keys);
  fresh := array(select n from generate_subscripts(items, 1) n where known[n] is null);
  if cardinality(fresh) < cardinality(items) then
    wanted := array(select items[n] from unnest(fresh) n);
    keys := array(select keys[n] from unnest(fresh) n);
  end if;

  verdicts := ledger.charge(array(
    select row(i.bucket, i.account, i.environment, i.currency, i.cost, i.id, 'charge', i.transfer, 'revenue:notes')::ledger.charge_item
      from unnest(wanted) i));
  accepted := wanted;
  if 'insufficient' = any(verdicts) then
    accepted := array(select wanted[n] from generate_subscripts(wanted, 1) n where verdicts[n] = 'charged');
    perform platform.free_keys(array(select keys[n] from generate_subscripts(wanted, 1) n where verdicts[n] <> 'charged'));
  end if;

  insert into notes.notes (bucket, account_id, environment, id, text, status, cost, currency)
  select i.bucket, i.account, i.environment, i.id, i.text, 'queued', i.cost, i.currency from unnest(accepted) i;
  perform work.add(array(
    select row(i.bucket, i.job, 'notes.publish', i.account, i.environment, null, i.owner, 0, i.job_payload)::work.job_item
      from unnest(accepted) i));
  perform platform.record(array(
    select row(i.bucket, i.account, i.environment, i.audit, i.actor, 'note.create', 'note:' || i.id, null, null, i.ip, i.request)::platform.audit_item
      from unnest(accepted) i));
  return query select known[n], verdicts[array_position(fresh, n)] from generate_subscripts(items, 1) n order by n;
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
  fresh  uuid[];
  chosen int[];
  wanted notes.finish_item[] := items;
  told   text[];
begin
  with published as (
    update notes.notes t set status = 'published' from unnest(items) i
     where t.bucket = i.bucket and t.account_id = i.account and t.environment = i.environment and t.id = i.id and t.status = 'queued'
    returning t.id)
  select array_agg(p.id) into fresh from published p;
  delete from work.jobs j using unnest(items) i where j.bucket = i.bucket and j.id = i.job and j.attempt = i.attempt;
  if cardinality(fresh) is distinct from cardinality(items) then
    chosen := array(select n from generate_subscripts(items, 1) n where items[n].id = any(fresh) order by n);
    wanted := array(select items[n] from unnest(chosen) n);
  end if;
  told := events.emit(array(
    select row(i.bucket, i.account, i.environment, i.event_id, i.event_type, i.event_resource, i.event_body,
               i.event_request, i.event_within, i.event_callback, i.event_at, i.event_owner)::events.event_item
      from unnest(wanted) i));
  return query select told[case when chosen is null then n else array_position(chosen, n) end]
    from generate_subscripts(items, 1) n order by n;
end $$;
