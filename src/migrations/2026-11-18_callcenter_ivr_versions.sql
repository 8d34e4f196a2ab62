-- SPDX-License-Identifier: Apache-2.0
-- Saved versions of IVRs, the newest of each included.

-- One row is one version: who saved it, and as a copy of which earlier one.
create table callcenter.ivr_versions (
  bucket        smallint not null,
  account_id    uuid not null,
  environment   text not null check (environment in ('test', 'live')),
  ivr_id        uuid not null,
  version       int not null,
  document      jsonb not null,
  restored_from int,
  saved_by      text,
  saved_at      timestamptz not null,
  primary key (bucket, account_id, environment, ivr_id, version)
);

insert into callcenter.ivr_versions (bucket, account_id, environment, ivr_id, version, document, saved_at)
select bucket, account_id, environment, id, version, document, updated_at from callcenter.ivrs;
