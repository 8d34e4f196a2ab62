-- Charging reads its items once less: the update that takes the money says itself how many of them it covers, where a
-- statement before it had counted the wallets and looked for free items.
create or replace function ledger.charge(items ledger.charge_item[]) returns text[] language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_hashagg = off as $$
declare
  covered bigint;
begin
  with paid as (
    update ledger.wallets w set balance = w.balance - c.total, updated_at = now()
      from (select i.bucket, i.account_id, i.environment, i.currency, sum(i.amount)::bigint as total,
                   min(i.amount) as least, count(*) as entries
              from unnest(items) i group by 1, 2, 3, 4 order by 1, 2, 3, 4) c
     where w.bucket = c.bucket and w.account_id = c.account_id and w.environment = c.environment and w.currency = c.currency
       and c.least > 0 and c.total <= w.balance - w.held + w.overdraft
    returning c.entries)
  select coalesce(sum(p.entries), 0) into covered from paid p;
  if covered < cardinality(items) then
    raise exception 'a wallet is short, or an item is free' using errcode = 'LB002';
  end if;
  insert into ledger.transfers (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency)
  select i.bucket, i.account_id, i.environment, i.source_id, i.step, 0, i.transfer_id, 'wallet', i.credit, i.amount, i.currency
    from unnest(items) i;
  return array_fill('charged'::text, array[cardinality(items)]);
exception when unique_violation or sqlstate 'LB002' then
  return ledger.charge_in_turn(items);
end $$;
