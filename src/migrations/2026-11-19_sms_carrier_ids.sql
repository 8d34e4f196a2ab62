-- The ids of carriers are with the messages they stand for: with several databases, in the one where the message is. The bucket is
-- null while a receipt waits for its message, which it does in every database.
comment on table sms.carrier_ids is 'Keyed by carrier alone: a receipt names the carrier and its id, and may come before its message is known';
