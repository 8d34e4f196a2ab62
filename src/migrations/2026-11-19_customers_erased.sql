-- SPDX-License-Identifier: Apache-2.0
-- Persons who were erased do not come back by a file.

-- One row is a number, an address or an external id of a person who was erased, as a keyed hash, which tells nobody who it was.
create table customers.erased (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  hash        bytea not null,
  erased_at   timestamptz not null,
  primary key (bucket, account_id, environment, hash)
);
