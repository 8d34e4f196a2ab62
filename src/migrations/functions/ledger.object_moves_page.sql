-- A page of ledger.object_moves_since in the order of the index on accounts and ids, after those of a transfer: however many
-- there are, all pages together read them once. The buckets of others are among them.
create or replace function ledger.object_moves_page(p_environment text, p_names text[], p_currency text, p_since uuid,
                                                    p_account uuid, p_after uuid, p_most int)
  returns table (bucket smallint, account_id uuid, id uuid, object_id uuid, amount bigint) language sql stable
  set enable_seqscan = off set enable_bitmapscan = off as $$
  select t.bucket, t.account_id, t.id,
         case when t.step like 'payout:%' then coalesce(substring(t.step from '[0-9a-f-]{36}')::uuid, t.source_id)
              else t.source_id end,
         case when t.debit = any(p_names) then t.amount else -t.amount end
    from ((select * from ledger.transfers s
            where s.account_id = p_account and s.environment = p_environment and s.id >= p_since and s.id > p_after
              and s.currency = p_currency and (s.debit = any(p_names) or s.credit = any(p_names))
            order by s.id limit p_most)
          union all
          (select * from ledger.transfers s
            where s.account_id > p_account and s.environment = p_environment and s.id >= p_since
              and s.currency = p_currency and (s.debit = any(p_names) or s.credit = any(p_names))
            order by s.account_id, s.id limit p_most)) t
   order by t.account_id, t.id limit p_most
$$;
