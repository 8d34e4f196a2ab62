-- Registries of issuing countries that the operator connects, and whom an account does not want to see.

-- One row is a registry that answers for the documents of a country.
create table identity.registries (
  id         uuid primary key,
  name       text not null,
  country    text not null,
  id_types   text[] not null,
  url        text not null,
  -- The token that it is asked with.
  sealed     bytea not null,
  created_at timestamptz not null,
  unique (country, name)
);
comment on table identity.registries is 'Reference: which registry answers for a country, whoever asks.';

-- One row is a document, phone, mail address, device or user that an account refuses, as a keyed fingerprint.
create table identity.blocklist (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  kind        text not null check (kind in ('document', 'phone', 'email', 'device', 'external_id')),
  value_index bytea not null,
  -- Enough of it to know it again.
  hint        text not null,
  reason      text,
  created_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);
create unique index blocklist_values on identity.blocklist (bucket, account_id, environment, kind, value_index);
