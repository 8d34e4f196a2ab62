-- The messenger channel: messages both ways, whom an account writes with, templates, and the numbers that operators connect.

create schema if not exists messenger;

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
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  provider_id text not null,
  id          uuid not null,
  primary key (bucket, account_id, environment, provider_id)
);

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
