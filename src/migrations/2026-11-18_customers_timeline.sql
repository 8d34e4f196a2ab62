-- What people wrote, called and paid, newest first, for the timeline of a customer.
create index messages_from on sms.messages (sender, account_id, environment, id) where direction = 'inbound';
create index calls_from on voice.calls (bucket, account_id, environment, from_number, id)
  where direction = 'inbound' and parent is null;
create index calls_to on voice.calls (bucket, account_id, environment, to_number, id)
  where direction = 'outbound' and parent is null;
create index payments_of_email on payments.payments (bucket, account_id, environment, lower(customer ->> 'email'), id)
  where customer ? 'email' and phone is null;
create index payments_refunded_of_phone on payments.payments (bucket, account_id, environment, phone)
  where refunded > 0 and phone is not null;
