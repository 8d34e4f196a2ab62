-- Says which buckets this database owns, for every table that refuses all others (platform.own_buckets_in): all at once, by a
-- function that they ask, and without a lock on any of them. What a subscription writes is admitted: it copies a bucket that is
-- still to come. A statement that begins after this is committed asks the new one; a transaction that has changed rows of a
-- table before may go on doing so until it ends.
create or replace function platform.admit_buckets(owned smallint[]) returns void language plpgsql as $$
declare
  mask bytea := decode(repeat('00', 32), 'hex');
  one  smallint;
begin
  -- First, so that whoever else says so waits for this row, and not for the function.
  update platform.this_cell set buckets = owned, epoch = epoch + 1;
  foreach one in array owned loop
    mask := set_bit(mask, one, 1);
  end loop;
  execute format(
    'create or replace function platform.owns_bucket(bucket bigint) returns boolean language plpgsql immutable as
       $f$begin
         return get_bit(%L::bytea, bucket) = 1 or current_setting(''session_replication_role'') = ''replica'';
       end$f$', mask);
end $$;
