-- Text messages: what customers sent and received, the references they gave, whom they may not write to and under which
-- names they may; the operators' connections and routes, and what a carrier calls our messages; numbers that handsets write
-- to, ported numbers, short links, and the network that test messages meet.

create schema if not exists sms;

create domain sms.direction as text check (value in ('outbound', 'inbound'));
create domain sms.message_status as text check (value in ('queued', 'sent', 'delivered', 'failed', 'received'));
create domain sms.encoding as text check (value in ('gsm7', 'ucs2'));
create domain sms.message_type as text check (value in ('otp', 'transactional', 'promotional'));

-- One row is a message, on its way out or come in. created_at and all later moments are the account's own time.
-- `charges` counts how often its price was taken: a message whose text changed before it went out is charged anew. `job`
-- is the one that submits it. Bit n of delivered_parts is set when the network said that part n arrived; only messages of
-- several parts need it. under_way says that it may be out already; it is noted only where it must not go out twice. late_at
-- is when the network said, having said that it expired, that it arrived after all. reply_id is the message that a webhook's
-- answer sent back to one that came in.
create table sms.messages (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  id              uuid not null,
  direction       sms.direction not null,
  status          sms.message_status not null,
  recipient       text not null,
  sender          text not null,
  body            text,
  encoding        sms.encoding not null,
  segments        smallint not null,
  delivered_parts bigint not null default 0,
  unit_price      bigint not null default 0,
  cost            bigint not null default 0,
  currency        text,
  charges         smallint not null default 1,
  country         text,
  network         text,
  type            sms.message_type not null default 'transactional',
  validity        int not null default 172800,
  metadata        jsonb not null default '{}',
  reference       text,
  callback_url    text,
  batch_id        uuid,
  batch_index     smallint,
  scheduled_at    timestamptz,
  created_at      timestamptz not null,
  sent_at         timestamptz,
  delivered_at    timestamptz,
  failed_at       timestamptz,
  late_at         timestamptz,
  error_code      text,
  carrier_code    text,
  attempts        smallint not null default 0,
  route           text,
  under_way       boolean not null default false,
  request_id      text,
  job             uuid,
  keyword         text,
  in_reply_to     uuid,
  reply_id        uuid,
  partial         boolean not null default false,
  primary key (bucket, account_id, environment, id)
) partition by range (id);
create index messages_of_batch on sms.messages (bucket, account_id, environment, batch_id, batch_index)
  where batch_id is not null;
-- Led by the recipient: so it also finds who wrote to a handset that answers.
create index messages_by_phone on sms.messages (recipient, account_id, environment, id);
-- None of these names a column that changes on the way of a message: PostgreSQL then updates it in place.
create index messages_scheduled on sms.messages (bucket, account_id, environment, id) where scheduled_at is not null;
-- A message is changed twice soon after it is written. With half of each page left to that it stays in its page, and its
-- index entries stay as they are: with 30 % left, a third of the changes of a batch had not found room.
select platform.ensure_partitions('sms.messages', 'month', 2, 50);
alter table sms.messages_default set (fillfactor = 50);

-- One row is a customer's own name for a message; nobody may use it again.
create table sms.references (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  reference   text not null,
  message_id  uuid not null,
  primary key (bucket, account_id, environment, reference)
);

-- One row says that somebody does not want messages from a sender; the sender `*` is all of them. It holds however the
-- sender is written: in any case, and a number with or without its plus (sender_form).
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
  sender_form text not null generated always as (sms.sender_form(sender)) stored,
  primary key (bucket, account_id, environment, phone, sender_form)
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

-- One row is a connection to a carrier. Managed by operators; `settings` is what its kind needs beyond what every bind has.
-- `secret` is sealed with the data key of the operator's account that set it: {"password": ..., "token": ...}, where the
-- token is what a carrier that calls us must bring. is_up and last_error are what the node that has it open last said of it.
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
  updated_at               timestamptz not null,
  last_error               text
);

