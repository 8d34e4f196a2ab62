-- SPDX-License-Identifier: Apache-2.0
-- Evidence goes to the acquirer once, while a dispute is open; here stands when.
alter table payments.disputes add column evidence_sent_at timestamptz;
