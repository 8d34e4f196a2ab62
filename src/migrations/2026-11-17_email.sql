-- Email: what customers send, to whom, and what became of it; templates, domains, suppressions and bulk sends.

create schema if not exists email;

-- One row is a message. created_at and later moments are the account's own time. content_id names what it says: a row of
-- email.contents of its own, or that of its bulk. Its status is that of the recipient who is least far. `metadata` is the
-- text that was sent, so that it comes back as it was.
create table email.messages (
  bucket           smallint not null,
  account_id       uuid not null,
  environment      text not null,
  id               uuid not null,
  status           text not null check (status in ('scheduled', 'queued', 'sent', 'delivered', 'bounced', 'failed', 'cancelled')),
  sender           text not null,
  domain           text not null,
  subject          text not null,
  stream           text not null check (stream in ('transactional', 'bulk')),
  source           text not null check (source in ('api', 'smtp', 'system')),
  content_id       uuid not null,
  template         text,
  bulk_id          uuid,
  bulk_index       int,
  variables        jsonb,
  tags             text[] not null,
  metadata         text not null,
  track_opens      boolean not null,
  track_clicks     boolean not null,
  callback_url     text,
  reference        text,
  request_id       text,
  recipients       smallint not null,
  size             int not null,
  unit_price       bigint not null,
  cost             bigint not null,
  currency         text not null,
  reason           text,
  scheduled_at     timestamptz,
  expires_at       timestamptz not null,
  created_at       timestamptz not null,
  primary key (bucket, account_id, environment, id)
) partition by range (id);
create index messages_of_bulk on email.messages (bucket, account_id, environment, bulk_id, bulk_index) where bulk_id is not null;
select platform.ensure_partitions('email.messages', 'month', 2, 70);

-- One row is a recipient of a message. clicked_links are the links that were followed at least once, by number.
create table email.recipients (
  bucket           smallint not null,
  account_id       uuid not null,
  environment      text not null,
  message_id       uuid not null,
  number           smallint not null,
  email            text not null,
  name             text,
  type             text not null check (type in ('to', 'cc', 'bcc')),
  status           text not null check (status in ('scheduled', 'queued', 'sent', 'delivered', 'bounced', 'failed', 'cancelled')),
  job              uuid,
  attempts         smallint not null default 0,
  next_attempt_at  timestamptz,
  smtp_code        smallint,
  enhanced_code    text,
  smtp_response    text,
  mx               text,
  tls              text,
  bounce_type      text check (bounce_type in ('hard', 'soft')),
  reason           text,
  sent_at          timestamptz,
  delivered_at     timestamptz,
  bounced_at       timestamptz,
  opened_at        timestamptz,
  clicked_at       timestamptz,
  complained_at    timestamptz,
  unsubscribed_at  timestamptz,
  deferred         boolean not null default false,
  open_count       int not null default 0,
  click_count      int not null default 0,
  machine_opens    int not null default 0,
  clicked_links    smallint[] not null default '{}',
  primary key (bucket, account_id, environment, message_id, number)
) partition by range (message_id);
create index recipients_by_address on email.recipients (bucket, account_id, environment, email, message_id);
select platform.ensure_partitions('email.recipients', 'month', 2, 70);

-- One row is what a message or a bulk says, once: `body` as fields, or `raw` as it was submitted over SMTP. `files` holds the
-- bytes of attachments one after the other.
create table email.contents (
  bucket       smallint not null,
  account_id   uuid not null,
  environment  text not null,
  id           uuid not null,
  body         jsonb not null,
  raw          bytea,
  files        bytea,
  primary key (bucket, account_id, environment, id)
) partition by range (id);
alter table email.contents alter column raw set storage external, alter column files set storage external;
select platform.ensure_partitions('email.contents', 'month', 2, 100);

-- One row is a customer's own name for a message; nobody may use it again.
create table email.references (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  reference   text not null,
  message_id  uuid not null,
  primary key (bucket, account_id, environment, reference)
);

