-- Outgoing money of which the provider told another amount or currency than it was asked for: until a person has found out,
-- only a result that names what was asked for, or that it was taken back, settles it.
alter table payments.payouts add column told_other boolean not null default false;
alter table payments.refunds add column told_other boolean not null default false;
