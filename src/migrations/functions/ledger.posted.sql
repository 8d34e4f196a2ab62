-- Says for each item whether its source and step was posted. Only the primary key gives the order without a sort, so
-- with sorting off nothing else is used: by its estimates alone the planner cannot tell it from transfers_in_order,
-- which finds the same row by reading all of the tenant's.
create or replace function ledger.posted(items ledger.charge_item[]) returns boolean[] language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_sort = off set enable_seqscan = off set enable_bitmapscan = off as $$
begin
  return (
    select array_agg(p.leg is not null order by i.ord)
      from unnest(items) with ordinality
        as i(bucket, account_id, environment, currency, amount, source_id, step, transfer_id, credit, ord)
      left join lateral (select t.leg from ledger.transfers t
                          where t.bucket = i.bucket and t.account_id = i.account_id and t.environment = i.environment
                            and t.source_id = i.source_id and t.step = i.step
                          order by t.leg limit 1) p on true);
end $$;
