-- A note that was published, the run of the job that did it, and what is told of it.
create type notes.finish_item as (
  bucket smallint, account uuid, environment text, id uuid, job uuid, attempt int, event events.event_item
);

-- Publishes many notes, tells of it and removes their jobs, in one commit. A note that was published already is not
-- told of again.
create or replace function notes.finish(node uuid, items notes.finish_item[]) returns table (deliveries text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  changed uuid[];
  fresh   int[];
  told    text[];
begin
  with published as (
    update notes.notes t set status = 'published' from unnest(items) i
     where t.bucket = i.bucket and t.account_id = i.account and t.environment = i.environment and t.id = i.id and t.status = 'queued'
    returning t.id)
  select coalesce(array_agg(p.id), '{}') into changed from published p;
  delete from work.jobs j using unnest(items) i where j.bucket = any(array[i.bucket]) and j.id = i.job and j.attempt = i.attempt;
  fresh := array(select n from generate_subscripts(items, 1) n where items[n].id = any(changed) order by n);
  told := events.emit(array(select items[n].event from unnest(fresh) n order by n));
  return query select told[array_position(fresh, n)] from generate_subscripts(items, 1) n order by n;
end $$;
