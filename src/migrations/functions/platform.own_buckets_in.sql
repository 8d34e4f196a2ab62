-- Makes a table refuse rows of buckets that this database does not own: an insert or update by the check own_bucket, a delete by
-- the trigger of that name, both as a check_violation. What a subscription writes is let in (platform.admit_buckets). The check is
-- short, since each statement that writes into the table reads it anew, and it is not validated, since rows of a bucket that has
-- left are deleted after it. Does nothing to a table that refuses them already.
create or replace function platform.own_buckets_in(kept regclass) returns void language plpgsql as $$
begin
  if exists (select from pg_constraint k
              where k.conrelid = kept and k.conname = 'own_bucket' and pg_get_constraintdef(k.oid) like '%owns_bucket%')
  then return; end if;
  execute format(
    'alter table %s drop constraint if exists own_bucket, add constraint own_bucket
       check (platform.owns_bucket(bucket)) not valid', kept);
  execute format(
    'create or replace trigger own_bucket before delete on %s for each row
       when (not platform.owns_bucket(old.bucket)) execute function platform.refuse_bucket()', kept);
end $$;
