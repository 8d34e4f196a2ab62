-- SPDX-License-Identifier: Apache-2.0
-- Indexes of what people look for first: what failed, and the events of one thing. A status in an index, or in the condition
-- of one, would make every change of it a change of every index; so what failed is noted in a table beside, which costs
-- nothing where nothing fails.

-- One row is a text that failed, unless a later receipt says otherwise.
create table sms.failures (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  primary key (bucket, account_id, environment, id)
);
insert into sms.failures select bucket, account_id, environment, id from sms.messages where status = 'failed';
create trigger messages_failed after insert or update of status on sms.messages
  for each row when (new.status = 'failed') execute function sms.note_failure();

-- One row is a message that bounced or failed.
create table email.failures (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  primary key (bucket, account_id, environment, id)
);
insert into email.failures select bucket, account_id, environment, id from email.messages where status in ('bounced', 'failed');
create trigger messages_failed after insert or update of status on email.messages
  for each row when (new.status in ('bounced', 'failed')) execute function email.note_failure();

-- One row is a message that failed.
create table messenger.failures (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  primary key (bucket, account_id, environment, id)
);
insert into messenger.failures select bucket, account_id, environment, id from messenger.messages where status = 'failed';
create trigger messages_failed after insert or update of status on messenger.messages
  for each row when (new.status = 'failed') execute function messenger.note_failure();

-- One row is a delivery that failed, once no further attempt is made.
create table webhooks.failures (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  endpoint_id uuid not null,
  id          uuid not null,
  primary key (bucket, account_id, environment, endpoint_id, id)
) partition by range (id);
select platform.ensure_partitions('webhooks.failures', 'day', 3);
insert into webhooks.failures select bucket, account_id, environment, endpoint_id, id from webhooks.deliveries where status = 'failed';
create trigger deliveries_failed after insert or update of status on webhooks.deliveries
  for each row when (new.status = 'failed') execute function webhooks.note_failure();

create index events_of_resource on events.events (resource_id, id) with (deduplicate_items = off);
