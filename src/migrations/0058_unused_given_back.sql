-- How much of a credit was given back as money since. What was paid for a period that is not used is the customer's credit; a
-- refund of that payment takes it from them, once.
alter table billing.credit_entries
  add column given_back bigint not null default 0,
  add constraint credit_entries_given_back_check check (given_back between 0 and greatest(amount, 0));
