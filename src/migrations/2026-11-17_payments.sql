-- Top-ups of the last days are summed whenever money is paid out.
create index payments_topups on payments.payments (bucket, account_id, environment, currency, completed_at)
  where purpose = 'topup' and completed_at is not null;
-- Debts are few, and are looked for on every payout and twice a minute.
create index disputes_owing on payments.disputes (bucket, account_id, environment, id) where owed > 0;
