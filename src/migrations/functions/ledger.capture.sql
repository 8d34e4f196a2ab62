-- Pays part of a hold (or all of it) to p_credit: 'captured', 'replayed', 'closed' (nothing is left to capture),
-- 'exceeds' (more than is left) or 'missing'. p_capture names this capture among those of the hold.
create or replace function ledger.capture(p_bucket smallint, p_account uuid, p_environment text, p_source uuid, p_step text,
                                          p_capture text, p_amount bigint, p_credit text, p_transfer uuid)
  returns text language plpgsql as $$
declare
  held     ledger.holds;
  replayed boolean[];
begin
  held := ledger.lock_hold(p_bucket, p_account, p_environment, p_source, p_step);
  if held.amount is null then return 'missing'; end if;
  replayed := ledger.posted(array[row(p_bucket, p_account, p_environment, held.currency, p_amount, p_source, p_capture,
                                      p_transfer, p_credit)::ledger.charge_item]);
  if replayed[1] then return 'replayed'; end if;
  if not held.open then return 'closed'; end if;
  if p_amount > held.amount - held.captured - held.released then return 'exceeds'; end if;
  update ledger.holds h set captured = h.captured + p_amount, open = h.captured + p_amount + h.released < h.amount
   where h.bucket = p_bucket and h.account_id = p_account and h.environment = p_environment
     and h.source_id = p_source and h.step = p_step;
  update ledger.wallets w set balance = w.balance - p_amount, held = w.held - p_amount, updated_at = now()
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = held.currency;
  insert into ledger.transfers
         (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency, hold_step)
  values (p_bucket, p_account, p_environment, p_source, p_capture, 0, p_transfer, 'wallet', p_credit, p_amount,
          held.currency, p_step);
  return 'captured';
end $$;
