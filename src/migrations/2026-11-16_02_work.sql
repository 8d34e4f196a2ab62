-- Work: the jobs of all areas.

create schema if not exists work;

-- One row is a job to be done at or after run_at. A lease is run_at pushed forward: a node that dies lets its jobs fall
-- due again by itself. The attempt grows with every run and fences it; failures counts those since the last run that did
-- not fail. A job that used up its attempts waits at infinity for an operator.
create table work.jobs (
  bucket      smallint not null,
  id          uuid not null,
  lane        text not null,
  run_at      timestamptz not null,
  account_id  uuid,
  environment text,
  key         text,
  attempt     int not null,
  failures    int not null default 0,
  owner       uuid,
  payload     jsonb not null,
  last_error  text,
  created_at  timestamptz not null default now(),
  primary key (bucket, id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index jobs_due on work.jobs (lane, run_at);
-- A lane with an @ is shared out between accounts.
create index jobs_in_turn on work.jobs (lane, account_id, run_at) where lane like '%@%';
create index jobs_of_account on work.jobs (bucket, account_id, environment) where owner is null;

-- owner set: born leased to that node, which starts it as soon as the commit returns. owner null: due after delay_ms.
create type work.job_item as (
  bucket smallint, id uuid, lane text, account_id uuid, environment text, key text, owner uuid, delay_ms bigint,
  payload jsonb
);
