-- Text messages: what customers sent and received, the references they gave, and whom they may not write to.

create schema sms;

-- One row is a message, on its way out or come in. created_at and all later moments are the account's own time.
-- `charges` counts how often its price was taken: a message whose text changed before it went out is charged anew. `job`
-- is the one that submits it. Bit n of delivered_parts is set when the network said that part n arrived; only messages of
-- several parts need it. under_way says that it may be out already; it is noted only where it must not go out twice. late_at
-- is when the network said, having said that it expired, that it arrived after all. reply_id is the message that a webhook's
-- answer sent back to one that came in.
create table sms.messages (
  bucket        smallint not null,
  account_id    uuid not null,
  environment   text not null,
  id            uuid not null,
  direction     text not null check (direction in ('outbound', 'inbound')),
  status        text not null check (status in ('queued', 'sent', 'delivered', 'failed', 'received')),
  recipient     text not null,
  sender        text not null,
  body          text,
  encoding      text not null check (encoding in ('gsm7', 'ucs2')),
  segments      smallint not null,
  delivered_parts bigint not null default 0,
  unit_price    bigint not null default 0,
  cost          bigint not null default 0,
  currency      text,
  charges       smallint not null default 1,
  country       text,
  network       text,
  type          text not null default 'transactional' check (type in ('otp', 'transactional', 'promotional')),
  validity      int not null default 172800,
  metadata      jsonb not null default '{}',
  reference     text,
  callback_url  text,
  batch_id      uuid,
  batch_index   smallint,
  scheduled_at  timestamptz,
  created_at    timestamptz not null,
  sent_at       timestamptz,
  delivered_at  timestamptz,
  failed_at     timestamptz,
  late_at       timestamptz,
  error_code    text,
  carrier_code  text,
  attempts      smallint not null default 0,
  route         text,
  under_way     boolean not null default false,
  request_id    text,
  job           uuid,
  keyword       text,
  in_reply_to   uuid,
  reply_id      uuid,
  partial       boolean not null default false,
  primary key (bucket, account_id, environment, id)
) partition by range (id);
create index messages_of_batch on sms.messages (bucket, account_id, environment, batch_id, batch_index)
  where batch_id is not null;
-- Led by the recipient: so it also finds who wrote to a handset that answers.
create index messages_by_phone on sms.messages (recipient, account_id, environment, id);
-- None of these names a column that changes on the way of a message: PostgreSQL then updates it in place.
create index messages_scheduled on sms.messages (bucket, account_id, environment, id) where scheduled_at is not null;
select platform.ensure_partitions('sms.messages', 'month', 2, 70);

-- One row is a customer's own name for a message; nobody may use it again.
create table sms.references (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  reference   text not null,
  message_id  uuid not null,
  primary key (bucket, account_id, environment, reference)
);

-- One row says that somebody does not want messages from a sender; the sender `*` is all of them.
create table sms.opt_outs (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  phone       text not null,
  sender      text not null,
  id          uuid not null,
  reason      text,
  source      text not null check (source in ('keyword', 'api', 'import', 'carrier')),
  created_at  timestamptz not null,
  primary key (bucket, account_id, environment, phone, sender)
);
create index opt_outs_in_order on sms.opt_outs (bucket, account_id, environment, id);

-- One row is a request for many messages; how far they are is counted when somebody asks. `rejections` are its entries
-- that became no message. completed_at is set when it is told that none of them will change any more.
create table sms.batches (
  bucket       smallint not null,
  account_id   uuid not null,
  environment  text not null,
  id           uuid not null,
  total        int not null,
  accepted     int not null,
  rejected     int not null,
  segments     int not null,
  cost         bigint not null,
  currency     text not null,
  metadata     jsonb not null,
  rejections   jsonb not null,
  created_at   timestamptz not null,
  completed_at timestamptz,
  primary key (bucket, account_id, environment, id)
);

-- The step under which the n-th charge of a message stands in the ledger.
create function sms.charge_step(charges smallint) returns text language sql immutable as $$
  select case when charges = 1 then 'charge' else 'charge:' || charges end
$$;

-- Messages by their ids. A function, so that it never scans: a table that was empty when the statement was first planned
-- may be large by now.
create function sms.messages_at(p_buckets smallint[], p_accounts uuid[], p_environments text[], p_ids uuid[])
  returns setof sms.messages language plpgsql stable
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return query select m.* from unnest(p_buckets, p_accounts, p_environments, p_ids) as w(bucket, account, environment, id)
    join sms.messages m
      on m.bucket = w.bucket and m.account_id = w.account and m.environment = w.environment and m.id = w.id;
