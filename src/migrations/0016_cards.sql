-- Payments by other methods than mobile money, and cards.

-- What a method shows of its own with a payment, such as where the payer confirms it.
alter table payments.payments add column details jsonb not null default '{}';

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
