-- Money that customers' customers pay, what was asked of providers on their behalf, and money that goes out: payments,
-- cards, payouts, refunds, disputes, fraud rules, and what providers say of their accounts with the operator (statements and
-- their lines belong to the house, as does the money that nobody has claimed yet).

create schema if not exists payments;

create domain payments.purpose as text check (value in ('payment', 'topup', 'invoice'));
create domain payments.method as text check (value in ('mobile_money', 'card', 'bank_transfer'));
create domain payments.payment_status as text check (value in ('pending', 'processing', 'requires_action', 'completed', 'failed', 'cancelled', 'expired'));
create domain payments.dispute_status as text check (value in ('open', 'won', 'lost'));
create domain payments.attempt_state as text check (value in ('planned', 'sending', 'accepted', 'unknown', 'final'));
create domain payments.subject as text check (value in ('payment', 'payout'));
create domain payments.decision as text check (value in ('allow', 'require_3ds', 'review', 'block'));

-- One row is a payment. Its status moves by guarded updates only; whoever wins one posts to the ledger and tells of it, in
-- the same transaction. `sequence` counts what was told. `refunded` is what the refunds that did not fail add up to; it
-- changes in the transaction that changes one of them. receipt_token is the secret part of the address of a receipt,
-- receipt_url the whole of it, once the payment is completed. `details` is what a method shows of its own, such as where the
-- payer confirms it; `risk` what was found when the payment was accepted, as customers read it; dispute_status is null until
-- it is disputed for the first time.
create table payments.payments (
  bucket             smallint not null,
  account_id         uuid not null,
  environment        text not null,
  id                 uuid not null,
  purpose            payments.purpose not null,
  status             payments.payment_status not null,
  method             payments.method not null,
  provider           text not null,
  amount             ledger.above_zero not null,
  currency           text not null,
  fee                ledger.zero_or_above not null,
  phone              text,
  description        text,
  reference          text,
  customer           jsonb not null,
  metadata           jsonb not null,
  callback_url       text,
  invoice_id         uuid,
  provider_reference text,
  failure_reason     text,
  late               boolean not null default false,
  sequence           int not null default 1,
  request_id         text,
  expires_at         timestamptz not null,
  completed_at       timestamptz,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  refunded           bigint not null default 0,
  receipt_token      bytea,
  receipt_url        text,
  details            jsonb not null default '{}',
  risk               jsonb,
  dispute_status     payments.dispute_status,
  primary key (bucket, account_id, environment, id),
  constraint payment_covers_refunds check (refunded between 0 and amount)
);
create unique index payments_reference on payments.payments (bucket, account_id, environment, reference)
  where reference is not null;
create index payments_of_invoice on payments.payments (bucket, account_id, environment, invoice_id, id)
  where invoice_id is not null;
create unique index payments_receipt on payments.payments (bucket, receipt_token) where receipt_token is not null;
create index payments_provider_reference on payments.payments (environment, provider, provider_reference)
  where provider_reference is not null;
-- Payments that a line without a known receipt may belong to.
create index payments_without_receipt on payments.payments (environment, provider, currency, amount)
  where provider_reference is null and status in ('pending', 'processing', 'expired', 'completed');
-- The one-time account of a payment by bank is found by its number.
create index payments_paid_into on payments.payments
  (bucket, account_id, environment, (details -> 'pay_into' ->> 'account_number'))
  where method = 'bank_transfer';

