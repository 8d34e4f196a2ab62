-- SPDX-License-Identifier: Apache-2.0
-- How far the ledger is proved, so that a proof reads what is newer.

-- One row, the only one, says that every transfer before an id is proved, and when the whole ledger was last.
create table ledger.proof (
  is_only   boolean primary key default true check (is_only),
  since     uuid not null default '00000000-0000-0000-0000-000000000000',
  whole_at  timestamptz
);
comment on table ledger.proof is 'Reference: the row says how far the ledger is proved';
insert into ledger.proof default values;

-- Open holds are few among all that ever were.
create index holds_open on ledger.holds (bucket, account_id, environment) where open;
