-- Gives back a part of a hold: 'released', 'closed', 'exceeds' (more than is left) or 'missing'. It has no key of its own:
-- whoever calls it has won something in the same transaction that can be won once.
create or replace function ledger.release_part(p_bucket smallint, p_account uuid, p_environment text, p_source uuid, p_step text,
                                               p_amount bigint)
  returns text language plpgsql as $$
declare
  held ledger.holds;
begin
  held := ledger.lock_hold(p_bucket, p_account, p_environment, p_source, p_step);
  if held.amount is null then return 'missing'; end if;
  if not held.open then return 'closed'; end if;
  if p_amount > held.amount - held.captured - held.released then return 'exceeds'; end if;
  update ledger.holds h set released = h.released + p_amount, open = h.captured + h.released + p_amount < h.amount
   where h.bucket = p_bucket and h.account_id = p_account and h.environment = p_environment
     and h.source_id = p_source and h.step = p_step;
  update ledger.wallets w set held = w.held - p_amount, updated_at = now()
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = held.currency;
  return 'released';
end $$;
