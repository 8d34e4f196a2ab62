-- Webhooks: who wants to hear of what, and what became of telling them. A delivery is written in the transaction of the
-- change it tells of, with a job (work.jobs, lane webhooks.deliver, the delivery's id) that is born leased to the node
-- which makes the change.

create schema if not exists webhooks;

create domain webhooks.delivery_status as text check (value in ('pending', 'delivering', 'delivered', 'failed', 'cancelled'));
create domain webhooks.endpoint_state as text check (value in ('healthy', 'degraded', 'failing'));

-- One row is an address that an account registered. Secrets and custom headers are sealed. `version` grows with every
-- change that matters to a delivery, so that nodes notice that what they remember is old.
create table webhooks.endpoints (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  id              uuid not null,
  version         int not null default 1,
  url             text not null,
  events          text[] not null,
  description     text,
  enabled         boolean not null,
  disabled_reason text,
  headers         bytea,
  ordered         boolean not null,
  rate_limit      int,
  filters         jsonb not null,
  secret          bytea not null,
  next_secret     bytea,
  activates_at    timestamptz,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (bucket, account_id, environment, id)
) with (fillfactor = 70);

-- One row is how an endpoint has been doing. failing_since and failed_deliveries count from its last success.
create table webhooks.health (
  bucket            smallint not null,
  account_id        uuid not null,
  environment       text not null,
  endpoint_id       uuid not null,
  state             webhooks.endpoint_state not null default 'healthy',
  failing_since     timestamptz,
  failed_deliveries int not null default 0,
  last_success_at   timestamptz,
  last_failure_at   timestamptz,
  last_status       smallint,
  primary key (bucket, account_id, environment, endpoint_id)
) with (fillfactor = 50);

-- One row counts an endpoint's attempts of one hour; durations counts the successful ones by their duration.
create table webhooks.hours (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  endpoint_id uuid not null,
  hour        timestamptz not null,
  delivered   int not null,
  failed      int not null,
  durations   int[] not null,
  primary key (bucket, account_id, environment, endpoint_id, hour)
) with (fillfactor = 50);

-- One row is the account's secret that signs what goes to callback_url, event_url and answer_url. Sealed.
create table webhooks.callback_secrets (
  bucket       smallint not null,
  account_id   uuid not null,
  environment  text not null,
  version      int not null default 1,
  secret       bytea not null,
  next_secret  bytea,
  activates_at timestamptz,
  primary key (bucket, account_id, environment)
);

-- One row is an event on its way to one endpoint. Who looks for one delivery also names its endpoint, so that any of the
-- indexes finds it at once: the plan for a partition is made while it is empty, and then all of them look alike. `body` is
-- kept only when the event itself is not (a test). `log` has one entry for each attempt: JSON objects with commas between
-- them. heard_since says that it failed, and that its event was heard when it was sent again. What goes to the URL that a
-- request named for its own callbacks has no row here, since nobody could read its log: its job carries all there is to know.
create table webhooks.deliveries (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  id              uuid not null,
  endpoint_id     uuid not null,
  url             text,
  event_id        uuid not null,
  event           text not null,
  resource_id     text not null,
  status          webhooks.delivery_status not null,
  ordered         boolean not null,
  attempts        smallint not null default 0,
  created_at      timestamptz not null,
  next_attempt_at timestamptz,
  delivered_at    timestamptz,
  last_error      text,
  response_status smallint,
  duration_ms     int,
  test            boolean not null default false,
  replay_of       uuid,
  replay_id       uuid,
  body            text,
  log             text not null default '',
  heard_since     boolean not null default false,
  primary key (bucket, account_id, environment, id)
) partition by range (id);
create index deliveries_of_endpoint on webhooks.deliveries (bucket, endpoint_id, id);
-- What an ordered endpoint has to hear, by what it is about. The status is not part of it: a status in an index would
-- make every change of it a change of every index.
create index deliveries_in_order on webhooks.deliveries (bucket, endpoint_id, resource_id, id) where ordered;
-- A delivery grows by the log of its first attempt a moment after it was written; the room for it is left beside it.
select platform.ensure_partitions('webhooks.deliveries', 'day', 3, 20);

-- One row is a window of time that is being delivered again.
create table webhooks.replays (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  endpoint_id uuid not null,
  since       timestamptz not null,
  until       timestamptz not null,
  status      text not null,
  events      text[],
  total       int not null,
  queued      int not null default 0,
  cursor      uuid,
  finished    boolean not null default false,
  created_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);

-- An event on its way to one address; n is the place of the event among those of the commit.
create type webhooks.match as (
  n int, id uuid, endpoint_id uuid, version int, ordered boolean, bucket smallint, account_id uuid, environment text,
  event_id uuid, event text, resource_id text, url text, created_at timestamptz, owner uuid
);
