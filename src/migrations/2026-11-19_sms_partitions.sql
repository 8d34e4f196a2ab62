-- A message is changed twice soon after it is written, and PostgreSQL logs from the first byte that differs to the last. So
-- what changes stands at the end of a row, and what has one width at its beginning. Partitions without rows are made anew;
-- later ones are as the default partition; those with rows stay as they are.
do $$
declare
  ordered constant text[] := '{account_id,id,created_at,unit_price,cost,validity,bucket,segments,charges,partial,callback_final,
    batch_id,scheduled_at,job,in_reply_to,reply_id,batch_index,environment,direction,encoding,type,recipient,sender,body,metadata,
    currency,country,network,reference,callback_url,request_id,keyword,
    sent_at,route,attempts,under_way,delivered_parts,status,delivered_at,failed_at,late_at,error_code,carrier_code}';
  child   record;
  filled  boolean;
begin
  -- As whoever reads or writes messages does: with a partition first, each would wait for what the other holds.
  lock table sms.messages in access exclusive mode;
  for child in
    select c.oid::regclass::text as name, pg_get_expr(c.relpartbound, c.oid) as bound,
           array_to_string(c.reloptions, ', ') as stored,
           (select string_agg(format('%I %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
                                     case when a.attnotnull then ' not null' end,
                                     ' default ' || pg_get_expr(d.adbin, d.adrelid)), ', '
                              order by array_position(ordered, a.attname::text))
              from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
             where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
           -- Such as that of a cell, which refuses the buckets of others.
           (select coalesce(string_agg(format(', constraint %I %s', k.conname, pg_get_constraintdef(k.oid)), ''), '')
              from pg_constraint k where k.conrelid = c.oid and k.contype = 'c') as checks
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'sms.messages'::regclass
     order by 1
  loop
    execute format('select exists (select from %s)', child.name) into filled;
    continue when filled;
    execute format('drop table %s', child.name);
    execute format('create table %s (%s%s) with (%s)', child.name, child.columns, child.checks, child.stored);
    execute format('create statistics %s_tenant (dependencies) on bucket, account_id from %s', child.name, child.name);
    execute format('alter table sms.messages attach partition %s %s', child.name, child.bound);
  end loop;
end $$;
