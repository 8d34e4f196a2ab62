-- SPDX-License-Identifier: Apache-2.0
-- Conversations with customers, and the events of people that were not noted yet.

-- One row is what a customer and the account say to each other, over all channels. The messages are with their channels; `place`
-- orders conversations by their last message. `address` is the number or address that the customer last wrote from on `channel`,
-- `line` the number or sender of the account that they wrote to.
create table customers.conversations (
  bucket         smallint not null,
  account_id     uuid not null,
  environment    text not null,
  id             uuid not null,
  customer_id    uuid not null,
  state          text not null check (state in ('open', 'snoozed', 'closed')),
  assignee       uuid,
  unread         int not null default 0,
  channel        text check (channel in ('sms', 'messenger', 'email')),
  address        text,
  line           text,
  place          uuid not null,
  last_text      text,
  last_direction text check (last_direction in ('inbound', 'outbound')),
  last_at        timestamptz,
  waiting_since  timestamptz,
  snoozed_until  timestamptz,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (bucket, account_id, environment, id)
);
create unique index conversations_of_customer on customers.conversations (bucket, account_id, environment, customer_id);
create index conversations_in_order on customers.conversations (bucket, account_id, environment, state, place);

-- One row is who wrote a message that was sent from a conversation.
create table customers.replies (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  message_id      text not null,
  conversation_id uuid not null,
  author          text not null,
  primary key (bucket, account_id, environment, message_id)
);
create index replies_of_conversation on customers.replies (bucket, account_id, environment, conversation_id);

-- One row is an event that tells of a person and was not noted yet. Written with the event, and removed by the transaction that
-- notes it, so that a node that is killed in between loses nothing.
create table customers.heard (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  primary key (bucket, account_id, environment, id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index heard_by_age on customers.heard (id);

-- Set once the person was erased: the row stays for what refers to it, with nothing in it.
alter table customers.customers add column erased_at timestamptz;
