-- The carrier side of SMS: the operators' connections and routes, what a carrier calls our messages, and the group
-- commits that store what became of them.

-- One row is a connection to a carrier. Managed by operators; `settings` is what its kind needs beyond what every bind has.
-- `secret` is sealed with the data key of the operator's account that set it: {"password": ..., "token": ...}, where the
-- token is what a carrier that calls us must bring. is_up is what the node that has it open last said of it.
create table sms.binds (
  name                     text primary key,
  kind                     text not null,
  settings                 jsonb not null,
  secret                   bytea not null,
  sealed_bucket            smallint not null,
  sealed_account           uuid not null,
  window_size              smallint not null check (window_size between 1 and 1000),
  rate                     int check (rate between 1 and 100000),
  response_timeout_seconds smallint not null,
  enabled                  boolean not null,
  is_up                    boolean not null default false,
  created_at               timestamptz not null,
  updated_at               timestamptz not null
);

-- One row says which binds carry the messages it matches: tiers in order, and in each tier binds by weight, as
-- [[{"bind": "a", "weight": 3}, {"bind": "b", "weight": 1}], [{"bind": "c", "weight": 1}]]. The most exact row wins:
-- account, network, country. on_unknown is for messages whose connection was lost before the answer came, or whose node died;
-- with reroute_on_undelivered a message that the network could not deliver goes over the next tier; when_down says whether
-- messages are accepted while none of the binds can take them.
create table sms.routes (
  id          uuid primary key,
  environment text not null check (environment in ('test', 'live')),
  account_id  uuid,
  country     text,
  network     text,
  tiers       jsonb not null,
  on_unknown  text not null check (on_unknown in ('maybe_twice', 'maybe_never')),
  reroute_on_undelivered boolean not null,
  when_down   text not null check (when_down in ('queue', 'refuse')),
  created_at  timestamptz not null,
  updated_at  timestamptz not null
);
create unique index routes_once on sms.routes
  (environment, coalesce(account_id, '00000000-0000-0000-0000-000000000000'), coalesce(country, ''), coalesce(network, ''));

-- One row is what a carrier calls a part of a message: the way back from a receipt. `parts` is in how many it was handed
-- over, which is the carrier's matter: one may take a long message whole. A receipt that comes before the answer it belongs
-- to makes the row first, and waits in it: the key lets either of the two wait for the other.
create table sms.carrier_ids (
  carrier     text not null,
  id          text not null,
  bucket      smallint,
  account_id  uuid,
  environment text,
  message_id  uuid,
  part        smallint,
  parts       smallint,
  early       jsonb,
  created_at  timestamptz not null default now(),
  primary key (carrier, id)
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02);
create index carrier_ids_age on sms.carrier_ids using brin (created_at);
create index carrier_ids_early on sms.carrier_ids (created_at) where early is not null;

-- Telling ---------------------------------------------------------------------------------------------------------

-- A change of status with its two events: the wide one (sms.status), which goes to the callback too, and the narrow one.
create type sms.change as (
  bucket smallint, account uuid, environment text, event_id uuid, event_type text, event_resource text, event_body text,
  event_request text, event_within text, event_callback text, event_at timestamptz, event_owner uuid,
  narrow_id uuid, narrow_type text, narrow_body text
);

-- Writes the events of changes and gives the deliveries of each kind, in the order of the changes.
create function sms.tell(changes sms.change[], out wide text[], out narrow text[]) language plpgsql as $$
declare
  many int := cardinality(changes);
  told text[];
begin
  if many = 0 then return; end if;
  told := events.emit(array(
      select row(c.bucket, c.account, c.environment, c.event_id, c.event_type, c.event_resource, c.event_body,
                 c.event_request, c.event_within, c.event_callback, c.event_at, c.event_owner)::events.event_item
        from unnest(changes) c)
    || array(
      select row(c.bucket, c.account, c.environment, c.narrow_id, c.narrow_type, c.event_resource, c.narrow_body,
                 c.event_request, c.event_type, null, c.event_at, c.event_owner)::events.event_item
        from unnest(changes) c));
  wide := told[1 : many];
  narrow := told[many + 1 : 2 * many];
end $$;

-- Outcomes of submitting ------------------------------------------------------------------------------------------

-- A carrier is about to be asked to take a message that must not go out twice (carrier is set), or did not take it (null).
-- Only the run that has the job may say so: its row is locked, so that no other node takes the job meanwhile.
create type sms.mark_item as (
  bucket smallint, account uuid, environment text, id uuid, job uuid, attempt int, carrier text
);

