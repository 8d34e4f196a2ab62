-- What accounts bill their own customers: customers with the credit they have, and invoices with their numbers.

create schema billing;

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

-- One row is a change of a customer's credit. What it is about and the step are its key: a step is taken once.
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
  primary key (bucket, account_id, environment, source_id, step)
);
create index credit_entries_of_customer on billing.credit_entries (bucket, account_id, environment, customer_id);

-- One row is an invoice. Its items are kept as they were reckoned; what it says of the customer is what was known when it
-- was made. `amount_paid` holds `credit_applied` too; `sequence` counts what was told; `token` is the address it can be
-- paid at, known to whoever was sent it.
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
  primary key (bucket, account_id, environment, id),
  check ((number is null) = (opened_at is null)),
  check (status <> 'paid' or amount_paid = total)
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
