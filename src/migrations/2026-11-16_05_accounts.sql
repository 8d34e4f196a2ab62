-- Who may ask for what: plans, accounts and their keys. Small tables that every node reads; a cluster replicates them.

create schema if not exists accounts;

-- One row is a plan: how many requests a minute each area takes (null: no limit).
create table accounts.plans (
  name       text primary key,
  limits     jsonb not null,
  updated_at timestamptz not null default now()
);
insert into accounts.plans (name, limits) values
  ('free',       '{"sms": 10, "email": 10, "messenger": 5, "voice": 2, "payments": 5, "identity": 10}'),
  ('starter',    '{"sms": 100, "email": 100, "messenger": 50, "voice": 20, "payments": 50, "identity": 60}'),
  ('growth',     '{"sms": 500, "email": 500, "messenger": 200, "voice": 100, "payments": 200, "identity": 300}'),
  ('enterprise', '{}');

-- One row is a tenant. limits and allowances are what an operator gave it in place of its plan's.
create table accounts.accounts (
  id         uuid primary key,
  bucket     smallint not null,
  name       text not null,
  country    text not null,
  currency   text not null,
  timezone   text not null default 'UTC',
  plan       text not null references accounts.plans,
  limits     jsonb not null default '{}',
  allowances jsonb not null default '{}',
  status     text not null default 'active' check (status in ('active', 'suspended')),
  operator   boolean not null default false,
  settings   jsonb not null default '{}',
  created_at timestamptz not null default now()
);
create index accounts_in_order on accounts.accounts (id desc);

-- One row is an API key. The key itself is not here: 190 random bits need no slow hash, so SHA-256 finds it. `strict` says
-- whether fields that nobody knows are refused, `envelope` which of the two shapes a reply has, unless a request says
-- otherwise; rotation_told_at is when it was told that the key is old enough to be replaced.
create table accounts.api_keys (
  hash                  bytea primary key,
  id                    uuid not null unique,
  account_id            uuid not null references accounts.accounts,
  environment           text not null check (environment in ('test', 'live')),
  name                  text not null,
  prefix                text not null,
  last4                 text not null,
  scopes                text[] not null,
  created_at            timestamptz not null default now(),
  created_by            text not null,
  last_used_at          timestamptz,
  last_used_ip          text,
  expires_at            timestamptz,
  revoked_at            timestamptz,
  rotated_from          uuid,
  allowed_ips           text[] not null default '{}',
  rate_limit_per_second int,
  exposed_at            timestamptz,
  strict                boolean not null default false,
  envelope              text not null default 'both' check (envelope in ('both', 'flat', 'data')),
  rotation_told_at      timestamptz
);
create index api_keys_of_account on accounts.api_keys (account_id, id desc);
create index api_keys_untold on accounts.api_keys (created_at) where rotation_told_at is null and revoked_at is null;

-- One row says how far a test account has moved its own clock.
create table accounts.sandbox_clocks (
  account_id uuid primary key references accounts.accounts,
  offset_ms  bigint not null default 0
);

-- One row is a reference under which an operator put money into an account's wallet; each is used once.
create table accounts.credits (
  account_id  uuid not null references accounts.accounts,
  environment text not null,
  reference   text not null,
  source_id   uuid not null,
  primary key (account_id, environment, reference)
);
