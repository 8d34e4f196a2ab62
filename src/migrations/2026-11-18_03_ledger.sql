-- SPDX-License-Identifier: Apache-2.0
-- When the ledger was last proved, and in how many places it did not add up: the operator's home says both.

alter table ledger.proof add column checked_at timestamptz;
alter table ledger.proof add column problems int not null default 0;
