-- Whether a message is not out, by its job that nobody has: no node ever had it, or the last one that had it left word that
-- it did not go out. Of every other run nobody knows. Within a second of when it is to be taken first it is the carrier's.
create or replace function sms.is_unsent(job_attempt int, job_run_at timestamptz, job_payload jsonb) returns boolean language sql stable as $$
  select case when job_attempt = 0 then job_run_at > now() + interval '1 second' or job_run_at < now() - interval '1 second'
              else coalesce((job_payload ->> 'unsent')::int = job_attempt, false) end
$$;
