-- Money that goes back to payers, and the receipts that payers may look at.

-- `refunded` is what the refunds that did not fail add up to; it changes in the transaction that changes one of them.
-- `receipt_token` is the secret part of the address of a receipt, `receipt_url` the whole of it, once the payment is completed.
alter table payments.payments
  add column refunded      bigint not null default 0,
  add column receipt_token bytea,
  add column receipt_url   text,
  add constraint payment_covers_refunds check (refunded between 0 and amount);
create unique index payments_receipt on payments.payments (bucket, receipt_token) where receipt_token is not null;

-- One row is a refund: what a customer asked for, and the one time that it is asked of the provider, under the refund's own
-- id. `status` is what customers see; `state` is how far the asking came, as of an attempt: `planned`, `sending`,
-- `accepted`, `unknown`, `final`. `way` says whether the provider is asked to refund, or to pay the payer's number.
-- `state_at` is by the real clock, the other times by the account's.
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
  primary key (bucket, account_id, environment, id)
);
create index refunds_of_payment on payments.refunds (bucket, account_id, environment, payment_id, id);
create unique index refunds_reference on payments.refunds (bucket, account_id, environment, reference)
  where reference is not null;
