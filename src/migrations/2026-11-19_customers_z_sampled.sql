-- SPDX-License-Identifier: Apache-2.0
-- Counts look at no more than a fifth of the slices of an account: the others need no place in the index, which cost an import as much
-- as three indexes of words.

drop index customers.customers_slices;
create index customers_sampled on customers.customers (bucket, account_id, environment, (uuid_hash(id) & 1023))
  where merged_into is null and (uuid_hash(id) & 1023) < 256;
