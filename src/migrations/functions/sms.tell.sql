-- Writes the events of changes and gives the deliveries of each kind, in the order of the changes.
create or replace function sms.tell(changes sms.change[], out wide text[], out narrow text[]) language plpgsql as $$
declare
  many int := cardinality(changes);
  told text[];
begin
  if many = 0 then return; end if;
  told := events.emit_twins(
    array(select row(c.bucket, c.account, c.environment, c.event_id, c.event_type, c.event_resource, c.event_body,
                     c.event_request, c.event_within, c.event_callback, c.event_at, c.event_owner)::events.event_item
            from unnest(changes) c),
    array(select c.narrow_type from unnest(changes) c), array(select c.narrow_head from unnest(changes) c));
  wide := told[1 : many];
  narrow := told[many + 1 : 2 * many];
end $$;
