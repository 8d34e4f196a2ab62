-- What accounts bill their own customers: customers with the credit they have, invoices with their numbers, plans, and who
-- subscribed to them.

create schema if not exists billing;

-- One row is somebody an account bills. `contact` is what tells two of them apart: the email address in lower case, or
-- else the phone number; without either, every time is the first.
create table billing.customers (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  contact     text,
  name        text,
  email       text,
  phone       text,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);
create unique index customers_contact on billing.customers (bucket, account_id, environment, contact)
  where contact is not null;

-- One row is what a customer has in hand in one currency: paid too much, or given by the account. The money itself is in
-- the account's wallet.
create table billing.credits (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  customer_id uuid not null,
  currency    text not null,
  balance     bigint not null check (balance >= 0),
  primary key (bucket, account_id, environment, customer_id, currency)
);

-- One row is a change of a customer's credit. What it is about and the step are its key: a step is taken once. `given_back`
-- is how much of it was given back as money since: what was paid for a period that is not used is the customer's credit, and
-- a refund of that payment takes it from them, once.
create table billing.credit_entries (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  source_id   uuid not null,
  step        text not null,
  customer_id uuid not null,
  currency    text not null,
  amount      bigint not null check (amount <> 0),
  created_at  timestamptz not null,
  given_back  bigint not null default 0,
  primary key (bucket, account_id, environment, source_id, step),
  constraint credit_entries_given_back_check check (given_back between 0 and greatest(amount, 0))
);
create index credit_entries_of_customer on billing.credit_entries (bucket, account_id, environment, customer_id);

-- One row is an invoice. Its items are kept as they were reckoned; what it says of the customer is what was known when it
-- was made. `amount_paid` holds `credit_applied` too; `sequence` counts what was told; `token` is the address it can be
-- paid at, known to whoever was sent it. `amount_refunded` is what was given back after it was paid: it stays paid. What is
-- given back of one that is still open is taken off `amount_paid`, because it is due again. `credit_refunded` is how much of
-- `credit_applied` is within `amount_refunded`: what a customer paid too much may have paid another invoice by the time it is
-- given back, and is missing there.
create table billing.invoices (
  bucket           smallint not null,
  account_id       uuid not null,
  environment      text not null,
  id               uuid not null,
  status           text not null check (status in ('draft', 'open', 'paid', 'void', 'uncollectible')),
  number           text,
  customer_id      uuid not null,
  customer         jsonb not null,
  currency         text not null,
  items            jsonb not null,
  tax_inclusive    boolean not null,
  subtotal         bigint not null check (subtotal >= 0),
  discount_total   bigint not null check (discount_total >= 0),
  tax_total        bigint not null check (tax_total >= 0),
  total            bigint not null check (total >= 0),
  amount_paid      bigint not null default 0 check (amount_paid between 0 and total),
  credit_applied   bigint not null default 0 check (credit_applied between 0 and amount_paid),
  payments         uuid[] not null default '{}',
  due_date         date not null,
  payment_methods  text[],
  notes            text,
  reference        text,
  subscription_id  uuid,
  callback_url     text,
  metadata         jsonb not null,
  token            bytea not null,
  sequence         int not null default 0,
  overdue_told     boolean not null default false,
  void_reason      text,
  opened_at        timestamptz,
  sent_at          timestamptz,
  paid_at          timestamptz,
  voided_at        timestamptz,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  amount_refunded  bigint not null default 0 check (amount_refunded >= 0),
  credit_refunded  bigint not null default 0,
  primary key (bucket, account_id, environment, id),
  check ((number is null) = (opened_at is null)),
  check (status <> 'paid' or amount_paid = total),
  constraint invoices_credit_refunded_check check (credit_refunded between 0 and credit_applied)
);
create unique index invoices_reference on billing.invoices (bucket, account_id, environment, reference)
  where reference is not null;
create unique index invoices_number on billing.invoices (bucket, account_id, environment, number)
  where number is not null;
create unique index invoices_token on billing.invoices (bucket, token);
create index invoices_of_customer on billing.invoices (bucket, account_id, environment, customer_id, id);
create index invoices_of_subscription on billing.invoices (bucket, account_id, environment, subscription_id, id)
  where subscription_id is not null;
create index invoices_not_overdue on billing.invoices (bucket, due_date) where status = 'open' and not overdue_told;

-- One row is the last number that an account gave an invoice. It is locked until the invoice that gets the next one is
-- committed, so that no number is left out and none is given twice.
create table billing.counters (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  last        bigint not null,
  primary key (bucket, account_id, environment)
);

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
