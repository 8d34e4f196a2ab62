-- SPDX-License-Identifier: Apache-2.0
-- Transfers by REFER, as a trunk allows them.

-- `follows_transfers`: whoever a `connect` rang over the trunk may have another number called instead, on the caller's account.
-- `transfers_to` are the first digits of numbers that the network connects a caller with when it is asked to; empty: none.
alter table voice.trunks
  add column follows_transfers boolean not null default false,
  add column transfers_to      text[] not null default '{}';
