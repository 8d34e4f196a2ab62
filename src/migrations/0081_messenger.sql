-- The messenger channel: messages both ways, whom an account writes with, templates, and the numbers that operators connect.

create schema messenger;

create domain messenger.direction as text check (value in ('outbound', 'inbound'));
create domain messenger.status as text check (value in ('accepted', 'sent', 'delivered', 'read', 'failed', 'received'));
create domain messenger.template_status as text check (value in ('PENDING', 'APPROVED', 'REJECTED', 'PAUSED', 'DISABLED'));

-- One row is a number of a business at a provider, as an operator connected it.
create table messenger.channels (
  id              uuid not null primary key,
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  name            text not null,
  base_url        text not null,
  phone_number_id text not null,
  business_id     text not null,
  display_number  text not null,
  -- Token, app secret and verify token, sealed for the installation.
  sealed          bytea not null,
  created_at      timestamptz not null,
  unique (phone_number_id)
);
comment on table messenger.channels is 'Reference: looked up by the number that a provider speaks of, before the tenant is known.';
create unique index channels_of_account on messenger.channels (account_id, environment);

-- One row is a message that an account sent or got.
create table messenger.messages (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  id              uuid not null,
  direction       messenger.direction not null,
  status          messenger.status not null,
  type            text not null,
  recipient       text not null,
  sender          text not null,
  content         jsonb not null,
  context_id      text,
  template        text,
  language        text,
  metadata        jsonb not null default '{}',
  reference       text,
  callback_url    text,
  fallback        jsonb,
  -- What was sent in its place: the id of a text.
  fallback_id     text,
  unit            text,
  cost            bigint not null default 0,
  currency        text,
  country         text,
  provider_id     text,
  errors          jsonb,
  request_id      text,
  clock_offset_ms bigint not null default 0,
  created_at      timestamptz not null,
  sent_at         timestamptz,
  delivered_at    timestamptz,
  read_at         timestamptz,
  failed_at       timestamptz,
  primary key (bucket, account_id, environment, id)
);
create index messages_with on messenger.messages (bucket, account_id, environment, recipient, id);
create index messages_from on messenger.messages (bucket, account_id, environment, sender, id);

create unique index messages_by_reference on messenger.messages (bucket, account_id, environment, reference)
  where reference is not null;

-- One row is a provider's id of a message, and whose message it is.
create table messenger.provider_ids (
  provider_id text not null primary key,
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null
);
comment on table messenger.provider_ids is 'Reference: providers speak of their own ids, before the tenant is known.';

-- One row is a user whom an account writes with, or who may not be written to.
create table messenger.contacts (
  bucket            smallint not null,
  account_id        uuid not null,
  environment       text not null,
  phone             text not null,
  name              text,
  window_expires_at timestamptz,
  last_inbound_at   timestamptz,
  opted_in_at       timestamptz,
  opted_out_at      timestamptz,
  source            text,
  updated_at        timestamptz not null,
  primary key (bucket, account_id, environment, phone)
);

-- One row is a template of an account in one language.
create table messenger.templates (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  id              uuid not null,
  name            text not null,
  language        text not null,
  category        text not null,
  status          messenger.template_status not null,
  components      jsonb not null,
  rejected_reason text,
  quality         text not null default 'UNKNOWN',
  provider_id     text,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (bucket, account_id, environment, id)
);
create unique index templates_by_name on messenger.templates (bucket, account_id, environment, name, language);

create type messenger.submit_item as (
  bucket smallint, account uuid, environment text, id uuid, type text, recipient text, sender text, content jsonb,
  context_id text, template text, language text, metadata jsonb, reference text, callback_url text, fallback jsonb, unit text, cost bigint,
  currency text, country text, clock_offset_ms bigint, created_at timestamptz, needs_window boolean, transfer uuid,
  job uuid, owner uuid, job_payload jsonb, timer uuid, timer_ms bigint, timer_payload jsonb,
  audit uuid, actor text, ip text, request text,
  key text, request_hash text, reply_status smallint, reply_body text
);

