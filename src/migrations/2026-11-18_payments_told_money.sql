-- Money as a provider tells of it: in which currency, or in words from which no amount can be read. A discrepancy without a
-- told currency is in that of its payment.
alter table payments.discrepancies alter column told_amount drop not null;
alter table payments.discrepancies add column told_currency text;
alter table payments.discrepancies add column told_words text;
alter table payments.attempts add column called_currency text;
alter table payments.attempts add column called_words text;
