-- The smallest UUIDv7 of a moment. Big tables are partitioned by range of such ids, so retention is a DROP.
create or replace function platform.uuid_at(at timestamptz) returns uuid language sql immutable as $$
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid
$$;
