-- How far a recipient is; a status only ever moves on.
create or replace function email.rank(status text) returns int language sql immutable parallel safe as $$
  select array_position('{scheduled,queued,sent,delivered,bounced,failed,cancelled}'::text[], status)
$$;
