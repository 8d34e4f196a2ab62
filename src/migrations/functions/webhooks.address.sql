-- What names an address in a job's key and to the node that delivers: the endpoint, or `callback`.
create or replace function webhooks.address(endpoint uuid) returns text language sql immutable as $$
  select case when endpoint = webhooks.no_endpoint() then 'callback' else endpoint::text end
$$;
