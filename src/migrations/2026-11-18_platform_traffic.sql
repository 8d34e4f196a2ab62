-- Traffic of the whole installation, counted once and kept for its charts.

-- One row is how many records of a channel all accounts made within ten minutes over one connection: a carrier, a provider or a
-- gateway; empty where there is none. Kept for two months.
create table platform.traffic (
  slot        timestamptz not null,
  environment text not null,
  channel     text not null,
  connection  text not null,
  records     bigint not null,
  primary key (slot, environment, channel, connection)
);
comment on table platform.traffic is 'Reference: one row is how many records all accounts made within ten minutes.';

-- One row, the only one, is up to when records are counted.
create table platform.traffic_counted (
  single boolean primary key default true check (single),
  upto   timestamptz not null
);
comment on table platform.traffic_counted is 'Reference: the one row is up to when records are counted.';
