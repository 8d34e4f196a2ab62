-- A content of up to 8 kB stays in its row: moved to the table of large values, 2 kB are two rows and two index entries more.
do $$
declare
  leaf regclass;
begin
  for leaf in select inhrelid from pg_inherits where inhparent = 'email.contents'::regclass loop
    execute format('alter table %s set (toast_tuple_target = 8160)', leaf);
  end loop;
end $$;
