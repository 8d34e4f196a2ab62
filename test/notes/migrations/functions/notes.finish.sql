create type notes.finish_item as (
  bucket smallint, account uuid, environment text, id uuid, job uuid, attempt int,
  event_id uuid, event_type text, event_resource text, event_body text, event_request text, event_within text,
  event_callback text, event_at timestamptz, event_owner uuid
);

-- Publishes many notes, tells of it and removes their jobs, in one commit. A note that was published already is not
-- told of again.
create or replace function notes.finish(node uuid, items notes.finish_item[]) returns table (deliveries text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  item   notes.finish_item;
  fresh  uuid[];
  some_known boolean;
  chosen boolean[];
  place  int := 0;
  events events.event_item[] := '{}';
  told   text[];
begin
  with published as (
    update notes.notes t set status = 'published' from unnest(items) i
     where t.bucket = i.bucket and t.account_id = i.account and t.environment = i.environment and t.id = i.id and t.status = 'queued'
    returning t.id)
  select coalesce(array_agg(p.id), '{}') into fresh from published p;
  some_known := cardinality(fresh) < cardinality(items);
  delete from work.jobs j using unnest(items) i where j.bucket = any(array[i.bucket]) and j.id = i.job and j.attempt = i.attempt;
  for n in 1 .. cardinality(items) loop
    item := items[n];
    chosen := chosen || (not some_known or item.id = any(fresh));
    continue when not chosen[n];
    events := events || row(item.bucket, item.account, item.environment, item.event_id, item.event_type, item.event_resource,
                            item.event_body, item.event_request, item.event_within, item.event_callback, item.event_at,
                            item.event_owner)::events.event_item;
  end loop;
  told := events.emit(events);
  for n in 1 .. cardinality(items) loop
    deliveries := null;
    if chosen[n] then
      place := place + 1;
      deliveries := told[place];
    end if;
    return next;
  end loop;
end $$;