create function sms.mark(node uuid, items sms.mark_item[]) returns table (marked boolean) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  running uuid[];
begin
  running := array(select j.id from unnest(items) i join work.jobs j on j.bucket = i.bucket and j.id = i.job
                    where j.attempt = i.attempt order by j.bucket, j.id for share of j);
  update sms.messages m set under_way = i.carrier is not null, route = coalesce(i.carrier, m.route)
    from unnest(items) i
   where m.bucket = i.bucket and m.account_id = i.account and m.environment = i.environment and m.id = i.id
     and m.status in ('queued', 'sent') and i.job = any(running);
  return query select items[n].job = any(running) from generate_subscripts(items, 1) n order by n;
end $$;

-- The carrier took every part of a message; carrier_ids is a JSON array, one id for each part. Whoever says so, it counts:
-- the message is out. One that is no longer queued keeps its state, but receipts for this copy find it. Gives the ids
-- whose receipt came before (a JSON array), for the caller to apply.
create type sms.accepted_item as (
  bucket smallint, account uuid, environment text, id uuid, job uuid, carrier text, carrier_ids jsonb, attempts smallint,
  at timestamptz,
  event_id uuid, event_type text, event_resource text, event_body text, event_request text, event_within text,
  event_callback text, event_at timestamptz, event_owner uuid, narrow_id uuid, narrow_type text, narrow_body text
);

