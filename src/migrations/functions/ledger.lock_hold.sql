-- The hold as it stands once its wallet is locked; a row of nulls when there is none. The currency of a hold never
-- changes, so it can be read before the lock; the rest is read after it.
create or replace function ledger.lock_hold(p_bucket smallint, p_account uuid, p_environment text, p_source uuid, p_step text)
  returns ledger.holds language plpgsql as $$
declare
  held ledger.holds;
begin
  select * into held from ledger.holds h
   where h.bucket = p_bucket and h.account_id = p_account and h.environment = p_environment
     and h.source_id = p_source and h.step = p_step;
  if not found then return null; end if;
  perform from ledger.wallets w
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = held.currency
   for update;
  select * into held from ledger.holds h
   where h.bucket = p_bucket and h.account_id = p_account and h.environment = p_environment
     and h.source_id = p_source and h.step = p_step;
  return held;
end $$;
