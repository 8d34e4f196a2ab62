-- The id of the narrower event: that of the wider one with its last bit turned over, so that either leads to the other, and
-- both stand at the same place in the order.
create or replace function events.twin_of(id uuid) returns uuid language sql immutable as $$
  select (left(id::text, 35) || translate(right(id::text, 1), '0123456789abcdef', '1032547698badcfe'))::uuid
$$;
