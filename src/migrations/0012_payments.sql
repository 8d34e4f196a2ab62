-- Money that customers' customers pay: payments, and what was asked of providers on their behalf.

create schema payments;

-- One row is a payment. Its status moves by guarded updates only; whoever wins one posts to the ledger and tells of it, in
-- the same transaction. `sequence` counts what was told.
create table payments.payments (
  bucket             smallint not null,
  account_id         uuid not null,
  environment        text not null,
  id                 uuid not null,
  purpose            text not null check (purpose in ('payment', 'topup', 'invoice')),
  status             text not null check (status in ('pending', 'processing', 'requires_action', 'completed', 'failed', 'cancelled', 'expired')),
  method             text not null check (method in ('mobile_money', 'card', 'bank_transfer')),
  provider           text not null,
  amount             bigint not null check (amount > 0),
  currency           text not null,
  fee                bigint not null check (fee >= 0),
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
  primary key (bucket, account_id, environment, id)
);
create unique index payments_reference on payments.payments (bucket, account_id, environment, reference)
  where reference is not null;
create index payments_of_invoice on payments.payments (bucket, account_id, environment, invoice_id, id)
  where invoice_id is not null;

-- One row is something asked of a provider: it is there before the first byte leaves. `planned`: nothing was sent;
-- `sending`: perhaps it was; `accepted`: the provider has it, as provider_id; `unknown`: it may have it; `final`: it is over.
create table payments.attempts (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  payment_id  uuid not null,
  provider    text not null,
  country     text not null,
  currency    text not null,
  state       text not null check (state in ('planned', 'sending', 'accepted', 'unknown', 'final')),
  provider_id text,
  token       bytea not null,
  polls       smallint not null default 0,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);
create index attempts_of_payment on payments.attempts (bucket, account_id, environment, payment_id);

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
