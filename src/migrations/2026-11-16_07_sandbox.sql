-- The sandbox: addresses that catch whatever is sent to them, for trying out webhooks without a server of one's own.

create schema if not exists sandbox;

-- One row leads from a token, which is all that a caller of the address brings, to the hook it belongs to.
create table sandbox.hook_tokens (
  token       text primary key,
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  hook_id     uuid not null
);

-- One row is an address that catches requests. `secret` (sealed) is what they should be signed with, if the customer says
-- so; `caught` counts them all, also those that are no longer kept.
create table sandbox.hooks (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  token       text not null,
  secret      bytea,
  caught      int not null default 0,
  primary key (bucket, account_id, environment, id)
) with (fillfactor = 50);

-- One row is a request that was caught. `query` is the script by which it was answered.
create table sandbox.hook_requests (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  hook_id         uuid not null,
  id              uuid not null,
  method          text not null,
  query           text not null,
  headers         jsonb not null,
  body            text not null,
  truncated       boolean not null,
  signature_valid boolean,
  response_status smallint,
  primary key (bucket, account_id, environment, hook_id, id)
);
create index hook_requests_by_time on sandbox.hook_requests (bucket, id);
