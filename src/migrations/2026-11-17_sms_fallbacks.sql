-- Texts that go on over another channel when they fail or are not delivered in time.

-- One row says where a text goes on. content is what is said there, until that is decided; went_on_as is the message that it became.
create table sms.fallbacks (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  message_id  uuid not null,
  content     jsonb,
  went_on_as  text,
  primary key (bucket, account_id, environment, message_id)
);
comment on table sms.fallbacks is 'One row says where a text goes on when it fails or is not delivered in time';
