-- Stands for the endpoint of what goes to a callback URL.
create or replace function webhooks.no_endpoint() returns uuid language sql immutable as $$
  select '00000000-0000-0000-0000-000000000000'::uuid
$$;
