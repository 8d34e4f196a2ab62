-- One row is a segment of an account: a filter over its customers, or a fixed list of them when the filter is null.
create table customers.segments (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  name        text not null,
  filter      jsonb,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);

-- One row is a customer on the list of a segment.
create table customers.segment_members (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  segment_id  uuid not null,
  customer_id uuid not null,
  primary key (bucket, account_id, environment, segment_id, customer_id)
);
create index segment_members_by_customer on customers.segment_members (bucket, account_id, environment, customer_id);

-- Counts look at slices of the customers, of 1,024, where an account has many.
create index customers_slices on customers.customers (bucket, account_id, environment, (uuid_hash(id) & 1023))
  where merged_into is null;
create index customers_attributes on customers.customers using gin (attributes jsonb_path_ops);
