-- Gives the messages of a bulk from one index up to another a job each, with these ids; those that have one, or are over, are passed over.
create or replace function email.dispatch_batch(p_bucket smallint, p_account uuid, p_environment text, p_bulk uuid, p_from int, p_to int,
    p_jobs uuid[], p_lane text) returns int language plpgsql as $$
declare
  many int;
begin
  with chosen as (
    select m.id, row_number() over (order by m.bulk_index) as n from email.messages m
      join email.recipients r on r.bucket = m.bucket and r.account_id = m.account_id and r.environment = m.environment and r.message_id = m.id
     where m.bucket = p_bucket and m.account_id = p_account and m.environment = p_environment and m.bulk_id = p_bulk
       and m.bulk_index >= p_from and m.bulk_index < p_to and r.job is null and r.status in ('scheduled', 'queued')
  ), given as (
    update email.recipients r set job = p_jobs[c.n], status = 'queued' from chosen c
     where r.bucket = p_bucket and r.account_id = p_account and r.environment = p_environment and r.message_id = c.id and r.number = 0
    returning r.message_id, r.job
  ), shown as (
    update email.messages m set status = 'queued' from chosen c
     where m.bucket = p_bucket and m.account_id = p_account and m.environment = p_environment and m.id = c.id and m.status = 'scheduled'
  ), added as (
    select work.add(array_agg(row(p_bucket, g.job, p_lane, p_account, p_environment, null, null, 0,
                                  jsonb_build_object('message', g.message_id, 'number', 0))::work.job_item)) from given g having count(*) > 0
  )
  select (select count(*) from given) into many from (select count(*) from added) a;
  return many;
end $$;
