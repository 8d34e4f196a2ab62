-- Payments by bank: the one-time account of a payment is found by its number.

create index payments_paid_into on payments.payments
  (bucket, account_id, environment, (details -> 'pay_into' ->> 'account_number'))
  where method = 'bank_transfer';