create function sms.accepted(node uuid, items sms.accepted_item[])
  returns table (changed boolean, wide text, narrow text, early text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  sent  uuid[];
  fresh int[];
  told  record;
  held  jsonb;
begin
  with changed as (
    update sms.messages m set status = 'sent', sent_at = i.at, route = i.carrier, under_way = false, attempts = i.attempts
      from unnest(items) i
     where m.bucket = i.bucket and m.account_id = i.account and m.environment = i.environment and m.id = i.id
       and m.status = 'queued'
    returning m.id)
  select array_agg(c.id) into sent from changed c;
  fresh := array(select min(n) from generate_subscripts(items, 1) n where items[n].id = any(sent) group by items[n].id order by 1);
  if cardinality(fresh) < cardinality(items) then
    -- One that goes out again, because it could not be delivered, has its new carrier.
    update sms.messages m set route = i.carrier, under_way = false
      from unnest(items) i
     where m.bucket = i.bucket and m.account_id = i.account and m.environment = i.environment and m.id = i.id
       and m.status = 'sent' and m.job = i.job and m.route is null;
  end if;
  delete from work.jobs j using unnest(items) i where j.bucket = i.bucket and j.id = i.job;

  with written as (
    insert into sms.carrier_ids as c (carrier, id, bucket, account_id, environment, message_id, part, parts)
    select distinct on (i.carrier, p.id) i.carrier, p.id, i.bucket, i.account, i.environment, i.id, p.part - 1,
           jsonb_array_length(i.carrier_ids)
      from unnest(items) i cross join lateral jsonb_array_elements_text(i.carrier_ids) with ordinality as p(id, part)
     order by i.carrier, p.id
    on conflict (carrier, id) do update
      set bucket = excluded.bucket, account_id = excluded.account_id, environment = excluded.environment,
          message_id = excluded.message_id, part = excluded.part, parts = excluded.parts
    returning c.id, c.message_id, c.early)
  select jsonb_object_agg(e.message_id, e.ids) into held
    from (select w.message_id, jsonb_agg(w.id) as ids from written w where w.early is not null group by 1) e;

  told := sms.tell(array(
    select row(items[n].bucket, items[n].account, items[n].environment, items[n].event_id, items[n].event_type,
               items[n].event_resource, items[n].event_body, items[n].event_request, items[n].event_within,
               items[n].event_callback, items[n].event_at, items[n].event_owner, items[n].narrow_id, items[n].narrow_type,
               items[n].narrow_body)::sms.change
      from unnest(fresh) n order by n));
  return query
    select n = any(fresh), told.wide[array_position(fresh, n)], told.narrow[array_position(fresh, n)],
           held ->> items[n].id::text
      from generate_subscripts(items, 1) n order by n;
end $$;

-- A message that was not sent will not be: refused, expired or without a route. What it cost is given back. attempt
-- fences the job: a node that lost it decides nothing.
create type sms.failed_item as (
  bucket smallint, account uuid, environment text, id uuid, job uuid, attempt int, error_code text, carrier_code text,
  carrier text, attempts smallint, at timestamptz, transfer uuid,
  event_id uuid, event_type text, event_resource text, event_body text, event_request text, event_within text,
  event_callback text, event_at timestamptz, event_owner uuid, narrow_id uuid, narrow_type text, narrow_body text
);

create function sms.failed(node uuid, items sms.failed_item[])
  returns table (changed boolean, wide text, narrow text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  charges ledger.charge_item[];
  fresh   int[];
  told    record;
begin
  with changed as (
    update sms.messages m
       set status = 'failed', failed_at = i.at, error_code = i.error_code, carrier_code = i.carrier_code,
           route = i.carrier, attempts = i.attempts
      from unnest(items) i
     where m.bucket = i.bucket and m.account_id = i.account and m.environment = i.environment and m.id = i.id
       and m.status = 'queued'
       and exists (select from work.jobs j where j.bucket = i.bucket and j.id = i.job and j.attempt = i.attempt)
    returning m.bucket, m.account_id, m.environment, m.currency, m.cost, m.id, m.charges, i.transfer)
  select coalesce(array_agg(row(c.bucket, c.account_id, c.environment, c.currency, c.cost, c.id, sms.charge_step(c.charges),
                                c.transfer, 'revenue:sms')::ledger.charge_item), '{}')
    into charges from changed c;
  fresh := array(select min(n) from generate_subscripts(items, 1) n
                  where exists (select from unnest(charges) c where c.source_id = items[n].id)
                  group by items[n].id order by 1);
  delete from work.jobs j using unnest(items) i where j.bucket = i.bucket and j.id = i.job and j.attempt = i.attempt;
  if cardinality(charges) > 0 then
    perform ledger.uncharge(charges);
  end if;

  told := sms.tell(array(
    select row(items[n].bucket, items[n].account, items[n].environment, items[n].event_id, items[n].event_type,
               items[n].event_resource, items[n].event_body, items[n].event_request, items[n].event_within,
               items[n].event_callback, items[n].event_at, items[n].event_owner, items[n].narrow_id, items[n].narrow_type,
               items[n].narrow_body)::sms.change
      from unnest(fresh) n order by n));
  return query
    select n = any(fresh), told.wide[array_position(fresh, n)], told.narrow[array_position(fresh, n)]
      from generate_subscripts(items, 1) n order by n;
end $$;

-- Receipts --------------------------------------------------------------------------------------------------------

-- The messages that carriers' ids stand for, and which part of them. A function for the reason that sms.messages_at is one.
create function sms.messages_named(p_carriers text[], p_ids text[])
  returns table (carrier text, carrier_id text, part smallint, parts smallint, message sms.messages) language plpgsql stable
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return query select c.carrier, c.id, c.part, c.parts, m from unnest(p_carriers, p_ids) as w(carrier, id)
    join sms.carrier_ids c on c.carrier = w.carrier and c.id = w.id
    join sms.messages m
      on m.bucket = c.bucket and m.account_id = c.account_id and m.environment = c.environment and m.id = c.message_id;
end $$;

-- A receipt that nobody knows yet waits for the answer it belongs to. Gives `known` when that was stored meanwhile. Of
-- several for one id the first stands.
create type sms.hold_receipt_item as (carrier text, id text, receipt jsonb);

create function sms.hold_receipt(node uuid, items sms.hold_receipt_item[]) returns table (known boolean) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  taken text[];
begin
  with written as (
    insert into sms.carrier_ids as c (carrier, id, early)
    select distinct on (items[n].carrier, items[n].id) items[n].carrier, items[n].id, items[n].receipt
      from generate_subscripts(items, 1) n order by items[n].carrier, items[n].id, n
    on conflict (carrier, id) do update
      set early = case when c.message_id is null then coalesce(c.early, excluded.early) else c.early end
    returning c.carrier, c.id, c.message_id)
  select coalesce(array_agg(w.carrier || ' ' || w.id) filter (where w.message_id is not null), '{}') into taken
    from written w;
  return query select items[n].carrier || ' ' || items[n].id = any(taken) from generate_subscripts(items, 1) n order by n;
end $$;

-- What the network says of parts: status is delivered or failed. A message is delivered when all its parts are and
-- failed when one is; what is over stays as it is, so that doubled, late and disordered receipts change nothing.
-- carrier_id is set when the receipt waited for its message under it. Gives whether this receipt was the one that changed
-- the message.
create type sms.receipt_item as (
  bucket smallint, account uuid, environment text, id uuid, part smallint, parts smallint, carrier text, carrier_id text,
  status text, error_code text, carrier_code text, at timestamptz,
  event_id uuid, event_type text, event_resource text, event_body text, event_request text, event_within text,
  event_callback text, event_at timestamptz, event_owner uuid, narrow_id uuid, narrow_type text, narrow_body text
);

create function sms.receipt(node uuid, items sms.receipt_item[])
  returns table (changed boolean, wide text, narrow text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  fresh int[];
  told  record;
begin
  -- One row for each message of the batch: the parts that arrived, and the receipt that speaks for it.
  with heard as (
    select h.*, items[h.speaker].status as verdict, items[h.speaker].at as at, items[h.speaker].error_code as error_code,
           items[h.speaker].carrier_code as carrier_code
      from (select i.bucket, i.account, i.environment, i.id,
                   bit_or(case when i.status = 'delivered' then 1::bigint << i.part else 0 end) as mask,
                   min((1::bigint << i.parts) - 1) as whole,
                   coalesce(min(i.n) filter (where i.status = 'failed'), max(i.n))::int as speaker
              from (select u.*, row_number() over () as n from unnest(items) u) i group by 1, 2, 3, 4) h
  ), changed as (
    update sms.messages m
       set delivered_parts = m.delivered_parts | h.mask,
           status = case when h.verdict = 'failed' then 'failed'
                         when (m.delivered_parts | h.mask) & h.whole = h.whole then 'delivered' else m.status end,
           delivered_at = case when h.verdict = 'delivered' and (m.delivered_parts | h.mask) & h.whole = h.whole then h.at end,
           failed_at = case when h.verdict = 'failed' then h.at end,
           error_code = h.error_code, carrier_code = h.carrier_code
      from heard h
     where m.bucket = h.bucket and m.account_id = h.account and m.environment = h.environment and m.id = h.id
       and m.status = 'sent'
    returning m.status, h.speaker)
  select coalesce(array_agg(c.speaker order by c.speaker) filter (where c.status <> 'sent'), '{}') into fresh from changed c;
  if exists (select from unnest(items) i where i.carrier_id is not null) then
    update sms.carrier_ids c set early = null from unnest(items) i
     where c.carrier = i.carrier and c.id = i.carrier_id and c.early is not null;
  end if;

  told := sms.tell(array(
    select row(items[n].bucket, items[n].account, items[n].environment, items[n].event_id, items[n].event_type,
               items[n].event_resource, items[n].event_body, items[n].event_request, items[n].event_within,
               items[n].event_callback, items[n].event_at, items[n].event_owner, items[n].narrow_id, items[n].narrow_type,
               items[n].narrow_body)::sms.change
      from unnest(fresh) n order by n));
  return query
    select n = any(fresh), told.wide[array_position(fresh, n)], told.narrow[array_position(fresh, n)]
      from generate_subscripts(items, 1) n order by n;
end $$;

-- The network could not deliver messages which may go over another carrier: they are submitted again, each once, however
-- many of its parts were not delivered. Only what the carrier says that has the message now counts. Gives whether it did.
create type sms.reroute_item as (
  bucket smallint, account uuid, environment text, id uuid, carrier text, carrier_id text, job uuid, lane text, owner uuid,
  payload jsonb
);

create function sms.reroute(node uuid, items sms.reroute_item[]) returns table (rerouted boolean) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  jobs uuid[];
begin
  with changed as (
    update sms.messages m set route = null, job = i.job, delivered_parts = 0, under_way = false
      from (select distinct on (u.id) u.* from unnest(items) u order by u.id) i
     where m.bucket = i.bucket and m.account_id = i.account and m.environment = i.environment and m.id = i.id
       and m.status = 'sent' and m.route = i.carrier
    returning m.job)
  select coalesce(array_agg(c.job), '{}') into jobs from changed c;
  perform work.add(array(
    select row(i.bucket, i.job, i.lane, i.account, i.environment, null, i.owner, 0, i.payload)::work.job_item
      from unnest(items) i where i.job = any(jobs)));
  update sms.carrier_ids c set early = null from unnest(items) i
   where c.carrier = i.carrier and c.id = i.carrier_id and c.early is not null;
  return query select items[n].job = any(jobs) from generate_subscripts(items, 1) n order by n;
end $$;

-- Inbound ---------------------------------------------------------------------------------------------------------

-- One row is a part of a message that a handset sent in several, until all of them are there or a minute has passed.
create table sms.inbound_parts (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  sender      text not null,
  recipient   text not null,
  reference   int not null,
  total       smallint not null,
  part        smallint not null,
  body        text not null,
  created_at  timestamptz not null default now(),
  primary key (bucket, account_id, environment, sender, recipient, reference, total, part)
);
