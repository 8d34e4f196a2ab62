-- Has autovacuum take a table of rows that are final in small portions while their pages are still in memory, and freeze them
-- at once. By PostgreSQL's own settings it reads a fifth of the table at a time, and once more when the rows are old.
create or replace function platform.freeze_soon(partition regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s set (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 20000,
                                      autovacuum_freeze_min_age = 0)', partition);
end $$;
