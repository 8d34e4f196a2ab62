-- Sets what one node holds of many keys, and says what it got. `wanted` is what it would like to hold in all: more than
-- it has, the same (a renewal) or less (it gives slots back). It gets what the others leave of the limit, and is never
-- recorded with less than it has used within the last window, because those admissions still count.
--
-- A node may admit until its lease ends, and such an admission counts for a window more, so its slots stay taken for
-- both. Only durations come from the node; a thousandth is added because two clocks do not run equally fast.
-- `call_number` rises with each call of a node: a call that was cut off on the way and runs late changes nothing.
create or replace function platform.lease_slots(
  for_node uuid, call_number bigint, lease_ms integer,
  keys text[], limits integer[], windows_ms integer[], wanted integer[], used integer[]
) returns table (slot_key text, granted integer, free integer, others integer)
language plpgsql
set plan_cache_mode = force_custom_plan
as $$
declare
  now_ms numeric;
begin
  -- Makes the missing rows and locks the others, in one order for everybody. A row that fails the condition of
  -- `do update` is locked all the same, and not written.
  insert into platform.rate_slots as held (key, held_until)
  select asked.key, clock_timestamp() from unnest(keys) as asked (key) order by asked.key
  on conflict (key) do update set key = excluded.key where false;

  -- Read after the locks: the time spent waiting for them must not shorten a lease.
  now_ms := extract(epoch from clock_timestamp()) * 1000;

  return query
  update platform.rate_slots as held
     set holders = case when verdict.recorded > 0
                        then verdict.other_holders || jsonb_build_object(for_node::text, jsonb_build_object(
                               'slots', verdict.recorded, 'call', call_number, 'until', verdict.until_ms))
                        else verdict.other_holders end,
         held_until = to_timestamp(greatest(verdict.until_ms, verdict.others_until_ms) / 1000)
    from (
      select asked.key, asked.slot_limit, rest.slots as other_slots, rest.nodes as other_nodes,
             rest.holders as other_holders, rest.until_ms as others_until_ms, grants.slots as granted,
             greatest(grants.slots, asked.used) as recorded,
             round(now_ms + (lease_ms + asked.window_ms) * 1.001, 3) as until_ms
        from unnest(keys, limits, windows_ms, wanted, used) as asked (key, slot_limit, window_ms, wanted, used)
        join platform.rate_slots as stored on stored.key = asked.key
       cross join lateral (
         select coalesce(sum((holder.value ->> 'slots')::integer), 0)::integer as slots, count(*)::integer as nodes,
                coalesce(jsonb_object_agg(holder.key, holder.value), '{}') as holders,
                coalesce(max((holder.value ->> 'until')::numeric), 0) as until_ms
           from jsonb_each(stored.holders) as holder
          where holder.key <> for_node::text and (holder.value ->> 'until')::numeric > now_ms
       ) as rest
       cross join lateral (select greatest(0, least(asked.wanted, asked.slot_limit - rest.slots)) as slots) as grants
       where coalesce((stored.holders -> for_node::text ->> 'call')::bigint, 0) < call_number
    ) as verdict
   where held.key = verdict.key
  returning held.key, verdict.granted, greatest(0, verdict.slot_limit - verdict.other_slots - verdict.recorded),
            verdict.other_nodes;
end
$$;
