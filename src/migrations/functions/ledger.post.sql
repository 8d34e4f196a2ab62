-- Posts the legs of one step: 'posted', 'replayed' (the same legs stand there already) or 'insufficient'. The same
-- step with other legs is a programming error and raises LB001. A wallet that is named for the first time is made.
create or replace function ledger.post(p_bucket smallint, p_account uuid, p_environment text, p_source uuid, p_step text,
                                       p_legs ledger.leg[], p_reverses text, p_description text)
  returns text language plpgsql as $$
declare
  posted int;
begin
  insert into ledger.wallets (bucket, account_id, environment, currency)
  select distinct p_bucket, p_account, p_environment, l.currency from unnest(p_legs) l
   where 'wallet' in (l.debit, l.credit)
   order by l.currency
  on conflict do nothing;
  perform from ledger.wallets w
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment
     and w.currency in (select l.currency from unnest(p_legs) l)
   order by w.currency for update;

  if ledger.has_legs(p_bucket, p_account, p_environment, p_source, p_step, p_legs) then return 'replayed'; end if;

  if exists (
    select from (select l.currency, sum(case when l.credit = 'wallet' then l.amount when l.debit = 'wallet' then -l.amount else 0 end) as net
                   from unnest(p_legs) l group by l.currency) n
      join ledger.wallets w on w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = n.currency
     where n.net < 0 and w.balance + n.net - w.held < -w.overdraft) then
    return 'insufficient';
  end if;

  -- A tenant without a wallet in the currency has no lock: of two transactions with the same step, the second waits here.
  insert into ledger.transfers
         (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency, reverses, description)
  select p_bucket, p_account, p_environment, p_source, p_step, l.ord - 1, l.transfer_id, l.debit, l.credit, l.amount,
         l.currency, p_reverses, p_description
    from unnest(p_legs) with ordinality as l(transfer_id, debit, credit, amount, currency, ord)
  on conflict do nothing;
  get diagnostics posted = row_count;
  if posted < cardinality(p_legs) then
    if posted = 0 and ledger.has_legs(p_bucket, p_account, p_environment, p_source, p_step, p_legs) then return 'replayed'; end if;
    raise exception 'step % of % is being posted with other legs', p_step, p_source using errcode = 'LB001';
  end if;
  update ledger.wallets w set balance = w.balance + n.net, updated_at = now()
    from (select l.currency, sum(case when l.credit = 'wallet' then l.amount when l.debit = 'wallet' then -l.amount else 0 end)::bigint as net
            from unnest(p_legs) l group by l.currency) n
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = n.currency
     and n.net <> 0;
  return 'posted';
end $$;
