-- The number of a change, by which readers find what is new: larger than all that the account had before, for whoever
-- changes these rows holds its switchboard.
create or replace function callcenter.number_change() returns trigger language plpgsql as $$
begin
  new.changed := nextval('callcenter.changes');
  return new;
end
$$;
