-- Lets the oldest deliveries that an endpoint has to hear by now fall due, at most so many; or only the very oldest, due
-- or not, to try with. Gives how many those are.
create or replace function webhooks.wake(of_bucket smallint, of_account uuid, of_environment text, of_endpoint uuid, at timestamptz,
                              since uuid, only_oldest boolean, most int) returns int language sql as $$
  with woken as (
    update work.jobs j set run_at = least(j.run_at, now())
      from (select d.id from webhooks.deliveries d
             where d.bucket = of_bucket and d.account_id = of_account and d.environment = of_environment
               and d.endpoint_id = of_endpoint and d.id >= since and d.status in ('pending', 'delivering')
               and (only_oldest or d.next_attempt_at <= at)
             order by d.id limit case when only_oldest then 1 else most end) due
     where j.bucket = of_bucket and j.id = due.id and j.owner is null
    returning j.id
  )
  select count(*)::int from woken
$$;
