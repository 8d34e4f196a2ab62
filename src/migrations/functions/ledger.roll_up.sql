-- Adds the transfers of a bucket's tenants with ids before p_upto to their daily sums, and gives the number of sums that
-- grew. p_upto lies safely in the past, so that no transaction still open can bring an older id afterwards. Tenants are
-- found by their wallets (every account is opened with one); those with nothing new are left alone.
create or replace function ledger.roll_up(p_bucket smallint, p_upto uuid) returns int language plpgsql as $$
declare
  tenant record;
  since  uuid;
  added  int;
  total  int := 0;
begin
  for tenant in
    select w.account_id, w.environment
      from (select distinct v.account_id, v.environment from ledger.wallets v where v.bucket = p_bucket) w
      left join ledger.rollup_marks m
        on m.bucket = p_bucket and m.account_id = w.account_id and m.environment = w.environment
     cross join lateral (
       select t.id from ledger.transfers t
        where t.bucket = p_bucket and t.account_id = w.account_id and t.environment = w.environment
          and t.id >= coalesce(m.upto, '00000000-0000-0000-0000-000000000000') and t.id < p_upto
        order by t.id limit 1) newer
     order by w.account_id, w.environment
  loop
    insert into ledger.rollup_marks (bucket, account_id, environment, upto)
    values (p_bucket, tenant.account_id, tenant.environment, '00000000-0000-0000-0000-000000000000')
    on conflict do nothing;
    select m.upto into since from ledger.rollup_marks m
     where m.bucket = p_bucket and m.account_id = tenant.account_id and m.environment = tenant.environment for update;
    continue when since >= p_upto;
    insert into ledger.rollups as r (bucket, account_id, environment, day, debit, credit, currency, amount, entries)
    select p_bucket, tenant.account_id, tenant.environment, ledger.day_of(t.id), t.debit, t.credit, t.currency,
           sum(t.amount), count(*)
      from ledger.transfers t
     where t.bucket = p_bucket and t.account_id = tenant.account_id and t.environment = tenant.environment
       and t.id >= since and t.id < p_upto
     group by ledger.day_of(t.id), t.debit, t.credit, t.currency
    on conflict (bucket, account_id, environment, day, debit, credit, currency) do update
      set amount = r.amount + excluded.amount, entries = r.entries + excluded.entries;
    get diagnostics added = row_count;
    total := total + added;
    update ledger.rollup_marks m set upto = p_upto
     where m.bucket = p_bucket and m.account_id = tenant.account_id and m.environment = tenant.environment;
  end loop;
  return total;
end $$;
