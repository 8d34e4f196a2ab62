create type messenger.change_item as (
  bucket smallint, account uuid, environment text, id uuid, status text, at timestamptz, provider_id text, errors jsonb,
  transfer uuid, job uuid, attempt int, fallback_job uuid,
  event events.event_item
);

-- Takes what became of messages: a status that leads further is stored and told of, one that comes late only fills in its
-- time, one that came before changes nothing. A message that fails is paid back.
create or replace function messenger.change(node uuid, items messenger.change_item[]) returns table (changed boolean, deliveries text)
  language plpgsql set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  item    messenger.change_item;
  before  messenger.messages;
  fresh   boolean[] := '{}';
  tell    events.event_item[] := '{}';
  back    ledger.charge_item[] := '{}';
  told    text[];
  place   int := 0;
  further boolean;
  jobs    work.job_item[] := '{}';
begin
  -- In one order, so that two commits that speak of the same messages do not wait for each other.
  perform from messenger.messages m join unnest(items) i
       on m.bucket = i.bucket and m.account_id = i.account and m.environment = i.environment and m.id = i.id
    order by m.bucket, m.id for update of m;
  foreach item in array items loop
    select m.* into before from messenger.messages m
     where m.bucket = item.bucket and m.account_id = item.account and m.environment = item.environment and m.id = item.id
       and m.direction = 'outbound';
    further := before.id is not null and case item.status
      when 'failed' then before.status in ('accepted', 'sent')
      else messenger.rank(before.status) < messenger.rank(item.status) end;
    fresh := fresh || further;
    if before.id is not null and before.status <> 'failed' then
      update messenger.messages m
         set status = case when further then item.status else m.status end,
             provider_id = coalesce(m.provider_id, item.provider_id),
             errors = case when further then item.errors else m.errors end,
             sent_at = case when item.status in ('sent', 'delivered', 'read') then least(m.sent_at, item.at) else m.sent_at end,
             delivered_at = case when item.status in ('delivered', 'read') then least(m.delivered_at, item.at) else m.delivered_at end,
             read_at = case when item.status = 'read' then least(m.read_at, item.at) else m.read_at end,
             failed_at = case when further and item.status = 'failed' then item.at else m.failed_at end,
             cost = case when further and item.status = 'failed' then 0 else m.cost end
       where m.bucket = item.bucket and m.account_id = item.account and m.environment = item.environment and m.id = item.id;
      if item.provider_id is not null then
        insert into messenger.provider_ids (provider_id, bucket, account_id, environment, id)
        values (item.provider_id, item.bucket, item.account, item.environment, item.id) on conflict do nothing;
      end if;
    end if;
    if further then
      tell := tell || item.event;
      if item.status = 'failed' and before.fallback is not null then
        jobs := jobs || row(item.bucket, item.fallback_job, 'messenger.fallback', item.account, item.environment, null, null, 0,
                            jsonb_build_object('message', item.id))::work.job_item;
      end if;
      if item.status = 'failed' and before.cost > 0 then
        back := back || row(item.bucket, item.account, item.environment, before.currency, before.cost, before.id, 'charge',
                            item.transfer, 'revenue:messenger')::ledger.charge_item;
      end if;
    end if;
  end loop;
  perform ledger.uncharge(back);
  perform work.add(jobs);
  delete from work.jobs j using unnest(items) i
   where j.bucket = any(array[i.bucket]) and j.id = i.job and j.attempt = i.attempt;
  told := events.emit(tell);
  for n in 1 .. cardinality(items) loop
    changed := fresh[n];
    deliveries := null;
    if changed then
      place := place + 1;
      deliveries := told[place];
    end if;
    return next;
  end loop;
end $$;
