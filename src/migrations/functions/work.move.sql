-- Puts jobs into another lane, with another payload, fenced by the attempt. keep: they stay with this node, which goes on
-- with them at once. Gives whether a job was still this node's.
create type work.move_item as (
  bucket smallint, id uuid, attempt int, lane text, payload jsonb, delay_ms bigint, keep boolean
);

-- A job which stays with its node is in its next run, and has the attempt of that: a payload that names an attempt speaks of
-- one run only.
create or replace function work.move(node uuid, items work.move_item[]) returns table (moved boolean) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  changed uuid[];
begin
  with moves as (
    update work.jobs j
       set lane = i.lane, payload = i.payload, failures = 0, last_error = null,
           owner = case when i.keep then node end, attempt = j.attempt + case when i.keep then 1 else 0 end,
           run_at = now() + case when i.keep then work.lease() else i.delay_ms * interval '1 millisecond' end
      from unnest(items) i where j.bucket = any(array[i.bucket]) and j.id = i.id and j.attempt = i.attempt
    returning j.id)
  select coalesce(array_agg(m.id), '{}') into changed from moves m;
  return query select items[n].id = any(changed) from generate_subscripts(items, 1) n order by n;
end $$;
