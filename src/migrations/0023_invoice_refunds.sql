-- What was given back of an invoice that was paid: it stays paid. What is given back of one that is still open is taken off
-- `amount_paid`, because it is due again.
alter table billing.invoices
  add column amount_refunded bigint not null default 0 check (amount_refunded >= 0);
