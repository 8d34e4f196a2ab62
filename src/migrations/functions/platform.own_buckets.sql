-- Makes every table of tenants refuse rows of all buckets but `owned`, or of none when it is null, as where there is only one
-- database. Tables that refuse none yet are locked together, for a database that nobody uses.
create or replace function platform.own_buckets(owned smallint[]) returns void language plpgsql as $$
declare
  kept regclass;
begin
  if owned is not null then
    perform platform.admit_buckets(owned);
    perform platform.own_buckets_in(t) from platform.tenant_tables() t;
    return;
  end if;
  update platform.this_cell set buckets = null, epoch = epoch + 1;
  for kept in select platform.tenant_tables() loop
    execute format('alter table %s drop constraint if exists own_bucket', kept);
    execute format('drop trigger if exists own_bucket on %s', kept);
  end loop;
end $$;
