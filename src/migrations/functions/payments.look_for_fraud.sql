-- Counts subjects and reads all that the decisions need, one row for each. The rows that they count themselves in are locked
-- in one order, and what is read afterwards has them as they are then, so that those who ask at the same moment see each
-- other. No two of one call count themselves in the same row: one of them would see the other, who is decided about first.
-- totals has [count, total, items, whether the own item is among them] for each tally, in their order.
create or replace function payments.look_for_fraud(items payments.look_item[], tallies payments.look_tally[],
                                                   places payments.look_place[])
  returns table (version int, first_at timestamptz, totals jsonb, hits jsonb) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  insert into payments.velocity as v (bucket, account_id, environment, tally, step, start, item, count, total, expires_at)
  select items[t.n].bucket, items[t.n].account, items[t.n].environment, t.tally, t.step, t.start, t.item, 1, t.amount,
         items[t.n].real_at + t.keep * interval '1 second'
    from unnest(tallies) t where t.counts
   order by 1, 2, 3, 4, 5, 6, 7
  on conflict on constraint velocity_pkey do update set count = v.count + 1, total = v.total + excluded.total;
  -- A statement of its own, so that it sees what others committed while this one waited for the rows.
  return query
    select coalesce((select p.version from payments.fraud_policies p
                      where p.bucket = i.bucket and p.account_id = i.account and p.environment = i.environment), 0),
           (select p.first_at from payments.payers p
             where p.bucket = i.bucket and p.account_id = i.account and p.environment = i.environment and p.payer = i.payer),
           (select jsonb_agg(jsonb_build_array(f.count::text, f.total::text, f.items, f.has_item) order by a.place)
              from unnest(tallies) with ordinality as a(n, tally, step, start, since, item, amount, keep, counts, place)
             cross join lateral (
               select coalesce(sum(v.count), 0) as count, coalesce(sum(v.total), 0) as total,
                      count(distinct v.item)::int as items, coalesce(bool_or(v.item = a.item), false) as has_item
                 from payments.velocity v
                where v.bucket = i.bucket and v.account_id = i.account and v.environment = i.environment and v.tally = a.tally
                  and v.step = a.step and v.start >= a.since) f
             where a.n = i.n),
           -- One look into the index for each: as a plain join, all entries of the account may be walked through instead.
           (select jsonb_agg(jsonb_build_object('id', b.id, 'type', b.type, 'value', b.value, 'shown', b.shown,
                                                'applies_to', b.applies_to) order by b.id)
              from unnest(places) c
             cross join lateral (
               select * from payments.blacklist e
                where e.bucket = i.bucket and e.account_id = i.account and e.environment = i.environment and e.type = c.type
                  and e.value = c.value
                limit 1) b
             where c.n = i.n and (b.expires_at is null or b.expires_at > i.at))
      from unnest(items) with ordinality as i(bucket, account, environment, payer, at, real_at, n)
     order by i.n;
end $$;
