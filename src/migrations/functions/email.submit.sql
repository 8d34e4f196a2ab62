create type email.submit_item as (
  bucket smallint, account uuid, environment text, id uuid, status text, sender text, domain text, subject text, stream text,
  source text, content uuid, content_body jsonb, content_raw bytea, content_files bytea, template text, variables jsonb, tags jsonb,
  metadata text, track_opens boolean, track_clicks boolean, callback_url text, reference text, request text, recipients jsonb,
  size int, unit_price bigint, cost bigint, currency text, reason text, scheduled_at timestamptz, expires_at timestamptz,
  created_at timestamptz, lane text, owner uuid, delay_ms bigint, events jsonb, unsuppressed jsonb,
  charge ledger.charge_item, audit platform.audit_item, key platform.idempotency_item
);

-- Accepts messages: key, reference, charge, content, message, recipients and a job for each, events and audit in one commit. A
-- content that is null was stored before. Verdicts: accepted, duplicate (of the reference), insufficient, suppressed (one of the
-- addresses in `unsuppressed`, which are in lower case, gets no such mail).
create or replace function email.submit(node uuid, items email.submit_item[])
  returns table (seen text, verdict text, existing uuid, deliveries text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  item     email.submit_item;
  keys     platform.idempotency_item[] := array(select i.key from unnest(items) i);
  known    text[];
  verdicts text[] := array_fill(null::text, array[cardinality(items)]);
  charges  ledger.charge_item[] := '{}';
  places   int[] := '{}';
  paid     text[];
  accepted email.submit_item[] := '{}';
  jobs     work.job_item[];
  audits   platform.audit_item[] := '{}';
  news     events.event_item[];
  told     text[];
  place    int := 0;
  many     int;
  blocked  int[];
begin
  known := platform.claim_keys(keys);
  blocked := array(
    select i.n
      from (select u.*, row_number() over () as n from unnest(items) u) i
     where exists (
       select from jsonb_array_elements_text(i.unsuppressed) a
         join email.suppressions s on s.bucket = i.bucket and s.account_id = i.account and s.environment = i.environment and s.email = a
        where (s.applies_to = 'all' or i.stream = 'bulk') and (s.expires_at is null or s.expires_at > i.created_at)));
  for n in 1 .. cardinality(items) loop
    continue when known[n] is not null;
    if n = any(blocked) then
      verdicts[n] := 'suppressed';
      continue;
    end if;
    item := items[n];
    if item.reference is not null then
      insert into email.references (bucket, account_id, environment, reference, message_id)
      values (item.bucket, item.account, item.environment, item.reference, item.id) on conflict do nothing;
      if not found then
        verdicts[n] := 'duplicate';
        continue;
      end if;
    end if;
    verdicts[n] := 'accepted';
    places := places || n;
    charges := charges || item.charge;
  end loop;
  paid := ledger.charge(charges);
  for k in 1 .. cardinality(places) loop
    item := items[places[k]];
    if paid[k] = 'insufficient' then
      verdicts[places[k]] := 'insufficient';
      delete from email.references r
       where r.bucket = item.bucket and r.account_id = item.account and r.environment = item.environment and r.reference = item.reference
         and r.message_id = item.id;
    else
      accepted := accepted || item;
      if (item.audit).id is not null then audits := audits || item.audit; end if;
    end if;
  end loop;

  insert into email.contents (bucket, account_id, environment, id, body, raw, files)
  select i.bucket, i.account, i.environment, i.content, i.content_body, i.content_raw, i.content_files
    from unnest(accepted) i where i.content_body is not null;
  insert into email.messages (bucket, account_id, environment, id, status, sender, domain, subject, stream, source, content_id,
    template, variables, tags, metadata, track_opens, track_clicks, callback_url, reference, request_id, recipients, size, unit_price,
    cost, currency, reason, scheduled_at, expires_at, created_at)
  select i.bucket, i.account, i.environment, i.id, i.status, i.sender, i.domain, i.subject, i.stream, i.source, i.content, i.template,
         i.variables, array(select jsonb_array_elements_text(i.tags)), i.metadata, i.track_opens, i.track_clicks, i.callback_url,
         i.reference, i.request, jsonb_array_length(i.recipients), i.size, i.unit_price, i.cost, i.currency, i.reason, i.scheduled_at,
         i.expires_at, i.created_at
    from unnest(accepted) i;
  insert into email.recipients (bucket, account_id, environment, message_id, number, email, name, type, status, reason, job)
  select i.bucket, i.account, i.environment, i.id, r.number, r.email, r.name, r.type, r.status, r.reason, r.job
    from unnest(accepted) i
   cross join lateral jsonb_to_recordset(i.recipients)
         as r(number smallint, email text, name text, type text, status text, reason text, job uuid);
  jobs := array(
    select row(i.bucket, r.job, i.lane, i.account, i.environment, null, i.owner, i.delay_ms,
               jsonb_build_object('message', i.id, 'number', r.number))::work.job_item
      from unnest(accepted) i cross join lateral jsonb_to_recordset(i.recipients) as r(number smallint, job uuid)
     where r.job is not null);
  if cardinality(jobs) > 0 then perform work.add(jobs); end if;
  if cardinality(audits) > 0 then perform platform.record(audits); end if;
  news := array(
    select jsonb_populate_record(null::events.event_item, x.event)
      from (select u.events, row_number() over () as n from unnest(items) u) i
     cross join lateral jsonb_array_elements(i.events) with ordinality as x(event, nth)
     where verdicts[i.n] = 'accepted' order by i.n, x.nth);
  if cardinality(news) > 0 then told := events.emit(news); end if;
  perform platform.free_keys(array(
    select keys[n] from generate_subscripts(items, 1) n where verdicts[n] <> 'accepted' and keys[n].key is not null));

  for n in 1 .. cardinality(items) loop
    item := items[n];
    seen := known[n];
    verdict := verdicts[n];
    existing := null;
    deliveries := null;
    if verdict = 'duplicate' then
      select r.message_id into existing from email.references r
       where r.bucket = item.bucket and r.account_id = item.account and r.environment = item.environment and r.reference = item.reference;
    elsif verdict = 'accepted' then
      many := coalesce(jsonb_array_length(item.events), 0);
      deliveries := array_to_string(told[place + 1 : place + many], '|', '');
      place := place + many;
    end if;
    return next;
  end loop;
end $$;
