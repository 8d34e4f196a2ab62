-- The bucket of an account follows from the account. Without knowing that, the planner takes an account's rows for a fraction of
-- what they are, and reads and sorts all of them for one page of a list. Later partitions have the statistics of their parent.
do $$
declare
  listed regclass;
begin
  for listed in
    select c.oid from pg_class c
     where c.relkind in ('r', 'p') and c.oid <> all(array(select inhrelid from pg_inherits))
       and (c.relkind = 'p' or c.oid = to_regclass('customers.customers'))
       and (select count(*) from pg_attribute a where a.attrelid = c.oid and a.attname in ('bucket', 'account_id')) = 2
    union all
    select i.inhrelid from pg_inherits i join pg_class c on c.oid = i.inhparent and c.relkind = 'p'
     where (select count(*) from pg_attribute a where a.attrelid = i.inhrelid and a.attname in ('bucket', 'account_id')) = 2
       and exists (select from pg_class l where l.oid = i.inhrelid and l.relkind = 'r')
  loop
    execute format('create statistics %s_tenant (dependencies) on bucket, account_id from %s', listed, listed);
  end loop;
end $$;
