-- The network could not deliver messages which may go over another carrier: they are submitted again, each once, however
-- many of its parts were not delivered. Only what the carrier says that has the message now counts. Gives whether it did.
create type sms.reroute_item as (
  bucket smallint, account uuid, environment text, id uuid, carrier text, carrier_id text,
  job work.job_item
);

create or replace function sms.reroute(node uuid, items sms.reroute_item[]) returns table (rerouted boolean) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  jobs uuid[];
begin
  with changed as (
    update sms.messages m set route = null, job = (i.job).id, delivered_parts = 0, under_way = false
      from (select distinct on (u.id) u.* from unnest(items) u order by u.id) i
     where m.bucket = i.bucket and m.account_id = i.account and m.environment = i.environment and m.id = i.id
       and m.status = 'sent' and m.route = i.carrier
    returning m.job)
  select coalesce(array_agg(c.job), '{}') into jobs from changed c;
  perform work.add(array(select i.job from unnest(items) i where (i.job).id = any(jobs)));
  update sms.carrier_ids c set early = null from unnest(items) i
   where c.carrier = i.carrier and c.id = i.carrier_id and c.early is not null;
  return query select (items[n].job).id = any(jobs) from generate_subscripts(items, 1) n order by n;
end $$;
