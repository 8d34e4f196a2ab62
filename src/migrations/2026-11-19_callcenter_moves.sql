-- SPDX-License-Identifier: Apache-2.0
-- Waits whose callers are on the way to another node, of which there are few: `is_moved` is true until the caller has arrived.

create index contacts_on_the_way on callcenter.contacts (bucket, account_id, environment, from_number) where is_moved;
