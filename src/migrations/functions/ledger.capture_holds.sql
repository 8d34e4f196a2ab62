-- Pays from many holds, one capture each, in the order of their wallets. Of a wallet that has one, what ledger.capture says
-- stands; of one that has several, a hold that is missing, closed or too small raises, so that they are looked at one by one.
-- An item's step names its capture; p_step is that of the holds.
create or replace function ledger.capture_holds(items ledger.charge_item[], p_step text) returns void language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  wallet   record;
  item     ledger.charge_item;
  captured int;
begin
  if cardinality(items) = 1 then
    item := items[1];
    perform ledger.capture(item.bucket, item.account_id, item.environment, item.source_id, p_step, item.step, item.amount,
                           item.credit, item.transfer_id);
    return;
  end if;
  for wallet in
    select i.bucket, i.account_id, i.environment, i.currency, sum(i.amount)::bigint as total, array_agg(i.ord::int order by i.ord) as places
      from unnest(items) with ordinality
        as i(bucket, account_id, environment, currency, amount, source_id, step, transfer_id, credit, ord)
     group by 1, 2, 3, 4 order by 1, 2, 3, 4
  loop
    if cardinality(wallet.places) = 1 then
      item := items[wallet.places[1]];
      perform ledger.capture(item.bucket, item.account_id, item.environment, item.source_id, p_step, item.step, item.amount,
                             item.credit, item.transfer_id);
      continue;
    end if;
    -- The wallet first, as everywhere: that locks it.
    update ledger.wallets w set balance = w.balance - wallet.total, held = w.held - wallet.total, updated_at = now()
     where w.bucket = wallet.bucket and w.account_id = wallet.account_id and w.environment = wallet.environment
       and w.currency = wallet.currency;
    update ledger.holds h
       set captured = h.captured + items[p].amount, open = h.captured + items[p].amount + h.released < h.amount
      from unnest(wallet.places) p
     where h.bucket = wallet.bucket and h.account_id = wallet.account_id and h.environment = wallet.environment
       and h.source_id = items[p].source_id and h.step = p_step and h.currency = wallet.currency
       and h.open and items[p].amount <= h.amount - h.captured - h.released;
    get diagnostics captured = row_count;
    if captured < cardinality(wallet.places) then
      raise exception 'a hold has less than is captured' using errcode = 'LB003';
    end if;
    insert into ledger.transfers
           (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency, hold_step)
    select wallet.bucket, wallet.account_id, wallet.environment, items[p].source_id, items[p].step, 0, items[p].transfer_id,
           'wallet', items[p].credit, items[p].amount, wallet.currency, p_step
      from unnest(wallet.places) p;
  end loop;
end $$;
