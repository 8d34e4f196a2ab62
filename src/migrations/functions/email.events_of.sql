-- Events that an item of a group commit brings, as the outbox takes them: a JSON array of rows of events.event_item.
create or replace function email.events_of(p_events jsonb) returns events.event_item[] language sql immutable as $$
  select coalesce(array_agg(e order by n), '{}')
    from (select p as e, row_number() over () as n from jsonb_populate_recordset(null::events.event_item, p_events) p) o
$$;
