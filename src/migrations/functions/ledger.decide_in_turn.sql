-- The verdicts of a batch, item by item. Moves nothing; the wallets are locked by the caller.
create or replace function ledger.decide_in_turn(items ledger.charge_item[], before boolean[]) returns text[] language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  item      record;
  verdicts  text[];
  remaining bigint[];
  posted    boolean[];
begin
  for item in
    select i.amount, i.before, w.balance - w.held + w.overdraft as available,
           (dense_rank() over (order by i.bucket, i.account_id, i.environment, i.currency))::int as wallet,
           (dense_rank() over (order by i.account_id, i.environment, i.source_id, i.step))::int as posting
      from rows from (unnest(items), unnest(before)) with ordinality
        as i(bucket, account_id, environment, currency, amount, source_id, step, transfer_id, credit, before, ord)
      left join ledger.wallets w
        on w.bucket = i.bucket and w.account_id = i.account_id and w.environment = i.environment and w.currency = i.currency
     order by i.ord
  loop
    if item.before or posted[item.posting] then
      verdicts := verdicts || 'replayed'::text;
    elsif item.amount = 0 then
      verdicts := verdicts || 'charged'::text;
    elsif item.amount <= coalesce(remaining[item.wallet], item.available) then
      verdicts := verdicts || 'charged'::text;
      remaining[item.wallet] := coalesce(remaining[item.wallet], item.available) - item.amount;
      posted[item.posting] := true;
    else
      verdicts := verdicts || 'insufficient'::text;
    end if;
  end loop;
  return verdicts;
end $$;
