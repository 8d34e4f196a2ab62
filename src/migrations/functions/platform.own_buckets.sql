-- Makes every table of tenants refuse rows of all buckets but `owned`, or of none when it is null, as where there is only one
-- database. All tables at once, for a database that nobody uses yet: where others write, platform.own_buckets_in is called for
-- one table after the other, because a transaction that holds one of them and waits for the next would block this for ever.
create or replace function platform.own_buckets(owned smallint[], lock_ms int default 500) returns void
  language plpgsql as $$
begin
  perform set_config('lock_timeout', lock_ms || 'ms', true);
  update platform.this_cell set buckets = owned, epoch = epoch + 1;
  perform platform.own_buckets_in(t, owned) from platform.tenant_tables() t;
end $$;
