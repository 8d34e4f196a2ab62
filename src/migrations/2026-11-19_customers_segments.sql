-- SPDX-License-Identifier: Apache-2.0
-- Segments that few are in.

-- The SQL of a segment is written by other functions now.
drop function if exists customers.segment_where(jsonb, uuid);

-- Who paid, when, and how much, read without the payments.
create index payments_paid on payments.payments (bucket, account_id, environment, completed_at) include (phone, amount, refunded, currency)
  where phone is not null and completed_at is not null;

-- Those who have several numbers are few.
create index customers_of_numbers on customers.customers (bucket, account_id, environment, id) where cardinality(phones) > 1;
