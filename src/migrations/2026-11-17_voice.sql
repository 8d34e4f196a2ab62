-- SPDX-License-Identifier: Apache-2.0
-- Calls: what was asked for, what became of it, what happened in which order; numbers that calls come in at.

-- One row is something in the memory of one node, such as a call in progress.
create table platform.sessions (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  kind        text not null,
  node        uuid not null,
  created_at  timestamptz not null default now(),
  primary key (bucket, account_id, environment, id)
);
create index sessions_of_node on platform.sessions (bucket, node);

-- One row is what another node asks of a session, and what came of it.
create table platform.session_commands (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  session_id  uuid not null,
  id          uuid not null,
  node        uuid not null,
  command     jsonb not null,
  outcome     jsonb,
  created_at  timestamptz not null default now(),
  primary key (bucket, account_id, environment, session_id, id)
);
create index session_commands_of_node on platform.session_commands (bucket, node) where outcome is null;

create schema voice;

-- One row is a call: who, whom, what became of it and what it cost.
create table voice.calls (
  bucket        smallint not null,
  account_id    uuid not null,
  environment   text not null,
  id            uuid not null,
  conversation  uuid not null,
  parent        uuid,
  direction     text not null check (direction in ('inbound', 'outbound')),
  from_number   text not null,
  to_number     text not null,
  status        text not null default 'initiated'
                check (status in ('initiated', 'started', 'ringing', 'answered', 'completed', 'failed', 'rejected', 'busy', 'timeout')),
  phase         text,
  plan          jsonb not null,
  custom_data   text not null default '{}',
  event_url     text,
  record        boolean not null default false,
  recordings    uuid[] not null default '{}',
  started_at    timestamptz not null,
  ringing_at    timestamptz,
  answered_at   timestamptz,
  ended_at      timestamptz,
  duration      int not null default 0,
  hangup_cause  text,
  hangup_by     text,
  sip_code      int,
  minute_micros bigint not null,
  cost          bigint not null default 0,
  currency      text not null,
  quality       jsonb,
  node          uuid,
  position      int not null default 0,
  sequence      int not null default 0,
  told          int not null default 0,
  primary key (bucket, account_id, environment, id)
);
create index calls_under_way on voice.calls (bucket, account_id, environment, id)
  where status in ('initiated', 'started', 'ringing', 'answered');

-- One row is something that happened in a call; those with a sequence are told to its event_url.
create table voice.call_events (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  call_id     uuid not null,
  position    int not null,
  sequence    int,
  kind        text not null,
  at          timestamptz not null,
  data        jsonb not null,
  primary key (bucket, account_id, environment, call_id, position)
);

-- One row is a recording of a call; its sound is a stored file.
create table voice.recordings (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  call_id     uuid not null,
  status      text not null check (status in ('recording', 'ready', 'failed', 'deleted')),
  channels    int not null,
  duration_ms int not null default 0,
  file_id     uuid,
  size_bytes  bigint,
  sha256      text,
  reason      text,
  started_at  timestamptz not null,
  ended_at    timestamptz,
  expires_at  timestamptz,
  primary key (bucket, account_id, environment, id)
);

-- One row is a number that calls come in at, and whose it is.
create table voice.numbers (
  environment     text not null,
  number          text not null,
  bucket          smallint not null,
  account_id      uuid not null,
  answer_url      text,
  event_url       text,
  fallback_url    text,
  answer_method   text not null default 'POST',
  assigned_at     timestamptz not null,
  primary key (environment, number)
);
create index numbers_of_account on voice.numbers (account_id, environment, number);
comment on table voice.numbers is 'Reference: one row is a number that calls come in at, and whose it is';
