-- What waits for a carrier can be taken back.

-- Whether a message is not out, by its job that nobody has: no node ever had it, or the last one that had it left word that
-- it did not go out. Of every other run nobody knows. Within a second of when it is to be taken first it is the carrier's.
create function sms.is_unsent(job_attempt int, job_run_at timestamptz, job_payload jsonb) returns boolean language sql stable as $$
  select case when job_attempt = 0 then job_run_at > now() + interval '1 second' or job_run_at < now() - interval '1 second'
              else coalesce((job_payload ->> 'unsent')::int = job_attempt, false) end
$$;

-- Takes the job of a message away so that it is not submitted, and gives the message with how long the job had still to
-- wait and the encoding that was asked for, null if none was; nothing when a node has the job, or the message may be out.
-- The lock decides: a node that takes the job before it is the owner then, and one that comes later finds no job.
drop function sms.take_back(smallint, uuid, text, uuid);
create function sms.take_back(p_bucket smallint, p_account uuid, p_environment text, p_id uuid)
  returns table (message sms.messages, waits_ms bigint, wanted_encoding text) language plpgsql as $$
declare
  found_job uuid;
begin
  select m.job into found_job from sms.messages m
   where m.bucket = p_bucket and m.account_id = p_account and m.environment = p_environment and m.id = p_id
     and m.status = 'queued';
  select ceil(extract(epoch from j.run_at - now()) * 1000), j.payload ->> 'wantedEncoding' into waits_ms, wanted_encoding
    from work.jobs j
   where j.bucket = p_bucket and j.id = found_job and j.owner is null and j.run_at < 'infinity'
     and sms.is_unsent(j.attempt, j.run_at, j.payload) for update;
  if not found then return; end if;
  select m.* into message from sms.messages m
   where m.bucket = p_bucket and m.account_id = p_account and m.environment = p_environment and m.id = p_id
     and m.status = 'queued' and m.job = found_job for update;
  if not found then return; end if;
  delete from work.jobs j where j.bucket = p_bucket and j.id = found_job;
  return next;
end $$;

-- The messages of a batch that could be taken back at this moment, their jobs, and the attempts of these: who ends a message
-- names the attempt, and a job that a node has taken meanwhile has another.
drop function sms.cancellable(smallint, uuid, text, uuid);
create function sms.cancellable(p_bucket smallint, p_account uuid, p_environment text, p_batch uuid)
  returns table (id uuid, job uuid, attempt int) language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return query select m.id, m.job, j.attempt from sms.messages m
   join work.jobs j on j.bucket = any(array[m.bucket]) and j.id = m.job
   where m.bucket = p_bucket and m.account_id = p_account and m.environment = p_environment and m.batch_id = p_batch
     and m.status = 'queued' and j.owner is null and j.run_at < 'infinity'
     and sms.is_unsent(j.attempt, j.run_at, j.payload);
end $$;
