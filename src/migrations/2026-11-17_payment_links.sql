-- One row is an address under which anybody can pay the same amount: a link that is shared, or a checkout of one payer. `token`
-- is the secret part of the address. `uses` counts the payments over it that were completed, `collected` is what they came to;
-- both change in the transaction that completes one. It is closed by deactivated_at, expires_at or max_uses.
create table payments.links (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  id              uuid not null,
  token           bytea not null,
  amount          ledger.above_zero not null,
  currency        text not null,
  description     text not null,
  payment_methods text[],
  redirect_url    text,
  max_uses        int check (max_uses > 0),
  uses            int not null default 0 check (uses >= 0),
  collected       ledger.zero_or_above not null default 0,
  metadata        jsonb not null,
  expires_at      timestamptz,
  deactivated_at  timestamptz,
  created_at      timestamptz not null,
  primary key (bucket, account_id, environment, id)
);
create unique index links_token on payments.links (bucket, token);

-- One row is a payment that somebody began over a link. `once` is what its form brought along, so that one that is sent twice
-- is one payment.
create table payments.link_payments (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  link_id     uuid not null,
  payment_id  uuid not null,
  once        bytea not null,
  primary key (bucket, account_id, environment, link_id, payment_id)
);
create unique index link_payments_once on payments.link_payments (bucket, account_id, environment, link_id, once);
