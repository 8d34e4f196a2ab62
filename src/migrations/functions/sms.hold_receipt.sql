-- A receipt that nobody knows yet waits for the answer it belongs to. Gives `known` when that was stored meanwhile. Of
-- several for one id the first stands.
create type sms.hold_receipt_item as (carrier text, id text, receipt jsonb);

create or replace function sms.hold_receipt(node uuid, items sms.hold_receipt_item[]) returns table (known boolean) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  taken text[];
begin
  with written as (
    insert into sms.carrier_ids as c (carrier, id, early)
    select distinct on (items[n].carrier, items[n].id) items[n].carrier, items[n].id, items[n].receipt
      from generate_subscripts(items, 1) n order by items[n].carrier, items[n].id, n
    on conflict (carrier, id) do update
      set early = case when c.message_id is null then coalesce(c.early, excluded.early) else c.early end
    returning c.carrier, c.id, c.message_id)
  select coalesce(array_agg(w.carrier || ' ' || w.id) filter (where w.message_id is not null), '{}') into taken
    from written w;
  return query select items[n].carrier || ' ' || items[n].id = any(taken) from generate_subscripts(items, 1) n order by n;
end $$;
