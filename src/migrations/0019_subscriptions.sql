-- What accounts sell again and again: plans, and who subscribed to them.

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

-- One row is somebody's subscription to a plan. Periods are counted from `anchor`, a boundary by the wall clock of
-- `time_zone`; `cycle` says how many were begun. The time from `paid_from` to `period_end` was billed with `paid_amount`,
-- tax included: what of it is not used can be given back. `next_at` is when it has to be looked at again; a job waits for
-- that moment. `sequence` counts what was told.
create table billing.subscriptions (
  bucket               smallint not null,
  account_id           uuid not null,
  environment          text not null,
  id                   uuid not null,
  status               text not null check (status in ('trialing', 'incomplete', 'active', 'past_due', 'paused', 'cancelled')),
  plan_id              uuid not null,
  customer_id          uuid not null,
  customer             jsonb not null,
  quantity             int not null check (quantity > 0),
  amount               bigint not null check (amount >= 0),
  currency             text not null,
  method               text not null check (method in ('mobile_money', 'card', 'invoice')),
  card_token           text,
  phone                text,
  provider             text,
  proration            text not null check (proration in ('create_prorations', 'none')),
  interval             text not null check (interval in ('day', 'week', 'month', 'year')),
  interval_count       smallint not null,
  anchor               text not null,
  anchor_day           smallint not null,
  time_zone            text not null,
  cycle                int not null check (cycle >= 0),
  max_cycles           int,
  period_start         timestamptz not null,
  period_end           timestamptz not null,
  paid_from            timestamptz not null,
  paid_amount          bigint not null check (paid_amount >= 0),
  trial_end            timestamptz,
  trial_told           boolean not null default false,
  cancel_at_period_end boolean not null,
  cancelled_at         timestamptz,
  cancel_reason        text,
  latest_invoice_id    uuid,
  next_at              timestamptz,
  reference            text,
  callback_url         text,
  metadata             jsonb not null,
  sequence             int not null default 0,
  created_at           timestamptz not null,
  updated_at           timestamptz not null,
  primary key (bucket, account_id, environment, id),
  check (period_start < period_end),
  check ((status = 'cancelled') = (cancelled_at is not null)),
  check ((method = 'mobile_money') = (phone is not null)),
  check ((method = 'card') = (card_token is not null))
);
create unique index subscriptions_reference on billing.subscriptions (bucket, account_id, environment, reference)
  where reference is not null;
create index subscriptions_of_customer on billing.subscriptions (bucket, account_id, environment, customer_id, id);

-- One row is a period of a subscription that was begun. There is one of each number: whoever begins it bills it.
create table billing.periods (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  subscription_id uuid not null,
  cycle           int not null,
  starts_at       timestamptz not null,
  ends_at         timestamptz not null,
  primary key (bucket, account_id, environment, subscription_id, cycle)
);

-- One row is an invoice of a subscription that is not paid yet, and how far collecting its money has come: which payment
-- asks for it, how often that failed since `failed_at`, and when it is tried again. `renews`: it is for a later period than
-- the first.
create table billing.collections (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  subscription_id uuid not null,
  invoice_id      uuid not null,
  renews          boolean not null,
  payment_id      uuid,
  failures        smallint not null default 0,
  failed_at       timestamptz,
  try_at          timestamptz,
  primary key (bucket, account_id, environment, subscription_id, invoice_id)
);
