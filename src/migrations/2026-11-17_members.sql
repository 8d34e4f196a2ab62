-- SPDX-License-Identifier: Apache-2.0
-- Members: people who sign in to the console, their sessions, and how often somebody tried in vain.

-- One row is a person of an account. An address is one person's, in one account.
create table accounts.members (
  id            uuid primary key,
  account_id    uuid not null references accounts.accounts,
  email         text not null,
  role          text not null check (role in ('owner', 'admin', 'developer', 'finance')),
  password_hash text not null,
  created_at    timestamptz not null default now()
);
comment on table accounts.members is 'Reference: one row is a person who may sign in to the console';
create unique index members_email on accounts.members (email);
create index members_of_account on accounts.members (account_id, id);

-- One row is a sign-in. Its secret is in the browser's cookie; here is only the SHA-256 of it.
create table accounts.sessions (
  hash         bytea primary key,
  id           uuid not null unique,
  member_id    uuid not null references accounts.members on delete cascade,
  signed_in_at timestamptz not null,
  seen_at      timestamptz not null,
  ip           text not null,
  user_agent   text not null
);
comment on table accounts.sessions is 'Reference: one row is a session of the console';
create index sessions_of_member on accounts.sessions (member_id, id);
create index sessions_by_seen on accounts.sessions (seen_at);

-- One row is an address of a person and one of a network, from which signing in failed.
create table accounts.failed_sign_ins (
  hash         bytea primary key,
  failures     int not null,
  last_at      timestamptz not null,
  locked_until timestamptz not null
);
comment on table accounts.failed_sign_ins is 'Reference: one row is how often signing in failed from one address of the network';
create index failed_sign_ins_by_last on accounts.failed_sign_ins (last_at);
