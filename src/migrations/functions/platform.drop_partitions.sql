-- Drops the partitions of a table whose rows are all older than `before`.
create or replace function platform.drop_partitions(parent text, before timestamptz) returns int language plpgsql as $$
declare
  child   record;
  dropped int := 0;
begin
  for child in
    select c.oid::regclass::text as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = parent::regclass
       and substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''([0-9a-f-]{36})''\)')::uuid <= platform.uuid_at(before)
  loop
    execute 'drop table ' || child.name;
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;
