-- Takes subjects out of the rows that they counted themselves in, in the same transaction: there will be nothing of them.
create or replace function payments.uncount(items payments.look_item[], tallies payments.look_tally[]) returns void language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  update payments.velocity v set count = v.count - 1, total = v.total - t.amount
    from unnest(tallies) t
   where v.bucket = items[t.n].bucket and v.account_id = items[t.n].account and v.environment = items[t.n].environment
     and v.tally = t.tally and v.step = t.step and v.start = t.start and v.item = t.item and t.counts;
  delete from payments.velocity v using unnest(tallies) t
   where v.bucket = items[t.n].bucket and v.account_id = items[t.n].account and v.environment = items[t.n].environment
     and v.tally = t.tally and v.step = t.step and v.start = t.start and v.item = t.item and t.counts and v.count = 0;
end $$;
