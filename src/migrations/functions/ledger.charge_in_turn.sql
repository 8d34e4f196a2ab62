-- ledger.charge for a batch in which not every item can simply be charged.
create or replace function ledger.charge_in_turn(items ledger.charge_item[]) returns text[] language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  before   boolean[];
  verdicts text[];
begin
  perform from ledger.wallets w
   where (w.bucket, w.account_id, w.environment, w.currency) in
         (select i.bucket, i.account_id, i.environment, i.currency from unnest(items) i)
   order by w.bucket, w.account_id, w.environment, w.currency for update;
  -- A statement of its own, so that it sees what others committed while this one waited for the locks.
  before := ledger.posted(items);

  if not exists (select from unnest(items) i group by i.account_id, i.environment, i.source_id, i.step having count(*) > 1) then
    select array_agg(case when i.before then 'replayed' when i.amount = 0 then 'charged'
                          when i.total <= w.balance - w.held + w.overdraft then 'charged'
                          when w.balance is null then 'insufficient' end order by i.ord)
      into verdicts
      from (select g.*, sum(case when g.before then 0 else g.amount end)
                          over (partition by g.bucket, g.account_id, g.environment, g.currency) as total
              from rows from (unnest(items), unnest(before)) with ordinality
                as g(bucket, account_id, environment, currency, amount, source_id, step, transfer_id, credit, before, ord)) i
      left join ledger.wallets w
        on w.bucket = i.bucket and w.account_id = i.account_id and w.environment = i.environment and w.currency = i.currency;
  end if;
  if verdicts is null or array_position(verdicts, null) is not null then
    verdicts := ledger.decide_in_turn(items, before);
  end if;

  update ledger.wallets w set balance = w.balance - c.total, updated_at = now()
    from (select i.bucket, i.account_id, i.environment, i.currency, sum(i.amount)::bigint as total
            from rows from (unnest(items), unnest(verdicts))
              as i(bucket, account_id, environment, currency, amount, source_id, step, transfer_id, credit, verdict)
           where i.verdict = 'charged' and i.amount is distinct from 0 group by 1, 2, 3, 4) c
   where w.bucket = c.bucket and w.account_id = c.account_id and w.environment = c.environment and w.currency = c.currency;
  insert into ledger.transfers (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency)
  select i.bucket, i.account_id, i.environment, i.source_id, i.step, 0, i.transfer_id, 'wallet', i.credit, i.amount, i.currency
    from rows from (unnest(items), unnest(verdicts))
      as i(bucket, account_id, environment, currency, amount, source_id, step, transfer_id, credit, verdict)
   where i.verdict = 'charged' and i.amount is distinct from 0;
  return verdicts;
end $$;
