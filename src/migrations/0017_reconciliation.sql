-- What providers say of their accounts with the operator: statements, their lines, and what was found of each. They belong
-- to the house, as does the money that nobody has claimed yet.

-- One row is a statement of a provider's account. `float_balance` is what the ledger has for that account at `closing_at`,
-- and `difference` is what the provider's own closing balance is above it: both as of `matched_at`.
create table payments.statements (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null check (environment in ('test', 'live')),
  id              uuid not null,
  provider        text not null,
  country         text not null,
  currency        text not null,
  columns         jsonb not null,
  utc_offset      text not null,
  status          text not null check (status in ('open', 'matching', 'matched')),
  lines           int not null default 0,
  known_lines     int not null default 0,
  skipped_lines   int not null default 0,
  first_at        timestamptz,
  last_at         timestamptz,
  closing_balance bigint,
  closing_at      timestamptz,
  float_balance   bigint,
  difference      bigint,
  created_at      timestamptz not null,
  matched_at      timestamptz,
  primary key (bucket, account_id, environment, id)
);

-- One row is something that happened on a provider's account: each receipt once of each kind, whatever statement it stands
-- on. `class` is null until it was looked for among the payments. `booking` is what stands in the ledger for a line that
-- is no payment's, and `turn` counts how often that was taken back, so that each booking is a step of its own.
create table payments.statement_lines (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  id              uuid not null,
  statement_id    uuid not null,
  provider        text not null,
  country         text not null,
  currency        text not null,
  receipt         text not null,
  kind            text not null check (kind in ('collection', 'fee', 'settlement', 'other')),
  occurred_at     timestamptz not null,
  amount          bigint not null check (amount > 0),
  phone           text,
  details         text,
  class           text check (class in ('matched', 'theirs_only', 'amount_differs', 'booked')),
  matched_by      text check (matched_by in ('receipt', 'payer', 'hand')),
  payment_bucket  smallint,
  payment_account uuid,
  payment_id      uuid,
  is_settled      boolean not null default true,
  booking         text check (booking in ('suspense', 'fee', 'bank')),
  turn            smallint not null default 1,
  primary key (bucket, account_id, environment, id)
);
create unique index statement_lines_once on payments.statement_lines
  (bucket, account_id, environment, provider, country, receipt, kind);
create index statement_lines_of on payments.statement_lines (bucket, account_id, environment, statement_id, id);
create index statement_lines_to_do on payments.statement_lines (bucket, account_id, environment, provider, country, id)
  where class is null or class = 'theirs_only' or not is_settled;
create index statement_lines_of_payment on payments.statement_lines (payment_id) where payment_id is not null;

-- One row is a payment that was completed while a statement ran, and that the statement did not name.
create table payments.statement_gaps (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  statement_id    uuid not null,
  payment_id      uuid not null,
  payment_bucket  smallint not null,
  payment_account uuid not null,
  primary key (bucket, account_id, environment, statement_id, payment_id)
);

create index payments_provider_reference on payments.payments (environment, provider, provider_reference)
  where provider_reference is not null;
-- Payments that a line without a known receipt may belong to.
create index payments_without_receipt on payments.payments (environment, provider, currency, amount)
  where provider_reference is null and status in ('pending', 'processing', 'expired', 'completed');

-- What moved a contra account of any tenant since a transfer id: increases are debits, since what a provider holds for the
-- operator is the operator's.
create function ledger.moves_since(p_environment text, p_name text, p_currency text, p_since uuid)
  returns table (bucket smallint, account_id uuid, source_id uuid, amount bigint) language sql stable as $$
  select t.bucket, t.account_id, t.source_id, case when t.debit = p_name then t.amount else -t.amount end
    from ledger.transfers t
   where t.environment = p_environment and t.currency = p_currency and p_name in (t.debit, t.credit) and t.id >= p_since
$$;
