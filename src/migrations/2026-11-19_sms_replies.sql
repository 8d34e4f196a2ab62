-- Answers newest first, for those to a campaign. What was sent does not have one, so sending does not pay for it.
create index messages_replies on sms.messages (bucket, account_id, environment, id)
  where direction = 'inbound' and in_reply_to is not null;
