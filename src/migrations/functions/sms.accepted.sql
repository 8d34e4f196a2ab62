-- The carrier took every part of a message; carrier_ids is a JSON array, one id for each part. Whoever says so, it counts:
-- the message is out. One that is no longer queued keeps its state, but receipts for this copy find it. Gives the ids
-- whose receipt came before (a JSON array), for the caller to apply. A change of status is told twice: by event, which goes to
-- the callback too, and under a narrower name that says the same from its time on (events.emit_twins).
create type sms.accepted_item as (
  bucket smallint, account uuid, environment text, id uuid, job uuid, carrier text, carrier_ids jsonb, attempts smallint,
  at timestamptz,
  event events.event_item, narrow_type text, narrow_head text
);

create or replace function sms.accepted(node uuid, items sms.accepted_item[])
  returns table (changed boolean, wide text, narrow text, early text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  sent  uuid[];
  held  jsonb;
  fresh int[];
  news  sms.accepted_item[] := items;
  wides events.event_item[];
  types text[];
  heads text[];
  many  int;
  told  text[];
begin
  with changed as (
    update sms.messages m set status = 'sent', sent_at = i.at, route = i.carrier, under_way = false, attempts = i.attempts
      from unnest(items) i
     where m.bucket = i.bucket and m.account_id = i.account and m.environment = i.environment and m.id = i.id
       and m.status = 'queued'
    returning m.id
  ), over as (
    delete from work.jobs j using unnest(items) i where j.bucket = any(array[i.bucket]) and j.id = i.job
  ), written as (
    insert into sms.carrier_ids as c (carrier, id, bucket, account_id, environment, message_id, part, parts)
    select distinct on (i.carrier, p.id) i.carrier, p.id, i.bucket, i.account, i.environment, i.id, p.part - 1,
           jsonb_array_length(i.carrier_ids)
      from unnest(items) i cross join lateral jsonb_array_elements_text(i.carrier_ids) with ordinality as p(id, part)
     order by i.carrier, p.id
    on conflict (carrier, id) do update
      set bucket = excluded.bucket, account_id = excluded.account_id, environment = excluded.environment,
          message_id = excluded.message_id, part = excluded.part, parts = excluded.parts
    returning c.id, c.message_id, c.early)
  select (select array_agg(c.id) from changed c),
         (select jsonb_object_agg(e.message_id, e.ids)
            from (select w.message_id, jsonb_agg(w.id) as ids from written w where w.early is not null group by 1) e)
    into sent, held;
  if cardinality(sent) = cardinality(items) then
    many := cardinality(items);
  else
    fresh := array(select min(n) from generate_subscripts(items, 1) n where items[n].id = any(sent) group by items[n].id order by 1);
    news := array(select items[n] from unnest(fresh) n order by n);
    many := cardinality(fresh);
    -- One that goes out again, because it could not be delivered, has its new carrier.
    update sms.messages m set route = i.carrier, under_way = false
      from unnest(items) i
     where m.bucket = i.bucket and m.account_id = i.account and m.environment = i.environment and m.id = i.id
       and m.status = 'sent' and m.job = i.job and m.route is null;
  end if;

  if many > 0 then
    select array_agg(i.event), array_agg(i.narrow_type), array_agg(i.narrow_head) into wides, types, heads from unnest(news) i;
    told := events.emit_twins(wides, types, heads);
  end if;
  if fresh is null and held is null then
    return query select true, t.wide, t.narrow, null::text
      from unnest(told[1:many], told[many + 1:many * 2]) as t(wide, narrow);
  elsif fresh is null then
    return query select true, told[n], told[many + n], held ->> items[n].id::text
      from generate_subscripts(items, 1) n order by n;
  else
    return query
      select n = any(fresh), told[array_position(fresh, n)], told[many + array_position(fresh, n)], held ->> items[n].id::text
        from generate_subscripts(items, 1) n order by n;
  end if;
end $$;
