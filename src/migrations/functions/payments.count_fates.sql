-- Counts what became of payments or payouts, as their checks say it should be.
create or replace function payments.count_fates(fates payments.fate[]) returns void language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  fate           payments.fate;
  some_completed boolean := false;
  oldest         uuid;
  newest         uuid;
begin
  foreach fate in array fates loop
    if fate.status = 'completed' then some_completed := true; end if;
    oldest := least(oldest, fate.id);
    newest := greatest(newest, fate.id);
  end loop;
  if some_completed then
    insert into payments.payers (bucket, account_id, environment, payer, first_at)
    select c.bucket, c.account_id, c.environment, c.payer, min(f.at)
      from unnest(fates) f
      join payments.risk_checks c
        on c.bucket = f.bucket and c.account_id = f.account_id and c.environment = f.environment and c.id = f.id
       and c.id >= oldest and c.id <= newest
     where f.status = 'completed' and c.payer is not null
     group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict do nothing;
  end if;
  if oldest is not null then
    insert into payments.velocity as v (bucket, account_id, environment, tally, step, start, item, count, total, expires_at)
    select c.bucket, c.account_id, c.environment, w.tally, w.step,
           floor(extract(epoch from f.at) / w.step)::bigint * w.step, w.item, count(*), sum(w.amount),
           max(f.real_at + w.keep * interval '1 second')
      from unnest(fates) f
      join payments.risk_checks c
        on c.bucket = f.bucket and c.account_id = f.account_id and c.environment = f.environment and c.id = f.id
       and c.id >= oldest and c.id <= newest
     cross join lateral jsonb_to_recordset(c.watched)
        as w(tally uuid, step int, item uuid, amount numeric, keep int, statuses text[])
     where f.status = any(w.statuses)
     group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7
    on conflict (bucket, account_id, environment, tally, step, start, item)
      do update set count = v.count + excluded.count, total = v.total + excluded.total;
  end if;
end $$;
