-- USSD: shortcodes and what answers them, stored menus, gateways, and sessions with handsets.
create schema if not exists ussd;

-- One row is a code that subscribers dial, and the account whose application answers.
create table ussd.shortcodes (
  code             text not null,
  environment      text not null check (environment in ('test', 'live')),
  bucket           smallint not null,
  account_id       uuid not null,
  mode             text not null check (mode in ('webhook', 'text', 'menu')),
  url              text,
  fallback_url     text,
  menu_id          uuid,
  timeout          int not null,
  network_limit    int not null,
  error_message    text not null,
  resume_window    int not null,
  language_default text,
  more_word        text not null,
  back_word        text not null,
  transliterate    boolean not null,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  primary key (code, environment, bucket)
);
create unique index shortcodes_by_code on ussd.shortcodes (environment, code);
create index shortcodes_of_account on ussd.shortcodes (bucket, account_id, environment, code);
comment on table ussd.shortcodes is 'Keyed by code: a network names nothing else when a subscriber dials.';

-- One row is a stored menu, with the number of its newest version.
create table ussd.menus (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null check (environment in ('test', 'live')),
  id          uuid not null,
  version     int not null,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);

-- One row is a version of a menu. Sessions stay on the one that they began with.
create table ussd.menu_versions (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  menu_id     uuid not null,
  version     int not null,
  document    jsonb not null,
  created_at  timestamptz not null,
  primary key (bucket, account_id, environment, menu_id, version)
);

-- One row is a gateway of an operator that calls us over HTTP, known by the secret in its address.
create table ussd.gateways (
  id          uuid primary key,
  name        text not null,
  environment text not null check (environment in ('test', 'live')),
  token_hash  bytea not null unique,
  allowed_ips text[] not null,
  created_at  timestamptz not null
);
comment on table ussd.gateways is 'Reference: one row is a gateway that an operator of the installation entered.';

-- One row is a session with a handset. `awaiting` says whose turn it is; `step` grows with every answer of the subscriber. Both
-- fence what comes late. `mark` is how the network names the last input, so that its repeats are known. `setup` is what the
-- shortcode said when the session began.
create table ussd.sessions (
  bucket       smallint not null,
  account_id   uuid not null,
  environment  text not null check (environment in ('test', 'live')),
  id           uuid not null,
  session_id   text not null,
  direction    text not null check (direction in ('push', 'dial')),
  phone        text not null,
  shortcode    text not null,
  network      text,
  language     text,
  gateway      text not null,
  dialog       text not null,
  status       text not null check (status in ('initiated', 'active', 'completed', 'expired')),
  reason       text,
  awaiting     text not null check (awaiting in ('app', 'user', 'nobody')),
  step         int not null,
  input        text,
  mark         text,
  screen       text,
  page         int not null,
  message      uuid not null,
  first_message uuid not null,
  timeout      int not null,
  setup        jsonb not null,
  menu         jsonb,
  data         bytea,
  history      jsonb not null,
  metadata     text,
  cost         bigint not null,
  currency     text not null,
  resumed_from text,
  request_hash text,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  expires_at   timestamptz not null,
  ended_at     timestamptz,
  primary key (bucket, account_id, environment, id)
) with (fillfactor = 70);
create unique index sessions_by_name on ussd.sessions (bucket, account_id, environment, session_id);
create index sessions_of_phone on ussd.sessions (bucket, account_id, environment, phone, shortcode, id);

-- One row is a dialog as a gateway names it, and the session that it carries.
create table ussd.dialogs (
  gateway     text not null,
  dialog      text not null,
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  session     uuid not null,
  primary key (gateway, dialog, bucket)
);
comment on table ussd.dialogs is 'Keyed by gateway: a network names its dialog and nothing else.';
