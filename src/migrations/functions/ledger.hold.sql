-- Sets money aside: 'held', 'replayed' or 'insufficient'.
create or replace function ledger.hold(p_bucket smallint, p_account uuid, p_environment text, p_source uuid, p_step text,
                                       p_currency text, p_amount bigint)
  returns text language plpgsql as $$
declare
  available bigint;
begin
  select w.balance - w.held + w.overdraft into available from ledger.wallets w
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = p_currency
   for update;
  if exists (select from ledger.holds h
              where h.bucket = p_bucket and h.account_id = p_account and h.environment = p_environment
                and h.source_id = p_source and h.step = p_step) then
    return 'replayed';
  end if;
  if available is null or available < p_amount then return 'insufficient'; end if;
  insert into ledger.holds (bucket, account_id, environment, source_id, step, currency, amount)
  values (p_bucket, p_account, p_environment, p_source, p_step, p_currency, p_amount)
  on conflict do nothing;
  -- Somebody held the same step in another currency, under the lock of another wallet.
  if not found then return 'replayed'; end if;
  update ledger.wallets w set held = w.held + p_amount, updated_at = now()
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = p_currency;
  return 'held';
end $$;
