-- SPDX-License-Identifier: Apache-2.0
-- Payers of the sandbox who do nothing until somebody types a PIN for them.

-- One row is an account whose tests answer for payers; by_hand lists their numbers, `*` is everybody.
create table payments.sandbox_payers (
  bucket     smallint not null,
  account_id uuid not null,
  by_hand    text[] not null,
  primary key (bucket, account_id)
);
comment on table payments.sandbox_payers is 'One row is an account whose tests answer prompts for payers of the sandbox';
