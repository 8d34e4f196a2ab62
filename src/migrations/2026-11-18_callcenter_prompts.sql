-- SPDX-License-Identifier: Apache-2.0
-- Sounds that accounts upload as prompts of their IVRs.

-- One row is a prompt; its id is that of its file.
create table callcenter.prompts (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null check (environment in ('test', 'live')),
  id          uuid not null,
  name        text not null,
  duration_ms int not null,
  bytes       bigint not null,
  created_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);
