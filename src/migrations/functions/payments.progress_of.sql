-- How far an attempt has come. It never goes back.
create or replace function payments.progress_of(state text) returns int language sql immutable as $$
  select array_position(array['planned', 'sending', 'unknown', 'accepted', 'final'], state)
$$;
