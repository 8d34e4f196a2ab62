-- Charges wallets, each item decided as if they came one after the other: 'charged', 'replayed' (this source and step
-- was charged before, perhaps in the same batch) or 'insufficient'. A free item (amount 0) moves nothing and is charged.
-- The rule is that every posting is new, none is free and every wallet covers its items: then one update and one insert
-- do it all. What stands in the way (a wallet that is short or missing, a posting that is there already) undoes them and
-- has the items looked at one by one. Items of one wallet, as a single one is, need no grouping; several wallets are grouped
-- by a sort and joined by nested loops, so that they are locked in the order of their key. The settings leave one plan, by
-- index for each item, so that it can be kept for the session: the planner, left to choose, now and then reads all transfers
-- to find those of a hundred items.
create or replace function ledger.charge(items ledger.charge_item[]) returns text[] language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_hashagg = off as $$
declare
  first      ledger.charge_item := items[1];
  item       ledger.charge_item;
  one_wallet boolean := true;
  wanted     bigint := 0;
  paid       int;
begin
  if cardinality(items) = 0 then return '{}'; end if;
  foreach item in array items loop
    if item.amount = 0 then return ledger.charge_in_turn(items); end if;
    continue when not one_wallet;
    wanted := wanted + item.amount;
    if item.account_id <> first.account_id or item.currency <> first.currency or item.environment <> first.environment
       or item.bucket <> first.bucket then
      one_wallet := false;
    end if;
  end loop;
  if one_wallet then
    update ledger.wallets w set balance = w.balance - wanted, updated_at = now()
     where w.bucket = first.bucket and w.account_id = first.account_id and w.environment = first.environment
       and w.currency = first.currency and wanted <= w.balance - w.held + w.overdraft;
    paid := case when found then cardinality(items) else 0 end;
  else
    with charged as (
      update ledger.wallets w set balance = w.balance - c.total, updated_at = now()
        from (select i.bucket, i.account_id, i.environment, i.currency, sum(i.amount)::bigint as total, count(*)::int as many
                from unnest(items) i group by 1, 2, 3, 4 order by 1, 2, 3, 4) c
       where w.bucket = c.bucket and w.account_id = c.account_id and w.environment = c.environment and w.currency = c.currency
         and c.total <= w.balance - w.held + w.overdraft
      returning c.many)
    select sum(c.many) into paid from charged c;
  end if;
  if paid is distinct from cardinality(items) then raise exception 'a wallet is short' using errcode = 'LB002'; end if;
  insert into ledger.transfers (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency)
  select i.bucket, i.account_id, i.environment, i.source_id, i.step, 0, i.transfer_id, 'wallet', i.credit, i.amount, i.currency
    from unnest(items) i;
  return array_fill('charged'::text, array[cardinality(items)]);
exception when unique_violation or sqlstate 'LB002' then
  return ledger.charge_in_turn(items);
end $$;
