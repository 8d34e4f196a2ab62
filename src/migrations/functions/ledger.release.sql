-- Gives back what is left of a hold and closes it: 'released', 'closed' (it was closed already) or 'missing'.
create or replace function ledger.release(p_bucket smallint, p_account uuid, p_environment text, p_source uuid, p_step text)
  returns text language plpgsql as $$
declare
  held ledger.holds;
begin
  held := ledger.lock_hold(p_bucket, p_account, p_environment, p_source, p_step);
  if held.amount is null then return 'missing'; end if;
  if not held.open then return 'closed'; end if;
  update ledger.holds h set released = h.amount - h.captured, open = false
   where h.bucket = p_bucket and h.account_id = p_account and h.environment = p_environment
     and h.source_id = p_source and h.step = p_step;
  update ledger.wallets w set held = w.held - (held.amount - held.captured - held.released), updated_at = now()
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = held.currency;
  return 'released';
end $$;
