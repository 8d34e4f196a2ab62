-- SPDX-License-Identifier: Apache-2.0
-- Connections to telephone networks, and prices by prefix.

-- One row is a connection to a telephone network. `secret` is its password, sealed with the data key of the operator's account that
-- set it; `sources` are further addresses that its calls come from. A port of 0 is the usual one of its transport.
create table voice.trunks (
  name           text primary key,
  host           text not null,
  port           int not null,
  transport      text not null check (transport in ('udp', 'tcp', 'tls')),
  domain         text,
  username       text,
  secret         bytea,
  sealed_bucket  smallint,
  sealed_account uuid,
  registers      boolean not null,
  prefixes       text[] not null,
  priority       int not null,
  max_calls      int not null,
  sources        text[] not null,
  enabled        boolean not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null
);
comment on table voice.trunks is 'Reference: one row is a connection to a telephone network';

-- One row is what a minute costs to numbers that begin with a prefix.
create table voice.rates (
  prefix        text not null,
  currency      text not null,
  minute_micros bigint not null check (minute_micros >= 0),
  updated_at    timestamptz not null,
  primary key (prefix, currency)
);
comment on table voice.rates is 'Reference: one row is the price of a minute to a prefix';
