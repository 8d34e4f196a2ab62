-- Messages by their ids. A function, so that it never scans: a table that was empty when the statement was first planned
-- may be large by now.
create or replace function sms.messages_at(p_buckets smallint[], p_accounts uuid[], p_environments text[], p_ids uuid[])
  returns setof sms.messages language plpgsql stable
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return query select m.* from unnest(p_buckets, p_accounts, p_environments, p_ids) as w(bucket, account, environment, id)
    join sms.messages m
      on m.bucket = w.bucket and m.account_id = w.account and m.environment = w.environment and m.id = w.id;
end $$;
