-- SPDX-License-Identifier: Apache-2.0
-- Numbers that accounts own: one table for texts, calls, USSD and chat messengers, which takes over the rows of each.
create schema if not exists numbers;

-- One row is a number that an account owns, and one thing that it is capable of. `settings` are what the area of that
-- capability does with it; they are null where that area has a table of its own (USSD, messenger). `shared` says that other
-- accounts may have it too, each with keywords of its own.
create table numbers.owned (
  environment text not null check (environment in ('test', 'live')),
  number      text not null,
  capability  text not null check (capability in ('sms', 'ussd', 'voice', 'messenger')),
  account_id  uuid not null,
  bucket      smallint not null,
  id          uuid not null,
  shared      boolean not null,
  settings    jsonb,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (environment, number, capability, account_id)
);
comment on table numbers.owned is 'Reference: read for calls and messages that arrive without an owner';
-- In test every account receives texts on numbers of its own, whoever else has them.
create unique index owned_alone on numbers.owned (environment, number, capability)
  where not shared and not (environment = 'test' and capability = 'sms');
create index owned_by_account on numbers.owned (account_id, environment, capability, id);

insert into numbers.owned (environment, number, capability, account_id, bucket, id, shared, settings, created_at, updated_at)
select environment, number, 'sms', account_id, bucket, id, shared,
       jsonb_build_object('keywords', keywords, 'default_webhook_url', default_webhook_url), created_at, updated_at
  from sms.numbers;
drop table sms.numbers;

insert into numbers.owned (environment, number, capability, account_id, bucket, id, shared, settings, created_at, updated_at)
select environment, number, 'voice', account_id, bucket, gen_random_uuid(), false,
       jsonb_build_object('answer_url', answer_url, 'event_url', event_url, 'fallback_url', fallback_url,
                          'answer_method', answer_method, 'target', target), assigned_at, assigned_at
  from voice.numbers;
drop table voice.numbers;

insert into numbers.owned (environment, number, capability, account_id, bucket, id, shared, created_at, updated_at)
select environment, code, 'ussd', account_id, bucket, gen_random_uuid(), false, created_at, updated_at from ussd.shortcodes;

-- Two accounts may have connected one number under different names of a provider; the first has it.
insert into numbers.owned (environment, number, capability, account_id, bucket, id, shared, created_at, updated_at)
select environment, '+' || display_number, 'messenger', account_id, bucket, id, false, created_at, created_at
  from messenger.channels order by created_at
    on conflict do nothing;
