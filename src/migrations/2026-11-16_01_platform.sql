-- Platform: what every area stands on. Nodes and leases, idempotency keys, the audit and request logs, rate limits and
-- encryption keys. Tenant tables lead with (bucket, account_id, environment): the bucket is what a cluster shards by, the
-- environment keeps test data out of live data.
--
-- What a column of a much-written table may hold is the rule of its type, here and in the files after this one. PostgreSQL
-- reads and plans every CHECK of a table anew for each statement that writes to it, whichever columns that statement sets: 17
-- thousand instructions for an amount above zero, 74 thousand for one status out of seven, more than the row itself costs.
-- The rule of a type it keeps ready, and looks at only when the column is set. What holds between columns stays with the table.

create schema if not exists platform;

create domain platform.environment as text check (value in ('test', 'live'));

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

-- One row is one rate limit key and the nodes that hold slots of it: {node: {slots, call, until}}, until in Unix
-- milliseconds.
create table platform.rate_slots (
  key        text primary key,
  holders    jsonb not null default '{}',
  held_until timestamptz not null
) with (fillfactor = 50);

-- An Idempotency-Key with the answer that is stored under it; key null: none was sent.
create type platform.idempotency_item as (
  bucket smallint, account_id uuid, environment text, key text, request_hash text, status smallint, body text
);

-- An entry of the audit log.
create type platform.audit_item as (
  bucket smallint, account_id uuid, environment text, id uuid, actor text, action text, target text,
  before jsonb, after jsonb, ip text, request_id text
);
