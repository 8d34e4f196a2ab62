-- A message that was not sent will not be: refused, expired or without a route. What it cost is given back. attempt
-- fences the job: a node that lost it decides nothing.
create type sms.failed_item as (
  bucket smallint, account uuid, environment text, id uuid, job uuid, attempt int, error_code text, carrier_code text,
  carrier text, attempts smallint, at timestamptz, transfer uuid,
  event events.event_item, narrow_type text, narrow_head text
);

-- The jobs are locked, and not only looked at, in the order in which others lock them: otherwise a node that is just taking
-- a job would send its message while whoever cancels the batch gives the money back.
create or replace function sms.failed(node uuid, items sms.failed_item[])
  returns table (changed boolean, wide text, narrow text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  running uuid[];
  charges ledger.charge_item[];
  fresh   int[];
  news    sms.failed_item[];
  many    int;
  told    text[];
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

  many := cardinality(fresh);
  if many > 0 then
    news := array(select items[n] from unnest(fresh) n order by n);
    told := events.emit_twins(
      array(select i.event from unnest(news) i), array(select i.narrow_type from unnest(news) i),
      array(select i.narrow_head from unnest(news) i));
  end if;
  return query
    select n = any(fresh), told[array_position(fresh, n)], told[many + array_position(fresh, n)]
      from generate_subscripts(items, 1) n order by n;
end $$;
