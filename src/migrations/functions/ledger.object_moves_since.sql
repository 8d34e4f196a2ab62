-- What moved contra accounts of any tenant since a transfer id, and for what: of payouts that share the hold of a batch, the
-- one that the step names. Increases are debits, as in ledger.moves_since.
create or replace function ledger.object_moves_since(p_environment text, p_names text[], p_currency text, p_since uuid)
  returns table (bucket smallint, account_id uuid, object_id uuid, amount bigint) language sql stable as $$
  select t.bucket, t.account_id,
         case when t.step like 'payout:%' then coalesce(substring(t.step from '[0-9a-f-]{36}')::uuid, t.source_id)
              else t.source_id end,
         case when t.debit = any(p_names) then t.amount else -t.amount end
    from ledger.transfers t
   where t.environment = p_environment and t.currency = p_currency and (t.debit = any(p_names) or t.credit = any(p_names))
     and t.id >= p_since
$$;
