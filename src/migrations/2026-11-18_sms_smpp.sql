-- One row is a customer's program that binds with SMPP, found by its system id.
create table sms.smpp_credentials (
  system_id    text primary key,
  id           uuid not null,
  bucket       smallint not null,
  account_id   uuid not null,
  environment  text not null,
  name         text not null,
  hash         text not null,
  allowed_ips  text[] not null,
  rate         int not null,
  sessions     int not null,
  "window"     int not null,
  created_at   timestamptz not null,
  last_used_at timestamptz
);
create index smpp_credentials_of_account on sms.smpp_credentials (bucket, account_id, environment, id);
comment on table sms.smpp_credentials is 'Reference: one row is a program that binds with SMPP';

-- One row is a long text of which not all parts have come. Its id is already the one that the message will have.
create table sms.smpp_texts (
  bucket        smallint not null,
  account_id    uuid not null,
  environment   text not null,
  credential_id uuid not null,
  sender        text not null,
  recipient     text not null,
  reference     int not null,
  total         smallint not null,
  message_id    uuid not null,
  scheduled_at  timestamptz,
  validity      int not null,
  created_at    timestamptz not null,
  primary key (bucket, account_id, environment, credential_id, sender, recipient, reference, total)
);

-- One row is a part of such a text, as octets: a part may end inside a character.
create table sms.smpp_parts (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  message_id  uuid not null,
  part        smallint not null,
  coding      smallint not null,
  octets      bytea not null,
  primary key (bucket, account_id, environment, message_id, part)
);

-- One row is a deliver_sm that a customer has not acknowledged: a receipt, which is due when its message has ended or has an
-- outcome here, or a text from a handset, which has part 0 and no credential.
create table sms.smpp_deliveries (
  bucket         smallint not null,
  account_id     uuid not null,
  environment    text not null,
  message_id     uuid not null,
  part           smallint not null,
  credential_id  uuid,
  wants          smallint not null default 1,
  user_reference int,
  sender         text not null,
  recipient      text not null,
  outcome        text,
  held_until     timestamptz,
  created_at     timestamptz not null,
  primary key (bucket, account_id, environment, message_id, part)
);
create index smpp_deliveries_by_age on sms.smpp_deliveries (bucket, created_at);
