-- Makes every table of tenants refuse rows of all buckets but `owned`: an insert or update by the check own_bucket, a delete by
-- the trigger of that name, both as a check_violation. Null takes both away, as where there is only one database. What a
-- subscription writes is let in: it copies a bucket that is still to come. The checks are not validated, since rows of a
-- bucket that has left are deleted after it. When it commits, no transaction that may change other buckets is left.
--
-- Every lock is waited for lock_ms at most, less than the second after which PostgreSQL looks for a deadlock and might end
-- another's transaction instead; the caller tries again.
create or replace function platform.own_buckets(owned smallint[], lock_ms int default 500) returns void
  language plpgsql as $$
declare
  mask      bytea := decode(repeat('00', 32), 'hex');
  one       smallint;
  kept      regclass;
  has_check boolean;
begin
  perform set_config('lock_timeout', lock_ms || 'ms', true);
  update platform.this_cell set buckets = owned, epoch = epoch + 1;
  foreach one in array coalesce(owned, '{}') loop
    mask := set_bit(mask, one, 1);
  end loop;
  for kept, has_check in
    select t.name, exists (select from pg_constraint k where k.conrelid = t.name and k.conname = 'own_bucket')
      from platform.tenant_tables() t(name)
  loop
    if owned is null then
      execute format('alter table %s drop constraint if exists own_bucket', kept);
      execute format('drop trigger if exists own_bucket on %s', kept);
    else
      execute format(
        'alter table %s %s add constraint own_bucket
           check (get_bit(%L::bytea, bucket) = 1 or current_setting(''session_replication_role'') = ''replica'') not valid',
        kept, case when has_check then 'drop constraint own_bucket,' end, mask);
      execute format(
        'create or replace trigger own_bucket before delete on %s for each row
           when (get_bit(%L::bytea, old.bucket) = 0) execute function platform.refuse_bucket()', kept, mask);
    end if;
  end loop;
end $$;
