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

create type notes.finish_item as (bucket smallint, account uuid, environment text, id uuid, job uuid, attempt int);

-- Publishes many notes and removes their jobs, in one commit.
create function notes.finish(node uuid, items notes.finish_item[]) returns table (published boolean) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  update notes.notes t set status = 'published' from unnest(items) i
   where t.bucket = i.bucket and t.account_id = i.account and t.environment = i.environment and t.id = i.id and t.status = 'queued';
  delete from work.jobs j using unnest(items) i where j.bucket = i.bucket and j.id = i.job and j.attempt = i.attempt;
  return query select true from unnest(items);
end $$;
