-- What a batch of payouts needs to be paid quickly, and what statements need to know of money that goes out.

create type ledger.capture_item as (capture text, amount bigint, credit text, transfer_id uuid);

-- Pays many parts of one hold at once, all of them or none: 'captured', 'closed' (nothing is left to capture), 'exceeds'
-- (more than is left) or 'missing'. A part that was captured before is somebody's mistake and raises: whoever calls this has
-- won each of them in the same transaction.
create function ledger.capture_many(p_bucket smallint, p_account uuid, p_environment text, p_source uuid, p_step text,
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

-- `covers` says which of the account's money a statement is about: providers may keep what is paid out on an account of its
-- own. Those from before were held against collections alone.
alter table payments.statements
  add column covers text not null default 'collections' check (covers in ('everything', 'collections', 'payouts'));
alter table payments.statements alter column covers set default 'everything';

-- `object` says what `payment_id` and its neighbours name, once a line has found it.
alter table payments.statement_lines
  add column object text not null default 'payment' check (object in ('payment', 'payout', 'refund'));
alter table payments.statement_gaps
  add column object text not null default 'payment' check (object in ('payment', 'payout', 'refund'));

create index payouts_provider_reference on payments.payouts (environment, provider, provider_reference)
  where provider_reference is not null;
create index refunds_provider_reference on payments.refunds (environment, provider, provider_reference)
  where provider_reference is not null;
-- Payouts that a line without a known receipt may belong to.
create index payouts_without_receipt on payments.payouts (environment, provider, currency, amount)
  where provider_reference is null and status in ('processing', 'completed');

-- What moved contra accounts of any tenant since a transfer id, and for what: of payouts that share the hold of a batch, the
-- one that the step names. Increases are debits, as in ledger.moves_since.
create function ledger.object_moves_since(p_environment text, p_names text[], p_currency text, p_since uuid)
  returns table (bucket smallint, account_id uuid, object_id uuid, amount bigint) language sql stable as $$
  select t.bucket, t.account_id,
         case when t.step like 'payout:%' then coalesce(substring(t.step from '[0-9a-f-]{36}')::uuid, t.source_id)
              else t.source_id end,
         case when t.debit = any(p_names) then t.amount else -t.amount end
    from ledger.transfers t
   where t.environment = p_environment and t.currency = p_currency and (t.debit = any(p_names) or t.credit = any(p_names))
     and t.id >= p_since
$$;
