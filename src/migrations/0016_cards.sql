-- Payments by other methods than mobile money, and cards.

-- What a method shows of its own with a payment, such as where the payer confirms it.
alter table payments.payments add column details jsonb not null default '{}';
