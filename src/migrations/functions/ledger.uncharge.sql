-- Undoes charges, each once. The items name what was charged: `step` is the charge's own, `credit` the account it went to.
create or replace function ledger.uncharge(items ledger.charge_item[]) returns void language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  perform from ledger.wallets w
   where (w.bucket, w.account_id, w.environment, w.currency) in
         (select i.bucket, i.account_id, i.environment, i.currency from unnest(items) i)
   order by w.bucket, w.account_id, w.environment, w.currency for update;
  with returned as (
    insert into ledger.transfers
           (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency, reverses)
    select i.bucket, i.account_id, i.environment, i.source_id, i.step || ':reversal', 0, i.transfer_id, i.credit, 'wallet',
           i.amount, i.currency, i.step
      from unnest(items) i where i.amount > 0
    on conflict do nothing
    returning bucket, account_id, environment, currency, amount)
  update ledger.wallets w set balance = w.balance + c.total, updated_at = now()
    from (select r.bucket, r.account_id, r.environment, r.currency, sum(r.amount)::bigint as total
            from returned r group by 1, 2, 3, 4) c
   where w.bucket = c.bucket and w.account_id = c.account_id and w.environment = c.environment and w.currency = c.currency;
end $$;
