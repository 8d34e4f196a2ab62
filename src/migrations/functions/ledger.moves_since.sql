-- What moved a contra account of any tenant since a transfer id: increases are debits, since what a provider holds for the
-- operator is the operator's.
create or replace function ledger.moves_since(p_environment text, p_name text, p_currency text, p_since uuid)
  returns table (bucket smallint, account_id uuid, source_id uuid, amount bigint) language sql stable as $$
  select t.bucket, t.account_id, t.source_id, case when t.debit = p_name then t.amount else -t.amount end
    from ledger.transfers t
   where t.environment = p_environment and t.currency = p_currency and p_name in (t.debit, t.credit) and t.id >= p_since
$$;