-- One row says which binds carry the messages it matches: tiers in order, and in each tier binds by weight, as
-- [[{"bind": "a", "weight": 3}, {"bind": "b", "weight": 1}], [{"bind": "c", "weight": 1}]]. The most exact row wins:
-- account, network, country. on_unknown is for messages whose connection was lost before the answer came, or whose node died;
-- with reroute_on_undelivered a message that the network could not deliver goes over the next tier; when_down says whether
-- messages are accepted while none of the binds can take them; with refund_undelivered a text that was sent and then not
-- delivered is paid back.
create table sms.routes (
  id                     uuid primary key,
  environment            text not null check (environment in ('test', 'live')),
  account_id             uuid,
  country                text,
  network                text,
  tiers                  jsonb not null,
  on_unknown             text not null check (on_unknown in ('maybe_twice', 'maybe_never')),
  reroute_on_undelivered boolean not null,
  when_down              text not null check (when_down in ('queue', 'refuse')),
  created_at             timestamptz not null,
  updated_at             timestamptz not null,
  refund_undelivered     boolean not null default false
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

-- One row is a name that an account sends under. No countries: all of them. Test ones are approved as they are made.
create table sms.sender_ids (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null check (environment in ('test', 'live')),
  id          uuid not null,
  sender      text not null,
  countries   text[] not null,
  purpose     text not null,
  sample      text not null,
  status      text not null check (status in ('pending', 'approved', 'rejected')),
  reason      text,
  created_at  timestamptz not null,
  decided_at  timestamptz,
  primary key (bucket, account_id, environment, id)
);
create unique index sender_ids_once on sms.sender_ids (bucket, account_id, environment, sender, countries)
  where status <> 'rejected';
create index sender_ids_in_order on sms.sender_ids (id);

-- One row is what an operator says of a country; null: as the country is known to be.
create table sms.country_rules (
  country             text primary key,
  enabled             boolean,
  sender_registration text check (sender_registration in ('required', 'open')),
  updated_at          timestamptz not null
);

-- One row is a list of the only countries that an account may send to.
create table sms.account_countries (
  bucket     smallint not null,
  account_id uuid not null,
  countries  text[] not null,
  updated_at timestamptz not null,
  primary key (bucket, account_id)
);

-- One row is a number that an account receives on, with its keywords as [{"keyword", "webhook_url", "auto_reply"}]. Read
-- for messages that arrive without an owner, so a cluster replicates it. A live number has one owner, or several that
-- share it and have different keywords; in test every account has numbers of its own.
create table sms.numbers (
  environment         text not null check (environment in ('test', 'live')),
  number              text not null,
  account_id          uuid not null,
  bucket              smallint not null,
  id                  uuid not null,
  shared              boolean not null,
  keywords            jsonb not null,
  default_webhook_url text,
  created_at          timestamptz not null,
  updated_at          timestamptz not null,
  primary key (environment, number, account_id)
);
create index numbers_of_account on sms.numbers (account_id, environment, id);

-- One row is the link by which somebody who cannot answer a sender's messages opts out of them.
create table sms.opt_out_links (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  phone       text not null,
  sender      text not null,
  token       text not null,
  created_at  timestamptz not null,
  primary key (bucket, account_id, environment, phone, sender)
);
create index opt_out_links_by_token on sms.opt_out_links (token);

-- One row is a number that is with another network than the one its range was given to. Kept by operators, who get the list
-- from their country's registry. In plain byte order, so that the numbers of a country are a range of the key.
create table sms.ported_numbers (
  phone      text collate "C" primary key,
  network    text not null,
  mcc_mnc    text,
  updated_at timestamptz not null
);

-- One row is how the sandbox's network treats the messages of an account: how late, with what error, and which handsets it
-- does not reach (`*` is all of them).
create table sms.sandbox_behaviours (
  bucket          smallint not null,
  account_id      uuid not null,
  delay_ms        int,
  error           text,
  out_of_coverage text[] not null,
  primary key (bucket, account_id)
);

-- One row is a short link that stands in one recipient's text in place of a long one.
create table sms.short_links (
  bucket           smallint not null,
  account_id       uuid not null,
  environment      text not null,
  token            text not null,
  url              text not null,
  clicks           integer not null default 0,
  first_clicked_at timestamptz,
  last_clicked_at  timestamptz,
  created_at       timestamptz not null,
  primary key (bucket, account_id, environment, token)
);
create index short_links_by_token on sms.short_links (token);
create index short_links_by_age on sms.short_links (created_at);

-- What became of a message that somebody wants to send; existing is the message that has its reference already.
create type sms.verdict as (verdict text, existing uuid);

-- A change of status with its two events: the wide one (sms.status), which goes to the callback too, and the narrow one,
-- which says what the wide one says under a name of its own: only how it begins is handed over, up to its time.
create type sms.change as (
  bucket smallint, account uuid, environment text, event_id uuid, event_type text, event_resource text, event_body text,
  event_request text, event_within text, event_callback text, event_at timestamptz, event_owner uuid,
  narrow_type text, narrow_head text
);
