-- SPDX-License-Identifier: Apache-2.0
-- The call centre: agents, queues and who waits in them, menus, routing, transfers, conferences, monitoring.
create schema if not exists callcenter;

-- One row is the switchboard of an account: whoever gives calls to agents holds it, so that two nodes never give the same.
create table callcenter.switchboards (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null check (environment in ('test', 'live')),
  next_look   timestamptz,
  primary key (bucket, account_id, environment)
);

-- One row is an agent, with what the agent does just now.
create table callcenter.agents (
  bucket       smallint not null,
  account_id   uuid not null,
  environment  text not null check (environment in ('test', 'live')),
  agent_id     text not null,
  name         text,
  email        text,
  skills       jsonb not null default '[]',
  queues       uuid[] not null default '{}',
  endpoint     jsonb not null,
  languages    text[] not null default '{}',
  max_calls    int not null default 1,
  external_ref text,
  status       text not null check (status in ('offline', 'available', 'ringing', 'on_call', 'wrap_up', 'break', 'away',
                                               'training', 'meeting')),
  reason       text,
  since        timestamptz not null,
  until        timestamptz,
  next_status  text,
  next_reason  text,
  session_id   uuid,
  logged_in_at timestamptz,
  call_id      uuid,
  leg_id       uuid,
  contact_id   uuid,
  idle_since   timestamptz not null,
  calls_taken  int not null default 0,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  primary key (bucket, account_id, environment, agent_id)
);
create index agents_on_call on callcenter.agents (bucket, account_id, environment, call_id) where call_id is not null;

-- One row is a stretch of time that an agent spent in one status.
create table callcenter.agent_states (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null check (environment in ('test', 'live')),
  agent_id    text not null,
  id          uuid not null,
  status      text not null,
  call_id     uuid,
  began_at    timestamptz not null,
  ended_at    timestamptz,
  primary key (bucket, account_id, environment, agent_id, id)
);
create index agent_states_by_time on callcenter.agent_states (bucket, account_id, environment, began_at);

-- One row is a queue; its document is what the API shows of it.
create table callcenter.queues (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null check (environment in ('test', 'live')),
  id          uuid not null,
  name        text not null,
  status      text not null check (status in ('open', 'closed', 'paused')),
  document    jsonb not null,
  last_agent  text,
  breached_at timestamptz,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);
create unique index queues_by_name on callcenter.queues (bucket, account_id, environment, name);

-- One row is a call as the call centre handled it: its wait, its agent, what became of it. A call that is transferred has several.
create table callcenter.contacts (
  bucket        smallint not null,
  account_id    uuid not null,
  environment   text not null check (environment in ('test', 'live')),
  id            uuid not null,
  call_id       uuid not null,
  room_id       uuid not null,
  queue_id      uuid,
  agent_id      text,
  wanted_agent  text,
  direction     text not null check (direction in ('inbound', 'outbound')),
  from_number   text not null,
  to_number     text not null,
  state         text not null check (state in ('waiting', 'offered', 'connected', 'wrap_up', 'ended')),
  outcome       text check (outcome in ('answered', 'abandoned', 'overflowed', 'callback', 'failed')),
  priority      int not null,
  skills        jsonb not null default '[]',
  data          jsonb not null default '{}',
  ivr_path      jsonb not null default '[]',
  entered_at    timestamptz not null,
  answered_at   timestamptz,
  ended_at      timestamptz,
  wrapped_at    timestamptz,
  held_since    timestamptz,
  hold_ms       bigint not null default 0,
  is_short      boolean not null default false,
  in_threshold  boolean not null default false,
  is_transferred boolean not null default false,
  refused_by    text[] not null default '{}',
  leg_id        uuid,
  callback_for  uuid,
  attempts      int not null default 0,
  is_handed     boolean not null default false,
  announced_at  timestamptz,
  disposition   text,
  notes         text,
  tags          text[] not null default '{}',
  cost          bigint not null default 0,
  primary key (bucket, account_id, environment, id)
);
create index contacts_under_way on callcenter.contacts (bucket, account_id, environment, call_id) where state <> 'ended';
create index contacts_of_call on callcenter.contacts (bucket, account_id, environment, call_id);
create index contacts_by_time on callcenter.contacts (bucket, account_id, environment, entered_at);
create index contacts_of_caller on callcenter.contacts (bucket, account_id, environment, from_number, entered_at);