-- One row is one content sent to many. Its counts are taken from its messages when somebody asks.
create table email.bulks (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  id              uuid not null,
  status          text not null check (status in ('scheduled', 'queued', 'sending', 'paused', 'completed', 'cancelled')),
  paused_reason   text,
  total           int not null,
  accepted        int not null,
  rejected        int not null,
  suppressed      int not null,
  batch_size      int not null,
  batches         int not null,
  batches_sent    int not null default 0,
  batch_interval  int not null,
  cost            bigint not null,
  currency        text not null,
  template_id     uuid,
  scheduled_at    timestamptz,
  created_at      timestamptz not null,
  started_at      timestamptz,
  completed_at    timestamptz,
  primary key (bucket, account_id, environment, id)
);

-- One row says that an address gets no mail of an account, or no bulk mail.
create table email.suppressions (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  email       text not null,
  id          uuid not null,
  reason      text not null check (reason in ('hard_bounce', 'complaint', 'unsubscribe', 'manual')),
  applies_to  text not null check (applies_to in ('all', 'bulk')),
  message_id  uuid,
  detail      text,
  created_at  timestamptz not null,
  expires_at  timestamptz,
  primary key (bucket, account_id, environment, email)
);
create index suppressions_in_order on email.suppressions (bucket, account_id, environment, id);

-- One row is a template under its name, with its newest version.
create table email.templates (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  name        text not null,
  version     int not null,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);
create unique index templates_by_name on email.templates (bucket, account_id, environment, name);

-- One row is a version of a template. Versions stay, because messages on their way keep theirs.
create table email.template_versions (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  template_id uuid not null,
  version     int not null,
  subject     text not null,
  html        text not null,
  text        text,
  description text,
  defaults    jsonb not null,
  created_at  timestamptz not null,
  primary key (bucket, account_id, environment, template_id, version)
);

-- One row is a domain that an account wants to send from, with its keys for DKIM; `records` says how each DNS record was found.
create table email.domains (
  bucket               smallint not null,
  account_id           uuid not null,
  environment          text not null,
  id                   uuid not null,
  domain               text not null,
  status               text not null check (status in ('pending', 'verified', 'failed')),
  token                text not null,
  selector             text not null,
  private_keys         bytea not null,
  public_keys          jsonb not null,
  dkim_record          text not null check (dkim_record in ('cname', 'txt')),
  tracking_subdomain   text not null,
  return_path_subdomain text not null,
  records              jsonb not null default '{}',
  last_error           text,
  missing_since        timestamptz,
  created_at           timestamptz not null,
  verified_at          timestamptz,
  last_checked_at      timestamptz,
  primary key (bucket, account_id, environment, id)
);
create unique index domains_by_name on email.domains (bucket, account_id, environment, domain);

-- One row says whose a verified domain is. Found by its name, whoever asks.
create table email.domain_owners (
  environment text not null,
  domain      text not null,
  bucket      smallint not null,
  account_id  uuid not null,
  primary key (environment, domain)
);

-- One row is a public key at the name that customers' CNAME records lead to. The DNS asks for it without saying whose it is.
create table email.published_keys (
  label  text primary key,
  value  text not null
);

-- One row is a user of SMTP submission, found by its name. The password is 256 random bits, of which the hash is kept.
create table email.smtp_credentials (
  username    text primary key,
  id          uuid not null,
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  name        text not null,
  hash        bytea not null,
  domains     text[] not null,
  allowed_ips text[] not null,
  created_at  timestamptz not null,
  last_used_at timestamptz
);
create index smtp_credentials_of_account on email.smtp_credentials (bucket, account_id, environment, id);

-- One row is the address that hears of an account's email, set apart from its other webhooks.
create table email.tracking_webhooks (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  webhook_id      uuid not null,
  primary key (bucket, account_id, environment)
);

comment on table email.domain_owners is 'Reference: one row says whose a verified domain is';
comment on table email.published_keys is 'Reference: one row is a public key that the DNS is asked for';
comment on table email.smtp_credentials is 'Reference: one row is a user of SMTP submission';
