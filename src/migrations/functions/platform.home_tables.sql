-- Tables whose rows belong to no tenant, of which every cell has a copy, in the order of their names.
create or replace function platform.home_tables() returns setof regclass language sql stable as $$
  select c.oid::regclass
    from pg_class c
   where c.relkind in ('r', 'p') and not c.relispartition and obj_description(c.oid, 'pg_class') like 'Reference:%'
     and c.oid <> 'platform.this_cell'::regclass
   order by c.oid::regclass::text
$$;
