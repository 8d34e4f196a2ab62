-- How much of `credit_applied` was given back after the invoice was paid; it is within `amount_refunded`. What a customer paid
-- too much may have paid another invoice by the time it is given back, and is missing there.
alter table billing.invoices
  add column credit_refunded bigint not null default 0,
  add constraint invoices_credit_refunded_check check (credit_refunded between 0 and credit_applied);
