-- Events that an item of a group commit brings, as the outbox takes them.
create or replace function email.events_of(p_events jsonb) returns events.event_item[] language sql stable as $$
  select coalesce(array_agg(jsonb_populate_record(null::events.event_item, x.e) order by x.n), '{}')
    from jsonb_array_elements(coalesce(p_events, '[]')) with ordinality as x(e, n)
$$;
