-- How long a job is leased to a node: so long, and until the next poll, it waits if that node dies. Nodes extend what they
-- have in hand, so that it is no bound on how long a job may run. src/platform/work.ts knows the same number.
create or replace function work.lease() returns interval language sql immutable parallel safe as $$
  select interval '10 seconds'
$$;
