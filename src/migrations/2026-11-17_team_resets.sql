-- SPDX-License-Identifier: Apache-2.0
-- Links by which members choose another password.

-- reset_hash is SHA-256 of the link's secret; reset_asked_at is when one was last asked for by mail.
alter table accounts.members
  add column reset_hash     bytea unique,
  add column reset_until    timestamptz,
  add column reset_asked_at timestamptz;