-- One row is something asked of a provider: it is there before the first byte leaves. `planned`: nothing was sent;
-- `sending`: perhaps it was; `accepted`: the provider has it, as provider_id; `unknown`: it may have it; `final`: it is over.
-- `job` looks after the attempt and goes when it is over. said_paid_at, called_amount and called_receipt are what is known of
-- a success before it is settled: the provider said so when it was asked, and not how much; or its callback said how much,
-- and it could not be confirmed at that moment. sent_by is with whose account the payer was asked: an account that replaces
-- it has never heard of the payment, which is no reason to ask the payer a second time.
create table payments.attempts (
  bucket         smallint not null,
  account_id     uuid not null,
  environment    text not null,
  id             uuid not null,
  payment_id     uuid not null,
  provider       text not null,
  country        text not null,
  currency       text not null,
  state          payments.attempt_state not null,
  provider_id    text,
  token          bytea not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  job            uuid,
  said_paid_at   timestamptz,
  called_amount  bigint,
  called_receipt text,
  sent_by        text,
  primary key (bucket, account_id, environment, id)
);
-- What belongs to a payment is found by the payment, whatever the planner knows of the tables. An index that begins as the
-- primary key does looks as good as the key for finding one row; one that has the payment alone looks worse than the key for
-- finding those of a payment. Either way all rows of the tenant are read. Begun by the payment and with all that statements
-- name, each index is the better one for its own question, and for no other.
create index attempts_of_payment on payments.attempts (payment_id, bucket, account_id, environment, id);

-- One row is a provider as an operator entered it, for the payments of one environment in one country. What must not be read is sealed.
create table payments.providers (
  environment    text not null check (environment in ('test', 'live')),
  provider       text not null,
  country        text not null,
  settings       jsonb not null,
  secret         bytea not null,
  sealed_bucket  smallint not null,
  sealed_account uuid not null,
  enabled        boolean not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (environment, provider, country)
);

-- One row is a payout, and all that was ever asked of a provider for it: its id is the provider's too. The money is held in
-- the transaction that makes the row. `status` is what customers see and moves by guarded updates only; whoever wins one
-- settles the hold and tells of it, in the same transaction. `state` is how far the request came: `planned`: nothing was
-- sent; `sending`: perhaps it was; `accepted`: the provider has it; `unknown`: it may have it; `final`: it is over.
-- `missed_at` is when the provider first said that it had never heard of it, `lost` that it said so again later; `refusal`
-- what a call said that is not confirmed. `overdue_at` is set when nobody is asked any more and a person has to find out.
-- `sequence` counts what was told. `phone` or `bank` says where to: `bank` is the account as the bank needs it. `risk` is
-- what was found when it was judged, null until then; `in_review` that somebody has to let it go, while it is pending.
-- `sent_by` is with whose account it was sent: an account that replaces it has never heard of the payout, and nothing is sent
-- a second time on its word.
create table payments.payouts (
  bucket             smallint not null,
  account_id         uuid not null,
  environment        text not null,
  id                 uuid not null,
  batch_id           uuid,
  batch_index        int,
  status             text not null check (status in ('pending', 'processing', 'completed', 'failed', 'cancelled', 'reversed')),
  method             text not null check (method in ('mobile_money', 'bank_transfer')),
  provider           text not null,
  country            text not null,
  amount             bigint not null check (amount > 0),
  currency           text not null,
  fee                bigint not null check (fee >= 0),
  phone              text,
  bank               jsonb,
  recipient          jsonb not null,
  description        text,
  reference          text,
  metadata           jsonb not null,
  callback_url       text,
  scheduled_at       timestamptz,
  in_review          boolean not null default false,
  risk               jsonb,
  state              text not null default 'planned' check (state in ('planned', 'sending', 'accepted', 'unknown', 'final')),
  token              bytea not null,
  queued             boolean not null,
  tries              smallint not null default 0,
  missed_at          timestamptz,
  lost               boolean not null default false,
  refusal            text,
  overdue_at         timestamptz,
  provider_reference text,
  failure_reason     text,
  sequence           int not null default 0,
  request_id         text,
  due_at             timestamptz not null,
  completed_at       timestamptz,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  touched_at         timestamptz not null,
  sent_by            text,
  primary key (bucket, account_id, environment, id),
  check (num_nonnulls(phone, bank) = 1)
);
create unique index payouts_reference on payments.payouts (bucket, account_id, environment, reference)
  where reference is not null;
create unique index payouts_of_batch on payments.payouts (bucket, account_id, environment, batch_id, batch_index)
  where batch_id is not null;
