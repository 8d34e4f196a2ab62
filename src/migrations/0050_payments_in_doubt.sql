-- How often a provider was asked about a payment or a payout is not counted any more: when it is asked next follows from when
-- it was last asked for it.
alter table payments.attempts drop column polls;
alter table payments.payouts drop column polls;
