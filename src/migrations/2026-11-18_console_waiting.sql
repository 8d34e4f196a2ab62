-- What waits for a person is counted by an index, however long the list is from which few rows wait.
create index invoices_overdue on billing.invoices (bucket, account_id, environment, id) where status = 'open' and overdue_told;
create index verifications_to_review on identity.verifications (bucket, account_id, environment, id)
  where stage = 'awaiting_review';
create index sender_ids_pending on sms.sender_ids (bucket, id) where status = 'pending';
-- Calls of a number, of whichever side.
create index calls_of_caller on voice.calls (bucket, account_id, environment, from_number, id);
create index calls_of_called on voice.calls (bucket, account_id, environment, to_number, id);
