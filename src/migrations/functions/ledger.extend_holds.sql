-- More money for a hold that grows while something lasts, such as a call.
create type ledger.extension_item as (
  bucket smallint, account_id uuid, environment text, source_id uuid, step text, amount bigint
);

-- Sets more money aside for what is under way: 'extended', 'insufficient', 'closed' or 'missing', one verdict for each item in
-- its place. Wallets are locked in the order of their key, as everywhere.
create or replace function ledger.extend_holds(items ledger.extension_item[]) returns text[] language plpgsql as $$
declare
  verdicts text[] := array_fill(null::text, array[cardinality(items)]);
  item     record;
  held     ledger.holds;
begin
  perform from ledger.wallets w
   where (w.bucket, w.account_id, w.environment, w.currency) in (
           select h.bucket, h.account_id, h.environment, h.currency from unnest(items) i
             join ledger.holds h on h.bucket = i.bucket and h.account_id = i.account_id and h.environment = i.environment
                                and h.source_id = i.source_id and h.step = i.step)
   order by w.bucket, w.account_id, w.environment, w.currency for update;
  for item in select i.*, i.ord from unnest(items) with ordinality
                as i(bucket, account_id, environment, source_id, step, amount, ord) order by i.ord loop
    held := ledger.lock_hold(item.bucket, item.account_id, item.environment, item.source_id, item.step);
    if held.amount is null then verdicts[item.ord] := 'missing'; continue; end if;
    if not held.open then verdicts[item.ord] := 'closed'; continue; end if;
    update ledger.wallets w set held = w.held + item.amount, updated_at = now()
     where w.bucket = item.bucket and w.account_id = item.account_id and w.environment = item.environment
       and w.currency = held.currency and w.balance - w.held + w.overdraft >= item.amount;
    if not found then verdicts[item.ord] := 'insufficient'; continue; end if;
    update ledger.holds h set amount = h.amount + item.amount
     where h.bucket = item.bucket and h.account_id = item.account_id and h.environment = item.environment
       and h.source_id = item.source_id and h.step = item.step;
    verdicts[item.ord] := 'extended';
  end loop;
  return verdicts;
end $$;
