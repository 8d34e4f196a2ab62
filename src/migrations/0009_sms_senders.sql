-- Under which names and to which countries customers may send, the numbers that handsets write to, and the links by which
-- people opt out.

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
