-- Makes the partitions of a table from the current period to `ahead` periods on. The first one reaches back to the
-- beginning of time; a default partition catches what maintenance, if it stood still for long, did not foresee. Such
-- rows move to their partition when it is made, told by the column that the table is divided by: PostgreSQL makes none over
-- rows that lie in the default one. `fill` leaves room in each page for rows that change soon after they are written; other
-- storage parameters of a new partition are those of the default one, and so is the order of its columns.
create or replace function platform.ensure_partitions(parent text, period text, ahead int, fill int default 100) returns void
  language plpgsql as $$
declare
  step   interval := ('1 ' || period)::interval;
  -- Without a zone: where the clocks change, a day of the session's zone is not a day of UTC.
  start  timestamp := date_trunc(period, now() at time zone 'UTC');
  first  boolean := not exists (select from pg_inherits where inhparent = parent::regclass);
  key    text := (select a.attname from pg_partitioned_table p
                    join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0]
                   where p.partrelid = parent::regclass);
  stored text;
  child  text;
  since  uuid;
  upto   uuid;
begin
  if first then
    execute format('create table if not exists %s_default partition of %s default', parent, parent);
    if fill = 100 then
      perform platform.freeze_soon((parent || '_default')::regclass);
    end if;
  end if;
  select concat_ws(', ', 'fillfactor = ' || fill, string_agg(o.option, ', ')) into stored
    from unnest((select c.reloptions from pg_class c where c.oid = to_regclass(parent || '_default'))) o(option)
   where o.option not like 'fillfactor=%';
  for i in 0 .. ahead loop
    child := parent || to_char(start + i * step, '_YYYYMMDD');
    since := platform.uuid_at((start + i * step) at time zone 'UTC');
    upto := platform.uuid_at((start + (i + 1) * step) at time zone 'UTC');
    if to_regclass(child) is null then
      execute format('lock table %s_default in access exclusive mode', parent);
      execute format('create table %s (like %s_default including all) with (%s)', child, parent, stored);
      execute format('with moved as (delete from %s_default where %I >= %L and %I < %L returning *)
                      insert into %s select * from moved', parent, key, since, key, upto, child);
      execute format('alter table %s attach partition %s for values from (%s) to (%L)', parent, child,
        case when first and i = 0 then 'minvalue' else quote_literal(since) end, upto);
    end if;
  end loop;
end $$;
