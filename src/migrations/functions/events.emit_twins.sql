-- Writes events that are told under a second name too, and gives the deliveries of each: first of all items, then of all
-- their twins, in the same order. Where nobody listens, only the callbacks are told, who hear the wider one.
create or replace function events.emit_twins(items events.event_item[], twin_types text[], twin_heads text[]) returns text[]
  language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  twins events.event_item[];
begin
  insert into events.events (bucket, account_id, environment, id, type, resource_id, body, request_id, created_at, twin_type,
                             twin_head)
  select i.bucket, i.account_id, i.environment, i.id, i.type, i.resource_id, i.body, i.request_id,
         case when i.environment <> 'live' then i.created_at end, i.twin_type, i.twin_head
    from rows from (unnest(items), unnest(twin_types), unnest(twin_heads))
      as i(bucket, account_id, environment, id, type, resource_id, body, request_id, within, callback_url, created_at, owner,
           twin_type, twin_head);
  if not webhooks.is_heard(items) then
    return webhooks.fan_out(items, false) || array_fill(null::text, array[cardinality(items)]);
  end if;
  twins := array(
    select row(i.bucket, i.account_id, i.environment, events.twin_of(i.id), i.twin_type, i.resource_id,
               events.twin_body(i.twin_head, i.body), i.request_id, i.type, null, i.created_at, i.owner)::events.event_item
      from rows from (unnest(items), unnest(twin_types), unnest(twin_heads))
        as i(bucket, account_id, environment, id, type, resource_id, body, request_id, within, callback_url, created_at,
             owner, twin_type, twin_head));
  return webhooks.fan_out(items || twins, true);
end $$;