create index payouts_in_review on payments.payouts (bucket, account_id, environment, id) where in_review;
create index payouts_overdue on payments.payouts (bucket, id) where overdue_at is not null;
create index payouts_unqueued on payments.payouts (bucket, account_id, environment, batch_id, batch_index) where not queued;
create index payouts_provider_reference on payments.payouts (environment, provider, provider_reference)
  where provider_reference is not null;
-- Payouts that a line without a known receipt may belong to.
create index payouts_without_receipt on payments.payouts (environment, provider, currency, amount)
  where provider_reference is null and status in ('processing', 'completed');

-- One row is many payouts that were asked for at once and share one hold. `open_count` is how many are not over; the one that
-- makes it nought ends the batch.
create table payments.payout_batches (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  id              uuid not null,
  status          text not null check (status in ('processing', 'completed', 'cancelled')),
  currency        text not null,
  total_count     int not null,
  accepted_count  int not null,
  completed_count int not null default 0,
  failed_count    int not null,
  cancelled_count int not null default 0,
  open_count      int not null check (open_count >= 0),
  total_amount    bigint not null,
  total_fee       bigint not null,
  reference       text,
  description     text,
  metadata        jsonb not null,
  callback_url    text,
  sequence        int not null default 0,
  request_id      text,
  completed_at    timestamptz,
  created_at      timestamptz not null,
  primary key (bucket, account_id, environment, id)
);
create unique index payout_batches_reference on payments.payout_batches (bucket, account_id, environment, reference)
  where reference is not null;

-- One row is an item of a batch that was not accepted, and why.
create table payments.payout_refusals (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  batch_id    uuid not null,
  batch_index int not null,
  code        text not null,
  details     text not null,
  primary key (bucket, account_id, environment, batch_id, batch_index)
);

-- One row is a refund: what a customer asked for, and the one time that it is asked of the provider, under the refund's own
-- id. `status` is what customers see; `state` is how far the asking came, as of an attempt: `planned`, `sending`,
-- `accepted`, `unknown`, `final`. `way` says whether the provider is asked to refund, or to pay the payer's number.
-- `state_at` is by the real clock, the other times by the account's. `overdue_at` is since when a person has to find out what
-- became of it, because the provider does not say, or says something else than before; `sent_by` as of a payout.
create table payments.refunds (
  bucket             smallint not null,
  account_id         uuid not null,
  environment        text not null,
  id                 uuid not null,
  payment_id         uuid not null,
  status             text not null check (status in ('pending', 'processing', 'completed', 'failed')),
  amount             bigint not null check (amount > 0),
  currency           text not null,
  fee_returned       bigint not null default 0 check (fee_returned >= 0),
  reason             text,
  description        text,
  reference          text,
  metadata           jsonb not null,
  way                text not null check (way in ('refund', 'payout')),
  provider           text not null,
  country            text not null,
  state              text not null check (state in ('planned', 'sending', 'accepted', 'unknown', 'final')),
  provider_id        text,
  token              bytea not null,
  polls              smallint not null default 0,
  provider_reference text,
  failure_reason     text,
  request_id         text,
  created_at         timestamptz not null,
  completed_at       timestamptz,
  updated_at         timestamptz not null,
  state_at           timestamptz not null,
  overdue_at         timestamptz,
  sent_by            text,
  primary key (bucket, account_id, environment, id)
);
create unique index refunds_reference on payments.refunds (bucket, account_id, environment, reference)
  where reference is not null;
create index refunds_provider_reference on payments.refunds (environment, provider, provider_reference)
  where provider_reference is not null;
-- Begun by the payment for the reason given at attempts_of_payment.
create index refunds_of_payment on payments.refunds (payment_id, bucket, account_id, environment, id);
create index refunds_overdue on payments.refunds (bucket, id) where overdue_at is not null;

