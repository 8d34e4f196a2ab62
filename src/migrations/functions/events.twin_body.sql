-- What a narrower event says: from the time on, the same as the wider one.
create or replace function events.twin_body(head text, body text) returns text language sql immutable as $$
  select head || right(body, 1 - strpos(body, ',"timestamp":'))
$$;
