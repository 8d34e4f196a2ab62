-- Functions that take arrays of rows are called for every write. They keep one generic plan, which nested index look-ups
-- make right for any batch and any table size: planning anew for each batch cost more than the work itself.
--
-- What every area stands on: nodes and leases, partitions, idempotency keys, the audit and request logs, encryption
-- keys, the job table and the outbox. Tenant tables lead with (bucket, account_id, environment): the bucket is what a
-- cluster shards by, the environment keeps test data out of live data.

create schema platform;
create schema work;
create schema events;

-- One row is a running process.
create table platform.nodes (
  id         uuid primary key,
  host       text not null,
  version    text not null,
  roles      text[] not null,
  started_at timestamptz not null default now(),
  seen_at    timestamptz not null default now()
);

-- One row is something only one node may do at a time. The epoch grows with each change of owner; a write that carries
-- an old epoch comes from a node that has lost the lease without noticing.
create table platform.leases (
  name       text primary key,
  owner      uuid not null,
  epoch      bigint not null,
  expires_at timestamptz not null
);

-- One row is a key that signs access tokens. The private half is sealed under the installation's root key.
create table platform.signing_keys (
  id         text primary key,
  public_key jsonb not null,
  sealed     bytea not null,
  created_at timestamptz not null default now()
);

-- One row is a key of the whole installation that never changes, sealed under its root key.
create table platform.install_keys (
  name   text primary key,
  sealed bytea not null
);

-- One row is a key that encrypts an account's secrets, itself wrapped under a root key.
create table platform.data_keys (
  bucket     smallint not null,
  account_id uuid not null,
  id         smallint not null,
  root_key   text not null,
  wrapped    bytea not null,
  created_at timestamptz not null default now(),
  primary key (bucket, account_id, id)
);

-- Partitions ------------------------------------------------------------------------------------------------------

-- The smallest UUIDv7 of a moment. Big tables are partitioned by range of such ids, so retention is a DROP.
create function platform.uuid_at(at timestamptz) returns uuid language sql immutable as $$
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid
$$;

-- Makes the partitions of a table from the current period to `ahead` periods on. The first one reaches back to the
-- beginning of time; a default partition catches what maintenance, if it stood still for long, did not foresee. Such
-- rows move to their partition when it is made: PostgreSQL makes none over rows that lie in the default one. `fill`
-- leaves room in each page for rows that change soon after they are written.
create function platform.ensure_partitions(parent text, period text, ahead int, fill int default 100) returns void
  language plpgsql as $$
declare
  step   interval := ('1 ' || period)::interval;
  -- Without a zone: where the clocks change, a day of the session's zone is not a day of UTC.
  start  timestamp := date_trunc(period, now() at time zone 'UTC');
  first  boolean := not exists (select from pg_inherits where inhparent = parent::regclass);
  child  text;
  since  uuid;
  upto   uuid;
begin
  if first then
    execute format('create table if not exists %s_default partition of %s default', parent, parent);
  end if;
  for i in 0 .. ahead loop
    child := parent || to_char(start + i * step, '_YYYYMMDD');
    since := platform.uuid_at((start + i * step) at time zone 'UTC');
    upto := platform.uuid_at((start + (i + 1) * step) at time zone 'UTC');
    if to_regclass(child) is null then
      execute format('lock table %s_default in access exclusive mode', parent);
      execute format('create table %s (like %s including all) with (fillfactor = %s)', child, parent, fill);
      execute format('with moved as (delete from %s_default where id >= %L and id < %L returning *)
                      insert into %s select * from moved', parent, since, upto, child);
      execute format('alter table %s attach partition %s for values from (%s) to (%L)', parent, child,
        case when first and i = 0 then 'minvalue' else quote_literal(since) end, upto);
    end if;
  end loop;
end $$;

-- Drops the partitions of a table whose rows are all older than `before`.
create function platform.drop_partitions(parent text, before timestamptz) returns int language plpgsql as $$
declare
  child   record;
  dropped int := 0;
begin
  for child in
    select c.oid::regclass::text as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = parent::regclass
       and substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''([0-9a-f-]{36})''\)')::uuid <= platform.uuid_at(before)
  loop
    execute 'drop table ' || child.name;
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;

-- Idempotency -----------------------------------------------------------------------------------------------------

