-- Posts such legs, each once: those that stand there already move nothing. A wallet that is named for the first time is
-- made. Wallets are taken in the order of their key, as everywhere.
create or replace function ledger.receive(items ledger.income_item[]) returns void language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_hashagg = off as $$
begin
  with posted as (
    insert into ledger.transfers (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency)
    select i.bucket, i.account_id, i.environment, i.source_id, i.step, i.leg, i.transfer_id, i.debit, i.credit, i.amount,
           i.currency
      from unnest(items) i
    on conflict do nothing
    returning bucket, account_id, environment, credit, amount, currency)
  insert into ledger.wallets as w (bucket, account_id, environment, currency, balance)
  select p.bucket, p.account_id, p.environment, p.currency, sum(p.amount)::bigint
    from posted p where p.credit = 'wallet' group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (bucket, account_id, environment, currency)
    do update set balance = w.balance + excluded.balance, updated_at = now();
end $$;
