-- How long a job is leased to a node: so long, and until the next poll, it waits if that node dies. Nodes extend what they
-- have in hand, so that it is no bound on how long a job may run. PAMOJA_JOB_LEASE_SECONDS, which a node sets in its
-- sessions; src/platform/work/lease.ts knows the same default.
create or replace function work.lease() returns interval language sql stable parallel safe as $$
  select coalesce(nullif(current_setting('pamoja.job_lease', true), '')::interval, interval '10 seconds')
$$;
