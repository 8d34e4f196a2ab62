-- Money that a payer wants back over its bank: the issuer has taken it from the acquirer, and decides later whose it is.

-- Null until a payment is disputed for the first time.
alter table payments.payments
  add column dispute_status text check (dispute_status in ('open', 'won', 'lost'));

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
create unique index disputes_of_payment on payments.disputes (bucket, account_id, environment, payment_id, provider_id);