end $$;

-- Before dispatch -------------------------------------------------------------------------------------------------

-- Takes the job of a message away so that it is not submitted, and gives the message; none when a node has the job, had
-- it before, or is about to take it (within a second): then the message may be out already.
create function sms.take_back(p_bucket smallint, p_account uuid, p_environment text, p_id uuid)
  returns setof sms.messages language plpgsql as $$
declare
  found_message sms.messages;
begin
  select * into found_message from sms.messages m
   where m.bucket = p_bucket and m.account_id = p_account and m.environment = p_environment and m.id = p_id
     and m.status = 'queued' for update;
  if not found then return; end if;
  delete from work.jobs j
   where j.bucket = p_bucket and j.id = found_message.job and j.owner is null and j.attempt = 0
     and j.run_at > now() + interval '1 second';
  if found then return next found_message; end if;
end $$;

-- The messages of a batch that could be taken back at this moment, and their jobs. No job of theirs has run yet: who ends
-- them says so with the attempt 0.
create function sms.cancellable(p_bucket smallint, p_account uuid, p_environment text, p_batch uuid)
  returns table (id uuid, job uuid) language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return query select m.id, m.job from sms.messages m join work.jobs j on j.bucket = m.bucket and j.id = m.job
   where m.bucket = p_bucket and m.account_id = p_account and m.environment = p_environment and m.batch_id = p_batch
     and m.status = 'queued' and j.owner is null and j.attempt = 0 and j.run_at > now() + interval '1 second';
end $$;

-- Sending ---------------------------------------------------------------------------------------------------------

-- A message that somebody wants to send. refusal is set when it is known already that it will not go out; batch_index
-- is set when it belongs to a batch, whose refused messages are kept as failed ones.
create type sms.submit_item as (
  bucket smallint, account uuid, environment text, id uuid, recipient text, sender text, body text, encoding text,
  segments smallint, unit_price bigint, cost bigint, currency text, country text, network text, type text, validity int,
  metadata jsonb, reference text, callback_url text, batch uuid, batch_index smallint, scheduled_at timestamptz,
  created_at timestamptz, refusal text, transfer uuid, job uuid, lane text, owner uuid, delay_ms bigint, job_payload jsonb,
  audit uuid, actor text, ip text, request text, key text, request_hash text, reply_status smallint, reply_body text
);

create type sms.verdict as (verdict text, existing uuid);

-- Takes messages in: 'accepted', 'insufficient', 'opted_out', or 'duplicate' with the message that has the reference.
-- Without p_charge nothing is paid: a long transaction does that last, so that the wallet is not locked meanwhile.
create function sms.accept(items sms.submit_item[], p_charge boolean) returns sms.verdict[] language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  verdicts text[];
  existing uuid[];
  referred boolean;
  named    uuid[];
  paying   int[];
  charged  text[];
