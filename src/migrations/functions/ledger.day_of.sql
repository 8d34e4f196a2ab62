-- The UTC day on which a UUIDv7 was made.
create or replace function ledger.day_of(id uuid) returns date language sql immutable as $$
  select (to_timestamp(('x' || lpad(substr(replace(id::text, '-', ''), 1, 12), 16, '0'))::bit(64)::bigint / 1000.0) at time zone 'UTC')::date
$$;
