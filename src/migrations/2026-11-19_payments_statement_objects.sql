-- SPDX-License-Identifier: Apache-2.0
-- One row is a payment, payout or refund of another database, with which the lines of a provider's account may be matched. It is
-- there within the transaction that matches them alone.
create table payments.statement_objects (
  bucket             smallint not null,
  account_id         uuid not null,
  environment        text not null,
  object             text not null,
  payment_bucket     smallint not null,
  payment_account    uuid not null,
  payment_id         uuid not null,
  provider           text not null,
  currency           text not null,
  amount             bigint not null,
  phone              text,
  provider_reference text,
  status             text not null,
  is_awaited         boolean not null,
  created_at         timestamptz not null,
  ended_at           timestamptz,
  primary key (bucket, account_id, environment, payment_id)
);
-- Refunds that a line without a known receipt may belong to.
create index refunds_without_receipt on payments.refunds (environment, provider, currency, amount)
  where provider_reference is null and status in ('processing', 'completed');
