-- SPDX-License-Identifier: Apache-2.0
-- One row is the clock of a test account where its bucket lives, in a database beside home: there whoever makes something wait by
-- it can hold it, as the row in accounts.sandbox_clocks at home.
create table accounts.held_clocks (
  bucket     smallint not null,
  account_id uuid not null,
  offset_ms  bigint not null,
  primary key (bucket, account_id)
);
