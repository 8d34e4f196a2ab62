-- SPDX-License-Identifier: Apache-2.0
-- Frames: what went over the wire for one message or payment, so that its owner can look at it.

-- One row is something that was said to a carrier, a provider or a receiver, or by one of them. `resource` is the public id of
-- what it was about; `request` and `answer` are redacted and cut, and hex where they were octets.
create table platform.frames (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  resource    text not null,
  id          uuid not null,
  kind        text not null,
  direction   text not null,
  title       text not null,
  peer        text,
  status      text,
  is_ok       boolean,
  duration_ms int,
  request     text,
  answer      text,
  primary key (bucket, account_id, environment, resource, id)
) partition by range (id);
comment on table platform.frames is 'One row is something that went over the wire for a message or a payment';
select platform.ensure_partitions('platform.frames', 'day', 3);
