-- Gateways of networks that speak SMPP: one row is a connection that the operator entered, which one node at a time has open.
create table ussd.smpp_gateways (
  name                     text primary key,
  host                     text not null,
  port                     int not null,
  tls                      boolean not null,
  system_id                text not null,
  system_type              text not null,
  -- The password.
  sealed                   bytea not null,
  bind_mode                text not null check (bind_mode in ('transceiver', 'pair')),
  window_size              int not null,
  response_timeout_seconds int not null,
  enquire_link_seconds     int not null,
  -- Beginnings of numbers that pushed screens go to over it; none: all numbers.
  prefixes                 text[] not null,
  -- Operation codes and tags, where they differ from the standard.
  profile                  jsonb not null,
  enabled                  boolean not null,
  -- As the node that has it open last said.
  is_up                    boolean not null default false,
  last_error               text,
  created_at               timestamptz not null,
  updated_at               timestamptz not null
);
comment on table ussd.smpp_gateways is 'Reference: one row is a network that an operator of the installation connected.';

-- For the node that takes a gateway over: what was under way on it.
create index dialogs_newest on ussd.dialogs (gateway, session);