-- One row is what is kept of the card of a payment, and how far it has come: never its number, nor its security code.
create table payments.cards (
  bucket           smallint not null,
  account_id       uuid not null,
  environment      text not null,
  payment_id       uuid not null,
  brand            text not null,
  last4            text not null check (last4 ~ '^\d{4}$'),
  bin              text not null check (bin ~ '^\d{6}$'),
  exp_month        smallint not null,
  exp_year         smallint not null,
  fingerprint      bytea not null,
  captures         boolean not null,
  require_3ds      boolean not null,
  return_url       text,
  -- The saved card that is charged, and the name under which this one is to be saved.
  charged_token    uuid,
  saved_token      uuid,
  challenge_url    text,
  decided_at       timestamptz,
  capture_asked_at timestamptz,
  primary key (bucket, account_id, environment, payment_id)
);
-- Whoever forgets a saved card finds the payment that saved it, so that the payment does not save it again.
create index cards_saved on payments.cards (bucket, account_id, environment, saved_token) where saved_token is not null;

-- One row is a card that an account may charge again: the acquirer knows it by acquirer_token, which is worth nothing to
-- anybody else.
create table payments.card_tokens (
  bucket         smallint not null,
  account_id     uuid not null,
  environment    text not null,
  id             uuid not null,
  acquirer_token text not null,
  brand          text not null,
  last4          text not null check (last4 ~ '^\d{4}$'),
  bin            text not null check (bin ~ '^\d{6}$'),
  exp_month      smallint not null,
  exp_year       smallint not null,
  fingerprint    bytea not null,
  customer       jsonb not null,
  created_at     timestamptz not null,
  primary key (bucket, account_id, environment, id)
);

-- One row is a statement of a provider's account. `float_balance` is what the ledger has for that account at `closing_at`,
-- and `difference` is what the provider's own closing balance is above it: both as of `matched_at`. `covers` says which of
-- the account's money it is about: providers may keep what is paid out on an account of its own.
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
  covers          text not null default 'everything' check (covers in ('everything', 'collections', 'payouts')),
  primary key (bucket, account_id, environment, id)
);

-- One row is something that happened on a provider's account: each receipt once of each kind, whatever statement it stands
-- on. `class` is null until it was looked for among the payments. `booking` is what stands in the ledger for a line that
-- is no payment's, and `turn` counts how often that was taken back, so that each booking is a step of its own. `object` says
-- what `payment_id` and its neighbours name, once a line has found it.
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
  object          text not null default 'payment' check (object in ('payment', 'payout', 'refund')),
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
  object          text not null default 'payment' check (object in ('payment', 'payout', 'refund')),
  primary key (bucket, account_id, environment, statement_id, payment_id)
);

-- One row is where the rules and lists of an account stand. `version` grows with every change of them; whoever decides reads
-- it, so that no node ever decides by old rules. The counts are what the limits are held against.
create table payments.fraud_policies (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  version     int not null,
  rules       int not null check (rules >= 0),
  entries     int not null check (entries >= 0),
  primary key (bucket, account_id, environment)
);

-- One row is a rule. Its conditions were understood when it was stored.
create table payments.fraud_rules (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  name        text not null,
  description text,
  action      text not null check (action in ('allow', 'require_3ds', 'review', 'block')),
  match       text not null check (match in ('all', 'any')),
  conditions  jsonb not null,
  applies_to  text[] not null,
  score       smallint not null,
  priority    smallint not null,
  enabled     boolean not null,
  dry_run     boolean not null,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);

-- One row is somebody or something that is not served. Of a card only its fingerprint is here, and how it is shown.
create table payments.blacklist (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  type        text not null,
  value       text not null,
  shown       text not null,
  reason      text,
  applies_to  text[] not null,
  expires_at  timestamptz,
  created_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);
create unique index blacklist_value on payments.blacklist (bucket, account_id, environment, type, value);

-- One row is a decision and what it rests on. Its id is that of the payment or payout, if it is about one. `payer` is a hash
-- of who it is about; `watched` what is to be counted when it is known what became of it; `matched` the rules that matched.
create table payments.risk_checks (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  direction   payments.subject not null,
  enforced    boolean not null,
  currency    text not null,
  amount      bigint not null,
  score       smallint not null,
  decision    payments.decision not null,
  inputs      jsonb not null,
  matched     uuid[] not null,
  payer       uuid,
  watched     jsonb not null,
  created_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
) partition by range (id);
select platform.ensure_partitions('payments.risk_checks', 'month', 2);

