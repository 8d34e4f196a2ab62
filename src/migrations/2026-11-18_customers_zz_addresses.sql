-- Addresses are compared by their bytes, so that one index finds a whole one and the beginning of one.
drop index customers.addresses_by_beginning;
alter table customers.addresses drop constraint addresses_pkey, alter column address type text collate "C",
  add primary key (bucket, account_id, environment, address, kind);

-- Whoever was never seen, as those of a file, is not looked for by when they were.
drop index customers.customers_seen;
create index customers_seen on customers.customers (bucket, account_id, environment, last_seen_at) where last_seen_at is not null;
