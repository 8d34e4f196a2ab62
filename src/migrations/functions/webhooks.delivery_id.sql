-- The id of a delivery follows from the event and the endpoint, so that it is the same however often it is made. It
-- keeps the event's time and counter: deliveries sort as their events do.
create or replace function webhooks.delivery_id(event uuid, endpoint uuid) returns uuid language sql immutable as $$
  select (left(event::text, 18) || '-8' || left(md5(event::text || endpoint::text), 15))::uuid
$$;
