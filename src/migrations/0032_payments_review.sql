-- What belongs to a payment is found by the payment, whatever the planner knows of the tables. An index that begins as the
-- primary key does looks as good as the key for finding one row; one that has the payment alone looks worse than the key for
-- finding those of a payment. Either way all rows of the tenant are read. Begun by the payment and with all that statements
-- name, each index is the better one for its own question, and for no other.

drop index payments.attempts_of_payment;
create index attempts_of_payment on payments.attempts (payment_id, bucket, account_id, environment, id);

drop index payments.refunds_of_payment;
create index refunds_of_payment on payments.refunds (payment_id, bucket, account_id, environment, id);

drop index payments.disputes_of_payment;
create unique index disputes_of_payment on payments.disputes (payment_id, bucket, account_id, environment, provider_id);

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

-- Of whom the top-up under way was asked: a failure of what was replaced meanwhile says nothing of what is there now.
alter table wallet.auto_recharges add column asked_of text;
