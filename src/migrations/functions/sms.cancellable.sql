-- The messages of a batch that could be taken back at this moment, their jobs, and the attempts of these: who ends a message
-- names the attempt, and a job that a node has taken meanwhile has another.
create or replace function sms.cancellable(p_bucket smallint, p_account uuid, p_environment text, p_batch uuid)
  returns table (id uuid, job uuid, attempt int) language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return query select m.id, m.job, j.attempt from sms.messages m
   join work.jobs j on j.bucket = any(array[m.bucket]) and j.id = m.job
   where m.bucket = p_bucket and m.account_id = p_account and m.environment = p_environment and m.batch_id = p_batch
     and m.status = 'queued' and j.owner is null and j.run_at < 'infinity'
     and sms.is_unsent(j.attempt, j.run_at, j.payload);
end $$;
