-- SPDX-License-Identifier: Apache-2.0
-- Reports of the call centre that are mailed every day, week or month.

-- One row is a schedule, with what became of the last report that was due.
create table callcenter.report_schedules (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null check (environment in ('test', 'live')),
  id          uuid not null,
  document    jsonb not null,
  -- When the next one is mailed; null while it is switched off.
  next_at     timestamptz,
  last        jsonb,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);
