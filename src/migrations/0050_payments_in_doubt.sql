-- How often a provider was asked about a payment or a payout is not counted any more: when it is asked next follows from when
-- it was last asked for it.
alter table payments.attempts drop column polls;
alter table payments.payouts drop column polls;

-- overdue_at: since when a person has to find out what became of a refund, because the provider does not say, or says
-- something else than before.
alter table payments.refunds add column overdue_at timestamptz;
create index refunds_overdue on payments.refunds (bucket, id) where overdue_at is not null;

-- sent_by: with whose account it was sent. Whoever replaces the account has another one, which has never heard of it; nothing
-- is sent a second time on its word.
alter table payments.payouts add column sent_by text;
alter table payments.refunds add column sent_by text;