-- One row is an Idempotency-Key a customer sent and what it was answered. While status is null the first request is
-- still running, until running_until: then its node is taken for dead and the key is free again.
create table platform.idempotency (
  bucket        smallint not null,
  account_id    uuid not null,
  environment   text not null,
  key           text not null,
  request_hash  text not null,
  status        smallint,
  location      text,
  body          text,
  sealed        boolean not null default false,
  running_until timestamptz,
  created_at    timestamptz not null default now(),
  primary key (bucket, account_id, environment, key)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
create index idempotency_age on platform.idempotency using brin (created_at);

create type platform.idempotency_item as (
  bucket smallint, account_id uuid, environment text, key text, request_hash text, status smallint, body text
);

-- Stores the keys of a group commit with their answers, before anything else happens in it. Gives for each item null
-- when the key is new (or none was sent), 'same' when it was used for the same request, else 'other'. As a rule all are
-- new, and a plain insert does it. Sorted, so that two nodes with the same keys wait for each other instead of
-- deadlocking.
create function platform.claim_keys(items platform.idempotency_item[]) returns text[] language plpgsql
  set plan_cache_mode = force_generic_plan as $$
begin
  insert into platform.idempotency (bucket, account_id, environment, key, request_hash, status, body)
  select i.bucket, i.account_id, i.environment, i.key, i.request_hash, i.status, i.body
    from unnest(items) i where i.key is not null
   order by i.bucket, i.account_id, i.environment, i.key;
  return array_fill(null::text, array[cardinality(items)]);
exception when unique_violation then
  return platform.claim_new_keys(items);
end $$;

-- The same when some keys were used before. The second look is a statement of its own, so that it sees what another node
-- committed meanwhile.
create function platform.claim_new_keys(items platform.idempotency_item[]) returns text[] language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  fresh platform.idempotency_item[];
  seen  text[];
begin
  with made as (
    insert into platform.idempotency (bucket, account_id, environment, key, request_hash, status, body)
    select i.bucket, i.account_id, i.environment, i.key, i.request_hash, i.status, i.body
      from unnest(items) i where i.key is not null
     order by i.bucket, i.account_id, i.environment, i.key
    on conflict (bucket, account_id, environment, key) do nothing
    returning bucket, account_id, environment, key
  )
  select array_agg(row(m.bucket, m.account_id, m.environment, m.key, null, null, null)::platform.idempotency_item)
    into fresh from made m;
  select array_agg(case when i.key is null or f.key is not null then null
                        when k.request_hash = i.request_hash then 'same' else 'other' end order by i.ord)
    into seen
    from unnest(items) with ordinality
      as i(bucket, account_id, environment, key, request_hash, status, body, ord)
    left join unnest(fresh) f
      on f.bucket = i.bucket and f.account_id = i.account_id and f.environment = i.environment and f.key = i.key
    left join platform.idempotency k
      on k.bucket = i.bucket and k.account_id = i.account_id and k.environment = i.environment and k.key = i.key;
  return seen;
end $$;

-- Frees the keys of items that a group commit refused after all: their answer is the refusal, stored separately.
create function platform.free_keys(items platform.idempotency_item[]) returns void language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  delete from platform.idempotency k using unnest(items) i
   where i.key is not null
     and k.bucket = i.bucket and k.account_id = i.account_id and k.environment = i.environment and k.key = i.key;
end $$;

-- Audit -----------------------------------------------------------------------------------------------------------

-- One row is a change somebody made, and what it looked like before and after. Never updated, never deleted.
create table platform.audit (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  actor       text not null,
  action      text not null,
  target      text not null,
  before      jsonb,
  after       jsonb,
  ip          text not null,
  request_id  text not null,
  primary key (bucket, account_id, environment, id)
) partition by range (id);
select platform.ensure_partitions('platform.audit', 'month', 2);

create type platform.audit_item as (
  bucket smallint, account_id uuid, environment text, id uuid, actor text, action text, target text,
  before jsonb, after jsonb, ip text, request_id text
);

create function platform.record(items platform.audit_item[]) returns void language plpgsql as $$
begin
  insert into platform.audit (bucket, account_id, environment, id, actor, action, target, before, after, ip, request_id)
  select i.bucket, i.account_id, i.environment, i.id, i.actor, i.action, i.target, i.before, i.after, i.ip, i.request_id
    from unnest(items) i;
end $$;

-- Request log -----------------------------------------------------------------------------------------------------

-- One row is a request somebody made with valid credentials, bodies redacted and cut.
create table platform.requests (
  bucket        smallint not null,
  account_id    uuid not null,
  environment   text not null,
  id            uuid not null,
  key_id        uuid not null,
  operation     text,
  method        text not null,
  path          text not null,
  status        smallint not null,
  error_code    text,
  duration_us   int not null,
  ip            text not null,
  warning       text,
  request_body  text,
  response_body text,
  primary key (bucket, account_id, environment, id)
) partition by range (id);
select platform.ensure_partitions('platform.requests', 'day', 3);

-- One row counts an account's requests of one day and operation.
create table platform.usage (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  day         date not null,
  area        text not null,
  operation   text not null,
  requests    int not null,
  errors      int not null,
  primary key (bucket, account_id, environment, day, area, operation)
) with (fillfactor = 70);

-- Work ------------------------------------------------------------------------------------------------------------

-- One row is a job to be done at or after run_at. A lease is run_at pushed forward: a node that dies lets its jobs fall
-- due again by itself. The attempt grows with every run and fences it; failures counts those since the last run that did
-- not fail. A job that used up its attempts waits at infinity for an operator.
create table work.jobs (
  bucket      smallint not null,
  id          uuid not null,
  lane        text not null,
  run_at      timestamptz not null,
  account_id  uuid,
  environment text,
  key         text,
  attempt     int not null,
  failures    int not null default 0,
  owner       uuid,
  payload     jsonb not null,
  last_error  text,
  created_at  timestamptz not null default now(),
  primary key (bucket, id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index jobs_due on work.jobs (lane, run_at);
-- A lane with an @ is shared out between accounts.
create index jobs_in_turn on work.jobs (lane, account_id, run_at) where lane like '%@%';
create index jobs_of_account on work.jobs (bucket, account_id, environment) where owner is null;

-- owner set: born leased to that node, which starts it as soon as the commit returns. owner null: due after delay_ms.
create type work.job_item as (
  bucket smallint, id uuid, lane text, account_id uuid, environment text, key text, owner uuid, delay_ms bigint,
  payload jsonb
);

create function work.add(items work.job_item[]) returns void language plpgsql as $$
begin
  insert into work.jobs (bucket, id, lane, run_at, account_id, environment, key, attempt, owner, payload)
  select i.bucket, i.id, i.lane,
         now() + case when i.owner is null then i.delay_ms * interval '1 millisecond' else interval '14 seconds' end,
         i.account_id, i.environment, i.key, case when i.owner is null then 0 else 1 end, i.owner, i.payload
    from unnest(items) i;
end $$;

-- Leases up to limits[n] due jobs of lanes[n] to a node. Rows another node is just taking are passed over.
create function work.claim(node uuid, buckets smallint[], lanes text[], limits int[], lease_seconds int[])
  returns setof work.jobs language sql set enable_hashjoin = off set enable_mergejoin = off as $$
  update work.jobs j
     set run_at = now() + due.seconds * interval '1 second', owner = node, attempt = j.attempt + 1
    from (select d.bucket, d.id, l.seconds
            from unnest(lanes, limits, lease_seconds) as l(lane, most, seconds)
           cross join lateral (
             select w.bucket, w.id from work.jobs w
              where w.lane = l.lane and w.run_at <= now() and w.bucket = any(buckets)
              order by w.run_at limit l.most for update skip locked) d) due
   where j.bucket = due.bucket and j.id = due.id
  returning j.*
$$;

-- The same for one lane that is shared out: of each account that waits an equal part, however long one of them has waited
-- or however much of it there is. Accounts are looked up one after the other in the index, from `since` on, at most a
-- thousand; passed_over have as much as they may.
create function work.claim_in_turn(node uuid, buckets smallint[], lane_name text, most int, lease_seconds int, since uuid,
                                   passed_over uuid[])
  returns setof work.jobs language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
  set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  waiting uuid[];
begin
  with recursive accounts as (
    (select w.account_id as id from work.jobs w
      where w.lane = lane_name and w.lane like '%@%' and w.account_id > since order by w.account_id limit 1)
    union all
    select (select w.account_id from work.jobs w
             where w.lane = lane_name and w.lane like '%@%' and w.account_id > a.id order by w.account_id limit 1)
      from accounts a where a.id is not null)
  select array_agg(a.id) into waiting
    from (select f.id from accounts f where f.id is not null limit 1000) a
   where a.id <> all(passed_over)
     and now() >= (select w.run_at from work.jobs w
                    where w.lane = lane_name and w.lane like '%@%' and w.account_id = a.id order by w.run_at limit 1);
  if waiting is null then return; end if;
  return query
    update work.jobs j
       set run_at = now() + lease_seconds * interval '1 second', owner = node, attempt = j.attempt + 1
      from (select d.bucket, d.id from unnest(waiting) as a(id)
             cross join lateral (
               select w.bucket, w.id from work.jobs w
                where w.lane = lane_name and w.lane like '%@%' and w.account_id = a.id and w.run_at <= now()
                  and w.bucket = any(buckets)
                order by w.run_at limit greatest(1, most / cardinality(waiting)) for update skip locked) d
             limit most) due
     where j.bucket = due.bucket and j.id = due.id
    returning j.*;
end $$;

-- Puts jobs into another lane, with another payload, fenced by the attempt. keep: they stay with this node, which goes on
-- with them at once. Gives whether a job was still this node's.
create type work.move_item as (
  bucket smallint, id uuid, attempt int, lane text, payload jsonb, delay_ms bigint, keep boolean
);

create function work.move(node uuid, items work.move_item[]) returns table (moved boolean) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  update work.jobs j
     set lane = i.lane, payload = i.payload, failures = 0, last_error = null,
         owner = case when i.keep then node end,
         run_at = now() + case when i.keep then interval '14 seconds' else i.delay_ms * interval '1 millisecond' end
    from unnest(items) i where j.bucket = i.bucket and j.id = i.id and j.attempt = i.attempt;
  return query
    select exists (select from work.jobs j where j.bucket = i.bucket and j.id = i.id and j.attempt = i.attempt)
      from unnest(items) with ordinality as i(bucket, id, attempt, lane, payload, delay_ms, keep, n) order by i.n;
end $$;

-- Settles jobs after a run, fenced by the attempt: a node that lost its lease changes nothing. delay_ms null: done,
-- the row goes; negative: used up, it waits for an operator; else it runs again after that long.
create type work.settle_item as (bucket smallint, id uuid, attempt int, delay_ms bigint, error text);

create function work.settle(node uuid, items work.settle_item[]) returns table (settled boolean) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  delete from work.jobs j using unnest(items) i
   where j.bucket = i.bucket and j.id = i.id and j.attempt = i.attempt and i.delay_ms is null;
  update work.jobs j
     set owner = null, last_error = i.error, failures = case when i.error is null then 0 else j.failures + 1 end,
         run_at = case when i.delay_ms < 0 then 'infinity' else now() + i.delay_ms * interval '1 millisecond' end
    from unnest(items) i
   where j.bucket = i.bucket and j.id = i.id and j.attempt = i.attempt and i.delay_ms is not null;
  return query select true from unnest(items);
end $$;

-- Events ----------------------------------------------------------------------------------------------------------

-- One row is something that happened to an account's things, as it is told to the customer: the outbox. Written in the
-- transaction of the change it tells of.
create table events.events (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  type        text not null,
  resource_id text not null,
  body        text not null,
  request_id  text,
  primary key (bucket, account_id, environment, id)
) partition by range (id);
select platform.ensure_partitions('events.events', 'month', 2);

-- What an area hands over of an event. `within` names the broader event that tells of the same change; callback_url is
-- an address that is told beside all subscribers; created_at is the account's own time; owner is the node that delivers
-- at once, if it does. events.emit takes such rows; it stands with the webhooks, whom it tells.
create type events.event_item as (
  bucket smallint, account_id uuid, environment text, id uuid, type text, resource_id text, body text, request_id text,
  within text, callback_url text, created_at timestamptz, owner uuid
);

-- The bodies of many events, each once, for whoever keeps only their ids.
create function events.bodies(buckets smallint[], accounts uuid[], environments text[], ids uuid[])
  returns table (event_id uuid, body text) language plpgsql stable
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return query select e.id, e.body
    from (select distinct * from unnest(buckets, accounts, environments, ids)) as w(bucket, account, environment, id)
    join events.events e
      on e.bucket = w.bucket and e.account_id = w.account and e.environment = w.environment and e.id = w.id;
end $$;