begin
  select array_agg(case when i.refusal is not null or exists (
             select from sms.opt_outs o
              where o.bucket = i.bucket and o.account_id = i.account and o.environment = i.environment
                and o.phone = i.recipient and o.sender in ('*', i.sender)) then 'opted_out' end order by i.n),
         bool_or(i.reference is not null)
    into verdicts, referred
    from (select u.*, row_number() over () as n from unnest(items) u) i;

  existing := array_fill(null::uuid, array[cardinality(items)]);
  if referred then
    with made as (
      insert into sms.references (bucket, account_id, environment, reference, message_id)
      select items[n].bucket, items[n].account, items[n].environment, items[n].reference, items[n].id
        from generate_subscripts(items, 1) n
       where items[n].reference is not null and (verdicts[n] is null or items[n].batch is not null)
       order by 1, 2, 3, 4, n
      on conflict do nothing returning message_id)
    select array_agg(m.message_id) into named from made m;
    -- A statement of its own, so that it sees what another node committed meanwhile.
    select array_agg(r.message_id order by n) into existing
      from generate_subscripts(items, 1) n
      left join sms.references r
        on r.bucket = items[n].bucket and r.account_id = items[n].account and r.environment = items[n].environment
       and r.reference = items[n].reference and not items[n].id = any(coalesce(named, '{}'));
    verdicts := array(select case when existing[n] is null then verdicts[n] else 'duplicate' end
                        from generate_subscripts(items, 1) n order by n);
  end if;

  paying := array(select n from generate_subscripts(items, 1) n where verdicts[n] is null order by n);
  if not p_charge then
    verdicts := array(select coalesce(v.verdict, 'accepted') from unnest(verdicts) with ordinality as v(verdict, n) order by v.n);
  elsif cardinality(paying) > 0 then
    charged := ledger.charge(array(
      select row(items[n].bucket, items[n].account, items[n].environment, items[n].currency, items[n].cost, items[n].id,
                 'charge', items[n].transfer, 'revenue:sms')::ledger.charge_item
        from unnest(paying) with ordinality as p(n, ord) order by p.ord));
    verdicts := array(select coalesce(v.verdict, case charged[array_position(paying, v.n::int)]
                                                   when 'insufficient' then 'insufficient' else 'accepted' end)
                        from unnest(verdicts) with ordinality as v(verdict, n) order by v.n);
    if referred and 'insufficient' = any(charged) then
      delete from sms.references r using generate_subscripts(items, 1) n
       where verdicts[n] = 'insufficient' and r.bucket = items[n].bucket and r.account_id = items[n].account
         and r.environment = items[n].environment and r.reference = items[n].reference and r.message_id = items[n].id;
    end if;
  end if;

  insert into sms.messages
         (bucket, account_id, environment, id, direction, status, recipient, sender, body, encoding, segments, unit_price,
          cost, currency, country, network, type, validity, metadata, reference, callback_url, batch_id, batch_index,
          scheduled_at, created_at, failed_at, error_code, request_id, job)
  select i.bucket, i.account, i.environment, i.id, 'outbound', case when v.ok then 'queued' else 'failed' end, i.recipient,
         i.sender, i.body, i.encoding, i.segments, i.unit_price, case when v.ok then i.cost else 0 end, i.currency, i.country,
         i.network, i.type, i.validity, coalesce(i.metadata, '{}'), i.reference, i.callback_url, i.batch, i.batch_index,
         i.scheduled_at, i.created_at, case when not v.ok then i.created_at end, case when not v.ok then 'OPTED_OUT' end,
         i.request, case when v.ok then i.job end
    from (select u.*, row_number() over () as n from unnest(items) u) i
   cross join lateral (select verdicts[i.n] = 'accepted' as ok) v
   where v.ok or (verdicts[i.n] = 'opted_out' and i.batch is not null);
  perform work.add(array(
    select row(items[n].bucket, items[n].job, items[n].lane, items[n].account, items[n].environment, null, items[n].owner,
               items[n].delay_ms, items[n].job_payload)::work.job_item
      from generate_subscripts(items, 1) n where verdicts[n] = 'accepted'));
  perform platform.record(array(
    select row(items[n].bucket, items[n].account, items[n].environment, items[n].audit, items[n].actor, 'sms.send',
               'sms:' || items[n].id, null, null, items[n].ip, items[n].request)::platform.audit_item
      from generate_subscripts(items, 1) n where verdicts[n] = 'accepted' and items[n].audit is not null));
  return array(select row(verdicts[n], existing[n])::sms.verdict from generate_subscripts(items, 1) n order by n);
end $$;

-- Accepts many messages of many customers in one commit, one verdict each.
create function sms.submit(node uuid, items sms.submit_item[])
  returns table (seen text, verdict text, existing uuid) language plpgsql
  set plan_cache_mode = force_generic_plan as $$
declare
  keys     platform.idempotency_item[];
  known    text[];
  fresh    int[];
  wanted   sms.submit_item[] := items;
  verdicts sms.verdict[];
begin
  keys := array(select row(i.bucket, i.account, i.environment, i.key, i.request_hash, i.reply_status, i.reply_body)::platform.idempotency_item
                  from unnest(items) i);
  known := platform.claim_keys(keys);
  fresh := array(select n from generate_subscripts(items, 1) n where known[n] is null order by n);
  if cardinality(fresh) < cardinality(items) then
    wanted := array(select items[f.n] from unnest(fresh) with ordinality as f(n, ord) order by f.ord);
    keys := array(select keys[f.n] from unnest(fresh) with ordinality as f(n, ord) order by f.ord);
  end if;
  if cardinality(wanted) > 0 then
    verdicts := sms.accept(wanted, true);
    perform platform.free_keys(array(
      select keys[n] from generate_subscripts(wanted, 1) n where verdicts[n].verdict <> 'accepted' and keys[n].key is not null));
  end if;
  return query select known[n], verdicts[array_position(fresh, n)].verdict, verdicts[array_position(fresh, n)].existing
    from generate_subscripts(items, 1) n order by n;
end $$;
