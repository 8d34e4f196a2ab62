-- How far a message has come; a later status never goes back to an earlier one.
create or replace function messenger.rank(status text) returns int language sql immutable parallel safe as $$
  select case status when 'accepted' then 0 when 'sent' then 1 when 'delivered' then 2 when 'read' then 3 else 4 end
$$;
