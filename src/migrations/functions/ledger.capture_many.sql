-- Pays many parts of one hold at once, all of them or none: 'captured', 'closed' (nothing is left to capture), 'exceeds'
-- (more than is left) or 'missing'. A part that was captured before is somebody's mistake and raises: whoever calls this has
-- won each of them in the same transaction.
create or replace function ledger.capture_many(p_bucket smallint, p_account uuid, p_environment text, p_source uuid, p_step text,
                                               items ledger.capture_item[])
  returns text language plpgsql as $$
declare
  held   ledger.holds;
  wanted bigint;
begin
  held := ledger.lock_hold(p_bucket, p_account, p_environment, p_source, p_step);
  if held.amount is null then return 'missing'; end if;
  if not held.open then return 'closed'; end if;
  select sum(i.amount)::bigint into wanted from unnest(items) i;
  if wanted > held.amount - held.captured - held.released then return 'exceeds'; end if;
  update ledger.holds h set captured = h.captured + wanted, open = h.captured + wanted + h.released < h.amount
   where h.bucket = p_bucket and h.account_id = p_account and h.environment = p_environment
     and h.source_id = p_source and h.step = p_step;
  update ledger.wallets w set balance = w.balance - wanted, held = w.held - wanted, updated_at = now()
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = held.currency;
  insert into ledger.transfers
         (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency, hold_step)
  select p_bucket, p_account, p_environment, p_source, i.capture, 0, i.transfer_id, 'wallet', i.credit, i.amount,
         held.currency, p_step
    from unnest(items) i;
  return 'captured';
end $$;
