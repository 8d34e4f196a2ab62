-- Sets money aside for many, in the order of their wallets: 'held', 'replayed' or 'insufficient' each. The rule is that a
-- wallet covers all of its own: then one update and one insert do it; otherwise they are looked at one by one. Of several,
-- one that was held before is somebody's mistake and raises: whoever calls this has made each of them in the same transaction.
-- An item's step is that of the hold.
create or replace function ledger.hold_many(items ledger.charge_item[]) returns text[] language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  verdicts text[] := array_fill('held'::text, array[cardinality(items)]);
  wallet   record;
  item     ledger.charge_item;
  k        int;
begin
  if cardinality(items) = 1 then
    item := items[1];
    return array[ledger.hold(item.bucket, item.account_id, item.environment, item.source_id, item.step, item.currency, item.amount)];
  end if;
  for wallet in
    select i.bucket, i.account_id, i.environment, i.currency, sum(i.amount)::bigint as total, array_agg(i.ord::int order by i.ord) as places
      from unnest(items) with ordinality
        as i(bucket, account_id, environment, currency, amount, source_id, step, transfer_id, credit, ord)
     group by 1, 2, 3, 4 order by 1, 2, 3, 4
  loop
    if cardinality(wallet.places) > 1 then
      update ledger.wallets w set held = w.held + wallet.total, updated_at = now()
       where w.bucket = wallet.bucket and w.account_id = wallet.account_id and w.environment = wallet.environment
         and w.currency = wallet.currency and w.balance - w.held + w.overdraft >= wallet.total;
      if found then
        insert into ledger.holds (bucket, account_id, environment, source_id, step, currency, amount)
        select wallet.bucket, wallet.account_id, wallet.environment, items[p].source_id, items[p].step, wallet.currency, items[p].amount
          from unnest(wallet.places) p;
        continue;
      end if;
    end if;
    foreach k in array wallet.places loop
      item := items[k];
      verdicts[k] := ledger.hold(item.bucket, item.account_id, item.environment, item.source_id, item.step, item.currency, item.amount);
    end loop;
  end loop;
  return verdicts;
end $$;