-- One row is what happened within one step of time, counted from `start` in seconds of the account's clock. `tally` is a hash
-- of what is counted and of whom, `item` of what is told apart.
create table payments.velocity (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  tally       uuid not null,
  step        int not null,
  start       bigint not null,
  item        uuid not null,
  count       int not null,
  total       numeric not null,
  expires_at  timestamptz not null,
  primary key (bucket, account_id, environment, tally, step, start, item)
) with (fillfactor = 70);
create index velocity_expiry on payments.velocity (expires_at);

-- One row is somebody who has paid, or was paid, before: a hash of who, and when it was the first time.
create table payments.payers (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  payer       uuid not null,
  first_at    timestamptz not null,
  primary key (bucket, account_id, environment, payer)
);

-- One row is a dispute as the acquirer knows it, under `provider_id`. `held` is what could be set aside when it was opened;
-- `owed` is what a lost one took that no wallet had. Times are by the account's clock.
create table payments.disputes (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  payment_id  uuid not null,
  attempt_id  uuid not null,
  provider    text not null,
  provider_id text not null,
  status      text not null check (status in ('open', 'won', 'lost')),
  amount      bigint not null check (amount > 0),
  held        bigint not null check (held between 0 and amount),
  owed        bigint not null default 0 check (owed between 0 and amount),
  currency    text not null,
  reason      text not null,
  polls       smallint not null default 0,
  created_at  timestamptz not null,
  closed_at   timestamptz,
  updated_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);
-- Begun by the payment for the reason given at attempts_of_payment.
create unique index disputes_of_payment on payments.disputes (payment_id, bucket, account_id, environment, provider_id);

-- One row is what a payment brought and its account cannot spend before `due_at`, by the real clock. In the ledger it stands
-- on `pending`.
create table payments.settlements (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  payment_id  uuid not null,
  purpose     text not null,
  amount      bigint not null check (amount > 0),
  currency    text not null,
  due_at      timestamptz not null,
  primary key (bucket, account_id, environment, payment_id)
);

-- One row is a payment of which a provider told another amount than was asked for; open until somebody has looked at it.
create table payments.discrepancies (
  bucket         smallint    not null check (bucket between 0 and 255),
  account_id     uuid        not null,
  environment    text        not null check (environment in ('test', 'live')),
  payment_id     uuid        not null,
  provider       text        not null,
  currency       text        not null,
  asked_amount   bigint      not null,
  told_amount    bigint      not null,
  receipt        text,
  found_at       timestamptz not null,
  resolved_at    timestamptz,
  note           text,
  primary key (bucket, account_id, environment, payment_id)
);
create index discrepancies_open on payments.discrepancies (bucket, payment_id) where resolved_at is null;

-- What became of a payment or payout, by the account's clock and the real one.
create type payments.fate as (
  bucket smallint, account_id uuid, environment text, id uuid, status text, at timestamptz, real_at timestamptz
);

-- Who is decided about, and when: by the account's clock and the real one. payer is a hash of the other side.
create type payments.look_item as (
  bucket smallint, account uuid, environment text, payer uuid, at timestamptz, real_at timestamptz
);

-- What is counted of the n-th of them: in which row it counts itself (`counts`: it does so now), and since when rows are added
-- up.
create type payments.look_tally as (
  n int, tally uuid, step int, start bigint, since bigint, item uuid, amount bigint, keep int, counts boolean
);

-- Where the n-th of them may stand on a blacklist.
create type payments.look_place as (n int, type text, value text);

-- What was decided about a payout and what that rests on, and what of it is stored with the payout.
create type payments.judged_item as (
  payout uuid, found jsonb, reviewed boolean, check_currency text, check_amount bigint, check_score smallint,
  check_decision text, check_inputs jsonb, check_matched jsonb, check_payer uuid, check_watched jsonb
);
