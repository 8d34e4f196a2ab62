-- Money that payers have paid and a provider has not yet paid to us.

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
