-- Makes a table refuse rows of all buckets but `owned`: an insert or update by the check own_bucket, a delete by the trigger of
-- that name, both as a check_violation. Null takes both away. What a subscription writes is let in: it copies a bucket that is
-- still to come. The check is not validated, since rows of a bucket that has left are deleted after it. When it commits, no
-- transaction is left that has changed rows of other buckets in this table.
create or replace function platform.own_buckets_in(kept regclass, owned smallint[]) returns void language plpgsql as $$
declare
  mask bytea := decode(repeat('00', 32), 'hex');
  one  smallint;
begin
  if owned is null then
    execute format('alter table %s drop constraint if exists own_bucket', kept);
    execute format('drop trigger if exists own_bucket on %s', kept);
    return;
  end if;
  foreach one in array owned loop
    mask := set_bit(mask, one, 1);
  end loop;
  execute format(
    'alter table %s %s add constraint own_bucket
       check (get_bit(%L::bytea, bucket) = 1 or current_setting(''session_replication_role'') = ''replica'') not valid',
    kept,
    case when exists (select from pg_constraint k where k.conrelid = kept and k.conname = 'own_bucket')
         then 'drop constraint own_bucket,' end,
    mask);
  execute format(
    'create or replace trigger own_bucket before delete on %s for each row
       when (get_bit(%L::bytea, old.bucket) = 0) execute function platform.refuse_bucket()', kept, mask);
end $$;
