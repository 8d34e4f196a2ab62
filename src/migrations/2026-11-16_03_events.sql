-- Events: the outbox.

create schema if not exists events;

-- One row is something that happened to an account's things, as it is told to the customer: the outbox. Written in the
-- transaction of the change it tells of. A change that is told under two names (`sms.status` and its own) is one row:
-- twin_type is the narrower name and twin_head how that one's body begins, up to its time; null for most. created_at is
-- when it happened by the account's own clock, which in the sandbox may be ahead of the clock that ids are made by; null
-- where the id says it: in live.
create table events.events (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  type        text not null,
  resource_id text not null,
  body        text not null,
  request_id  text,
  twin_type   text,
  twin_head   text,
  created_at  timestamptz,
  primary key (bucket, account_id, environment, id)
) partition by range (id);
select platform.ensure_partitions('events.events', 'month', 2);

-- What an area hands over of an event. `within` names the broader event that tells of the same change; callback_url is
-- an address that is told beside all subscribers; created_at is the account's own time; owner is the node that delivers
-- at once, if it does. events.emit takes such rows.
create type events.event_item as (
  bucket smallint, account_id uuid, environment text, id uuid, type text, resource_id text, body text, request_id text,
  within text, callback_url text, created_at timestamptz, owner uuid
);