-- Accepts many messages in one commit: the window and the opt-out of each recipient, keys, charges, rows, jobs and audit
-- entries, one verdict each. What is refused is neither stored nor charged.
create function messenger.submit(node uuid, items messenger.submit_item[]) returns table (seen text, verdict text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  item     messenger.submit_item;
  keys     platform.idempotency_item[];
  known    text[];
  answers  text[] := array_fill(null::text, array[cardinality(items)]);
  charged  int[] := '{}';
  charges  ledger.charge_item[] := '{}';
  verdicts text[];
  accepted messenger.submit_item[] := '{}';
  refused  platform.idempotency_item[] := '{}';
  jobs     work.job_item[] := '{}';
  audits   platform.audit_item[] := '{}';
  contact  record;
  used     text[] := '{}';
begin
  foreach item in array items loop
    keys := keys || row(item.bucket, item.account, item.environment, item.key, item.request_hash, item.reply_status,
                        item.reply_body)::platform.idempotency_item;
  end loop;
  known := platform.claim_keys(keys);
  for n in 1 .. cardinality(items) loop
    continue when known[n] is not null;
    item := items[n];
    select c.window_expires_at, c.opted_out_at into contact from messenger.contacts c
     where c.bucket = item.bucket and c.account_id = item.account and c.environment = item.environment
       and c.phone = item.recipient;
    if item.reference is not null and (concat_ws(' ', item.account, item.environment, item.reference) = any(used)
        or exists (select from messenger.messages m where m.bucket = item.bucket and m.account_id = item.account
                      and m.environment = item.environment and m.reference = item.reference)) then
      answers[n] := 'duplicate';
    elsif contact.opted_out_at is not null then
      answers[n] := 'opted_out';
    elsif item.needs_window and (contact.window_expires_at is null
        or date_trunc('second', item.created_at) > date_trunc('second', contact.window_expires_at)) then
      answers[n] := 'window_closed';
    else
      charged := charged || n;
      used := used || concat_ws(' ', item.account, item.environment, item.reference);
      charges := charges || row(item.bucket, item.account, item.environment, item.currency, item.cost, item.id, 'charge',
                                item.transfer, 'revenue:messenger')::ledger.charge_item;
    end if;
  end loop;
  verdicts := ledger.charge(charges);
  for place in 1 .. cardinality(charged) loop
    answers[charged[place]] := verdicts[place];
  end loop;
  for n in 1 .. cardinality(items) loop
    continue when known[n] is not null;
    item := items[n];
    if answers[n] <> 'charged' then
      refused := refused || keys[n];
      continue;
    end if;
    accepted := accepted || item;
    jobs := jobs || row(item.bucket, item.job, 'messenger.submit', item.account, item.environment, null, item.owner, 0,
                        item.job_payload)::work.job_item;
    if item.timer is not null then
      jobs := jobs || row(item.bucket, item.timer, 'messenger.fallback', item.account, item.environment, null, null,
                          item.timer_ms, item.timer_payload)::work.job_item;
    end if;
    if item.audit is not null then
      audits := audits || row(item.bucket, item.account, item.environment, item.audit, item.actor, 'messenger.send',
                              'messenger:' || item.id, null, null, item.ip, item.request)::platform.audit_item;
    end if;
  end loop;
  perform platform.free_keys(refused);
  insert into messenger.messages (bucket, account_id, environment, id, direction, status, type, recipient, sender, content,
                                  context_id, template, language, metadata, reference, callback_url, fallback, unit, cost, currency,
                                  country, request_id, clock_offset_ms, created_at)
  select i.bucket, i.account, i.environment, i.id, 'outbound', 'accepted', i.type, i.recipient, i.sender, i.content,
         i.context_id, i.template, i.language, i.metadata, i.reference, i.callback_url, i.fallback, i.unit, i.cost, i.currency,
         i.country, i.request, i.clock_offset_ms, i.created_at
    from unnest(accepted) i;
  perform work.add(jobs);
  perform platform.record(audits);
  return query select known[n], answers[n] from generate_subscripts(items, 1) n order by n;
end $$;

create type messenger.change_item as (
  bucket smallint, account uuid, environment text, id uuid, status text, at timestamptz, provider_id text, errors jsonb,
  transfer uuid, job uuid, attempt int, fallback_job uuid,
  event_id uuid, event_type text, event_resource text, event_body text, event_request text, event_within text,
  event_callback text, event_at timestamptz, event_owner uuid
);

-- How far a message has come; a later status never goes back to an earlier one.
create function messenger.rank(status text) returns int language sql immutable parallel safe as $$
  select case status when 'accepted' then 0 when 'sent' then 1 when 'delivered' then 2 when 'read' then 3 else 4 end
$$;

-- Takes what became of messages: a status that leads further is stored and told of, one that comes late only fills in its
-- time, one that came before changes nothing. A message that fails is paid back.
create function messenger.change(node uuid, items messenger.change_item[]) returns table (changed boolean, deliveries text)
  language plpgsql set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  item    messenger.change_item;
  before  messenger.messages;
  fresh   boolean[] := '{}';
  tell    events.event_item[] := '{}';
  back    ledger.charge_item[] := '{}';
  told    text[];
  place   int := 0;
  further boolean;
  jobs    work.job_item[] := '{}';
begin
  -- In one order, so that two commits that speak of the same messages do not wait for each other.
  perform from messenger.messages m join unnest(items) i
       on m.bucket = i.bucket and m.account_id = i.account and m.environment = i.environment and m.id = i.id
    order by m.bucket, m.id for update of m;
  foreach item in array items loop
    select m.* into before from messenger.messages m
     where m.bucket = item.bucket and m.account_id = item.account and m.environment = item.environment and m.id = item.id
       and m.direction = 'outbound';
    further := before.id is not null and case item.status
      when 'failed' then before.status in ('accepted', 'sent')
      else messenger.rank(before.status) < messenger.rank(item.status) end;
    fresh := fresh || further;
    if before.id is not null and before.status <> 'failed' then
      update messenger.messages m
         set status = case when further then item.status else m.status end,
             provider_id = coalesce(m.provider_id, item.provider_id),
             errors = case when further then item.errors else m.errors end,
             sent_at = case when item.status in ('sent', 'delivered', 'read') then least(m.sent_at, item.at) else m.sent_at end,
             delivered_at = case when item.status in ('delivered', 'read') then least(m.delivered_at, item.at) else m.delivered_at end,
             read_at = case when item.status = 'read' then least(m.read_at, item.at) else m.read_at end,
             failed_at = case when further and item.status = 'failed' then item.at else m.failed_at end,
             cost = case when further and item.status = 'failed' then 0 else m.cost end
       where m.bucket = item.bucket and m.account_id = item.account and m.environment = item.environment and m.id = item.id;
      if item.provider_id is not null then
        insert into messenger.provider_ids (provider_id, bucket, account_id, environment, id)
        values (item.provider_id, item.bucket, item.account, item.environment, item.id) on conflict do nothing;
      end if;
    end if;
    if further then
      tell := tell || row(item.bucket, item.account, item.environment, item.event_id, item.event_type, item.event_resource,
                          item.event_body, item.event_request, item.event_within, item.event_callback, item.event_at,
                          item.event_owner)::events.event_item;
      if item.status = 'failed' and before.fallback is not null then
        jobs := jobs || row(item.bucket, item.fallback_job, 'messenger.fallback', item.account, item.environment, null, null, 0,
                            jsonb_build_object('message', item.id))::work.job_item;
      end if;
      if item.status = 'failed' and before.cost > 0 then
        back := back || row(item.bucket, item.account, item.environment, before.currency, before.cost, before.id, 'charge',
                            item.transfer, 'revenue:messenger')::ledger.charge_item;
      end if;
    end if;
  end loop;
  perform ledger.uncharge(back);
  perform work.add(jobs);
  delete from work.jobs j using unnest(items) i
   where j.bucket = any(array[i.bucket]) and j.id = i.job and j.attempt = i.attempt;
  told := events.emit(tell);
  for n in 1 .. cardinality(items) loop
    changed := fresh[n];
    deliveries := null;
    if changed then
      place := place + 1;
      deliveries := told[place];
    end if;
    return next;
  end loop;
end $$;
