-- Events that an item of a group commit brings, as the outbox takes them.
create or replace function email.events_of(p_bucket smallint, p_account uuid, p_environment text, p_events jsonb)
  returns events.event_item[] language sql immutable as $$
  select coalesce(array_agg(row(p_bucket, p_account, p_environment, (e ->> 'event_id')::uuid, e ->> 'event_type', e ->> 'event_resource',
                                e ->> 'event_body', e ->> 'event_request', e ->> 'event_within', e ->> 'event_callback',
                                (e ->> 'event_at')::timestamptz, (e ->> 'event_owner')::uuid)::events.event_item order by n), '{}')
    from jsonb_array_elements(coalesce(p_events, '[]')) with ordinality as x(e, n)
$$;
