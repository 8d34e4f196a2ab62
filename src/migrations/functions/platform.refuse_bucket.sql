-- Refuses to delete a row of a bucket that this database does not own.
create or replace function platform.refuse_bucket() returns trigger language plpgsql as $$
begin
  raise check_violation using
    constraint = 'own_bucket', schema = tg_table_schema, table = tg_table_name,
    message = format('bucket %s of %s.%s lives in another cell', old.bucket, tg_table_schema, tg_table_name);
end $$;
