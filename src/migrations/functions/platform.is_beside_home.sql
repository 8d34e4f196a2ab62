-- Whether this database is a cell beside home, where tables that belong to no tenant are copies.
create or replace function platform.is_beside_home() returns boolean language sql stable as $$
  select exists (select from platform.this_cell where name <> 'home')
$$;
