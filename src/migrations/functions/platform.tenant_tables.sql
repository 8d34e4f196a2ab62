-- Tables whose rows belong to tenants and so live in the cell of their bucket, in the order of their names.
create or replace function platform.tenant_tables() returns setof regclass language sql stable as $$
  select c.oid::regclass
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'bucket' and not a.attisdropped
   where c.relkind in ('r', 'p') and not c.relispartition
     and c.relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
     and coalesce(obj_description(c.oid, 'pg_class'), '') not like 'Reference:%'
   order by c.oid::regclass::text
$$;
