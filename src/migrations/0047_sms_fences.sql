-- Who has the job of a message has the message.

-- As before, but for the first statement: the jobs are locked, and not only looked at. Otherwise a node that is just taking
-- a job would send its message while whoever cancels the batch gives the money back. The lock is the one that removing the
-- jobs needs anyway, and they are locked in the order in which others lock them.
create or replace function sms.failed(node uuid, items sms.failed_item[])
  returns table (changed boolean, wide text, narrow text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  running uuid[];
  charges ledger.charge_item[];
  fresh   int[];
  told    record;
begin
  running := array(select j.id from unnest(items) i join work.jobs j on j.bucket = any(array[i.bucket]) and j.id = i.job
                    where j.attempt = i.attempt order by j.bucket, j.id for update of j);
  with changed as (
    update sms.messages m
       set status = 'failed', failed_at = i.at, error_code = i.error_code, carrier_code = i.carrier_code,
           route = i.carrier, attempts = i.attempts
      from unnest(items) i
     where m.bucket = i.bucket and m.account_id = i.account and m.environment = i.environment and m.id = i.id
       and m.status = 'queued' and i.job = any(running)
    returning m.bucket, m.account_id, m.environment, m.currency, m.cost, m.id, m.charges, i.transfer)
  select coalesce(array_agg(row(c.bucket, c.account_id, c.environment, c.currency, c.cost, c.id, sms.charge_step(c.charges),
                                c.transfer, 'revenue:sms')::ledger.charge_item), '{}')
    into charges from changed c;
  fresh := array(select min(n) from generate_subscripts(items, 1) n
                  where exists (select from unnest(charges) c where c.source_id = items[n].id)
                  group by items[n].id order by 1);
  delete from work.jobs j using unnest(items) i
   where j.bucket = any(array[i.bucket]) and j.id = i.job and j.attempt = i.attempt;
  if cardinality(charges) > 0 then
    perform ledger.uncharge(charges);
  end if;

  told := sms.tell(array(
    select row(items[n].bucket, items[n].account, items[n].environment, items[n].event_id, items[n].event_type,
               items[n].event_resource, items[n].event_body, items[n].event_request, items[n].event_within,
               items[n].event_callback, items[n].event_at, items[n].event_owner, items[n].narrow_type,
               items[n].narrow_head)::sms.change
      from unnest(fresh) n order by n));
  return query
    select n = any(fresh), told.wide[array_position(fresh, n)], told.narrow[array_position(fresh, n)]
      from generate_subscripts(items, 1) n order by n;
end $$;

-- Takes the job of a message away so that it is not submitted, and gives the message with how long the job had still to wait;
-- none when a node has the job, had it before, or is about to take it (within a second): then the message may be out
-- already. The job is locked before the message, as above.
drop function sms.take_back(smallint, uuid, text, uuid);
create function sms.take_back(p_bucket smallint, p_account uuid, p_environment text, p_id uuid)
  returns table (message sms.messages, waits_ms bigint) language plpgsql as $$
declare
  found_job uuid;
begin
  select m.job into found_job from sms.messages m
   where m.bucket = p_bucket and m.account_id = p_account and m.environment = p_environment and m.id = p_id
     and m.status = 'queued';
  select ceil(extract(epoch from j.run_at - now()) * 1000) into waits_ms from work.jobs j
   where j.bucket = p_bucket and j.id = found_job and j.owner is null and j.attempt = 0
     and j.run_at > now() + interval '1 second' for update;
  if not found then return; end if;
  select m.* into message from sms.messages m
   where m.bucket = p_bucket and m.account_id = p_account and m.environment = p_environment and m.id = p_id
     and m.status = 'queued' and m.job = found_job for update;
  if not found then return; end if;
  delete from work.jobs j where j.bucket = p_bucket and j.id = found_job;
  return next;
end $$;
