-- A callback that was heard. Its job is all that there is of it, and a success counts whoever reports it.
create type webhooks.told_item as (bucket smallint, id uuid);

-- Removes the jobs of callbacks that were heard, as webhooks.finish would, which asks much more of each.
create or replace function webhooks.told(node uuid, items webhooks.told_item[]) returns table (told boolean) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  delete from work.jobs j using unnest(items) i where j.bucket = any(array[i.bucket]) and j.id = i.id;
  told := true;
  for n in 1 .. cardinality(items) loop return next; end loop;
end $$;
