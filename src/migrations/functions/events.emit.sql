-- Writes events and what makes them heard, in the commit of the change they tell of. Gives what webhooks.fan_out gives.
create or replace function events.emit(items events.event_item[]) returns text[] language plpgsql as $$
begin
  insert into events.events (bucket, account_id, environment, id, type, resource_id, body, request_id, created_at)
  select i.bucket, i.account_id, i.environment, i.id, i.type, i.resource_id, i.body, i.request_id,
         case when i.environment <> 'live' then i.created_at end
    from unnest(items) i;
  perform customers.hear(items);
  return webhooks.fan_out(items, true);
end $$;
