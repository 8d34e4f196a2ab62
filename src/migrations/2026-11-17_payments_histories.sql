-- Payments of a customer, newest first, for whoever speaks with them.
create index payments_of_phone on payments.payments (bucket, account_id, environment, phone, id) where phone is not null;
