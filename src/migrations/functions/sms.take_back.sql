-- Takes the job of a message away so that it is not submitted, and gives the message with how long the job had still to
-- wait and the encoding that was asked for, null if none was; nothing when a node has the job, or the message may be out.
-- The lock decides: a node that takes the job before it is the owner then, and one that comes later finds no job.
create or replace function sms.take_back(p_bucket smallint, p_account uuid, p_environment text, p_id uuid)
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
