-- Sets money aside: 'held', 'replayed' or 'insufficient'. The rule is that the wallet covers it and the hold is new: then one
-- update, which locks the wallet, and one insert do it; what stands in the way is looked at only then.
create or replace function ledger.hold(p_bucket smallint, p_account uuid, p_environment text, p_source uuid, p_step text,
                                       p_currency text, p_amount bigint)
  returns text language plpgsql as $$
begin
  update ledger.wallets w set held = w.held + p_amount, updated_at = now()
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = p_currency
     and w.balance - w.held + w.overdraft >= p_amount;
  if not found then
    -- Another request may set the same aside at this moment: only under the lock is it seen.
    perform from ledger.wallets w
     where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = p_currency
     for update;
    if exists (select from ledger.holds h
                where h.bucket = p_bucket and h.account_id = p_account and h.environment = p_environment
                  and h.source_id = p_source and h.step = p_step) then
      return 'replayed';
    end if;
    return 'insufficient';
  end if;
  insert into ledger.holds (bucket, account_id, environment, source_id, step, currency, amount)
  values (p_bucket, p_account, p_environment, p_source, p_step, p_currency, p_amount)
  on conflict do nothing;
  if found then return 'held'; end if;
  -- It was held before, perhaps in another currency, under the lock of another wallet.
  update ledger.wallets w set held = w.held - p_amount
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = p_currency;
  return 'replayed';
end $$;
