-- What accounts sell again and again: plans, and who subscribed to them.

create schema if not exists billing;

-- One row is a plan: what is sold, for how much, how often. Its price never changes; `tax_rate` is in millionths of a
-- percent.
create table billing.plans (
  bucket         smallint not null,
  account_id     uuid not null,
  environment    text not null,
  id             uuid not null,
  code           text,
  name           text not null,
  description    text,
  amount         bigint not null check (amount >= 0),
  currency       text not null,
  interval       text not null check (interval in ('day', 'week', 'month', 'year')),
  interval_count smallint not null check (interval_count > 0),
  trial_days     smallint not null check (trial_days >= 0),
  tax_rate       bigint not null check (tax_rate between 0 and 100000000),
  tax_inclusive  boolean not null,
  setup_fee      bigint not null check (setup_fee >= 0),
  active         boolean not null,
  metadata       jsonb not null,
  created_at     timestamptz not null,
  primary key (bucket, account_id, environment, id)
);
create unique index plans_code on billing.plans (bucket, account_id, environment, code) where code is not null;
