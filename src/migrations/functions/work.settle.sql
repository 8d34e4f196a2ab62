-- Settles jobs after a run, fenced by the attempt: a node that lost its lease changes nothing. delay_ms null: done,
-- the row goes; negative: used up, it waits for an operator; else it runs again after that long.
create type work.settle_item as (bucket smallint, id uuid, attempt int, delay_ms bigint, error text);

create or replace function work.settle(node uuid, items work.settle_item[]) returns table (settled boolean) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  item       work.settle_item;
  some_done  boolean := false;
  some_again boolean := false;
begin
  foreach item in array items loop
    if item.delay_ms is null then some_done := true; else some_again := true; end if;
  end loop;
  if some_done then
    delete from work.jobs j using unnest(items) i
     where j.bucket = any(array[i.bucket]) and j.id = i.id and j.attempt = i.attempt and i.delay_ms is null;
  end if;
  if some_again then
    update work.jobs j
       set owner = null, last_error = i.error, failures = case when i.error is null then 0 else j.failures + 1 end,
           run_at = case when i.delay_ms < 0 then 'infinity' else now() + i.delay_ms * interval '1 millisecond' end
      from unnest(items) i
     where j.bucket = any(array[i.bucket]) and j.id = i.id and j.attempt = i.attempt and i.delay_ms is not null;
  end if;
  settled := true;
  for n in 1 .. cardinality(items) loop return next; end loop;
end $$;