-- One row is an IVR, with the number of its newest version.
create table callcenter.ivrs (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null check (environment in ('test', 'live')),
  id          uuid not null,
  version     int not null,
  document    jsonb not null,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);

-- One row is a call in an IVR: where it is, what was typed. It keeps the version that it began with.
create table callcenter.ivr_runs (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null check (environment in ('test', 'live')),
  call_id     uuid not null,
  ivr_id      uuid not null,
  document    jsonb not null,
  state       jsonb not null,
  updated_at  timestamptz not null,
  primary key (bucket, account_id, environment, call_id)
);

-- One row is a rule that says where calls go.
create table callcenter.rules (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null check (environment in ('test', 'live')),
  id          uuid not null,
  priority    int not null,
  document    jsonb not null,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);

-- One row is a calendar of opening hours.
create table callcenter.business_hours (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null check (environment in ('test', 'live')),
  id          uuid not null,
  name        text not null,
  document    jsonb not null,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);
create unique index business_hours_by_name on callcenter.business_hours (bucket, account_id, environment, name);

-- One row is a call that is handed, or was, from one agent to somebody else.
create table callcenter.transfers (
  bucket        smallint not null,
  account_id    uuid not null,
  environment   text not null check (environment in ('test', 'live')),
  id            uuid not null,
  call_id       uuid not null,
  kind          text not null check (kind in ('warm', 'cold')),
  destination   text not null,
  status        text not null check (status in ('ringing', 'consulting', 'completed', 'failed', 'cancelled')),
  from_agent    text,
  to_agent      text,
  leg_id        uuid,
  message       text,
  started_at    timestamptz not null,
  ended_at      timestamptz,
  primary key (bucket, account_id, environment, id)
);
create index transfers_under_way on callcenter.transfers (bucket, account_id, environment, call_id)
  where status in ('ringing', 'consulting');

-- One row is a conference.
create table callcenter.conferences (
  bucket           smallint not null,
  account_id       uuid not null,
  environment      text not null check (environment in ('test', 'live')),
  id               uuid not null,
  name             text not null,
  status           text not null check (status in ('initiated', 'active', 'ended')),
  record           boolean not null,
  recording_id     uuid,
  options          jsonb not null,
  created_at       timestamptz not null,
  ended_at         timestamptz,
  primary key (bucket, account_id, environment, id)
);

-- One row is somebody in a conference, or who was, or was called for it.
create table callcenter.participants (
  bucket        smallint not null,
  account_id    uuid not null,
  environment   text not null check (environment in ('test', 'live')),
  conference_id uuid not null,
  id            uuid not null,
  endpoint      text not null,
  agent_id      text,
  call_id       uuid,
  role          text not null check (role in ('participant', 'moderator')),
  status        text not null check (status in ('dialing', 'joined', 'held', 'left', 'failed')),
  muted         boolean not null,
  joined_at     timestamptz,
  left_at       timestamptz,
  primary key (bucket, account_id, environment, conference_id, id)
);
create index participants_of_call on callcenter.participants (bucket, account_id, environment, call_id);

-- One row is a supervisor who listens to a call, or did.
create table callcenter.monitors (
  bucket        smallint not null,
  account_id    uuid not null,
  environment   text not null check (environment in ('test', 'live')),
  id            uuid not null,
  call_id       uuid not null,
  supervisor_id text,
  endpoint      jsonb,
  mode          text not null check (mode in ('listen', 'whisper', 'barge')),
  status        text not null check (status in ('connecting', 'active', 'ended')),
  leg_id        uuid,
  started_at    timestamptz not null,
  ended_at      timestamptz,
  primary key (bucket, account_id, environment, id)
);
create index monitors_under_way on callcenter.monitors (bucket, account_id, environment, call_id) where status <> 'ended';
