-- Verifications of a customer whose phone number is among their notes, newest first, for whoever speaks with them.
create index verifications_of_phone on identity.verifications
  (bucket, account_id, environment, (metadata ->> 'phone'), id) where metadata ? 'phone';
