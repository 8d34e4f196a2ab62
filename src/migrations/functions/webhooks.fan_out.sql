-- Writes one delivery and its job for each address that an event goes to; what goes to a callback has a job only. Gives
-- for each event null when nobody wants it, else `delivery/endpoint/version` for each delivery that its owner is to begin at
-- once, separated by commas. An ordered delivery behind another one waits for it; webhooks.finish lets it go on, and if the
-- two passed each other unseen it looks for itself after a second. Without p_heard no endpoint can want any of it, and only
-- callbacks are told.
create or replace function webhooks.fan_out(items events.event_item[], p_heard boolean) returns text[] language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  item         events.event_item;
  matches      webhooks.match[] := '{}';
  match        webhooks.match;
  delivery     uuid;
  some_ordered boolean := false;
  behind       uuid[];
  waits        boolean := false;
  jobs         work.job_item[];
  begun        text[] := array_fill(null::text, array[cardinality(items)]);
begin
  if p_heard then
    matches := array(
      select row(i.n, webhooks.delivery_id(i.id, e.id), e.id, e.version, e.ordered, i.bucket, i.account_id, i.environment,
                 i.id, i.type, i.resource_id, null, i.created_at, i.owner)::webhooks.match
        from unnest(items) with ordinality as i(bucket, account_id, environment, id, type, resource_id, body, request_id,
                                                within, callback_url, created_at, owner, n)
        join webhooks.endpoints e
          on e.bucket = i.bucket and e.account_id = i.account_id and e.environment = i.environment
       where e.enabled and e.events && array[i.type, split_part(i.type, '.', 1) || '.*', '*']
         and (i.within is null or not e.events && array[i.within, split_part(i.within, '.', 1) || '.*', '*'])
         and (e.filters = '{}' or webhooks.passes(e.filters, i.body)));
  end if;
  if cardinality(matches) > 0 then
    insert into webhooks.deliveries (bucket, account_id, environment, id, endpoint_id, event_id, event, resource_id,
                                     status, ordered, created_at, next_attempt_at)
    select m.bucket, m.account_id, m.environment, m.id, m.endpoint_id, m.event_id, m.event, m.resource_id, 'pending',
           m.ordered, m.created_at, m.created_at
      from unnest(matches) m;
  end if;
  foreach match in array matches loop
    if match.ordered then some_ordered := true; end if;
  end loop;
  if some_ordered then
    behind := array(
      select m.id from unnest(matches) m
       where m.ordered and exists (
         select from webhooks.deliveries d
          where d.bucket = m.bucket and d.account_id = m.account_id and d.environment = m.environment
            and d.endpoint_id = m.endpoint_id and d.ordered and d.resource_id = m.resource_id and d.id < m.id
            and d.status in ('pending', 'delivering')));
  end if;

  foreach match in array matches loop
    if some_ordered then waits := match.id = any(behind); end if;
    if waits then
      jobs := jobs || row(match.bucket, match.id, 'webhooks.deliver', match.account_id, match.environment,
                          match.endpoint_id, null, 1000, '{}')::work.job_item;
    else
      jobs := jobs || row(match.bucket, match.id, 'webhooks.deliver', match.account_id, match.environment,
                          match.endpoint_id, match.owner, 0, '{}')::work.job_item;
      begun[match.n] := concat_ws(',', begun[match.n], match.id || '/' || match.endpoint_id || '/' || match.version);
    end if;
  end loop;
  for n in 1 .. cardinality(items) loop
    item := items[n];
    if item.callback_url is not null then
      delivery := webhooks.delivery_id(item.id, webhooks.no_endpoint());
      jobs := jobs || row(item.bucket, delivery, 'webhooks.deliver', item.account_id, item.environment, 'callback', item.owner, 0,
                          jsonb_build_object('callback', jsonb_build_object('event', item.id, 'url', item.callback_url))
                         )::work.job_item;
      begun[n] := concat_ws(',', begun[n], delivery || '/callback/0');
    end if;
  end loop;
  if jobs is not null then perform work.add(jobs); end if;
  return begun;
end $$;
