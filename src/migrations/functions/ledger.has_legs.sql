-- Says whether a step stands in the ledger, and raises LB001 when it stands there with other legs. Sorting is off for
-- the same reason as in ledger.posted.
create or replace function ledger.has_legs(p_bucket smallint, p_account uuid, p_environment text, p_source uuid, p_step text,
                                           p_legs ledger.leg[])
  returns boolean language plpgsql
  set enable_sort = off set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  stored  int;
  matched int;
begin
  select count(*), count(*) filter (where (t.debit, t.credit, t.amount, t.currency) = (l.debit, l.credit, l.amount, l.currency))
    into stored, matched
    from (select s.leg, s.debit, s.credit, s.amount, s.currency from ledger.transfers s
           where s.bucket = p_bucket and s.account_id = p_account and s.environment = p_environment
             and s.source_id = p_source and s.step = p_step
           order by s.leg) t
    left join unnest(p_legs) with ordinality as l(transfer_id, debit, credit, amount, currency, ord) on l.ord = t.leg + 1;
  if stored > 0 and (stored <> cardinality(p_legs) or matched <> stored) then
    raise exception 'step % of % was posted before with other legs', p_step, p_source using errcode = 'LB001';
  end if;
  return stored > 0;
end $$;
