-- A carrier is about to be asked to take a message that must not go out twice (carrier is set), or did not take it (null).
-- Only the run that has the job may say so: its row is locked, so that no other node takes the job meanwhile.
create type sms.mark_item as (
  bucket smallint, account uuid, environment text, id uuid, job uuid, attempt int, carrier text
);

create or replace function sms.mark(node uuid, items sms.mark_item[]) returns table (marked boolean) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  running uuid[];
begin
  running := array(select j.id from unnest(items) i join work.jobs j on j.bucket = any(array[i.bucket]) and j.id = i.job
                    where j.attempt = i.attempt order by j.bucket, j.id for share of j);
  update sms.messages m set under_way = i.carrier is not null, route = coalesce(i.carrier, m.route)
    from unnest(items) i
   where m.bucket = i.bucket and m.account_id = i.account and m.environment = i.environment and m.id = i.id
     and m.status in ('queued', 'sent') and i.job = any(running);
  return query select items[n].job = any(running) from generate_subscripts(items, 1) n order by n;
end $$;
