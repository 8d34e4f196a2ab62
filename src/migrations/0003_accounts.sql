-- Who may ask for what: plans, accounts and their keys. Small tables that every node reads; a cluster replicates them.

create schema accounts;

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

-- One row is an API key. The key itself is not here: 190 random bits need no slow hash, so SHA-256 finds it.
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
  exposed_at            timestamptz
);
create index api_keys_of_account on accounts.api_keys (account_id, id desc);

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

-- What others may ask about an account without a request of its own: its plan and what it has beside it, its currency, a
-- setting that it has, and how far its clock was moved.
create function accounts.plan_of(account uuid) returns text language sql stable as $$
  select plan from accounts.accounts where id = account
$$;

create function accounts.is_suspended(account uuid) returns boolean language sql stable as $$
  select status = 'suspended' from accounts.accounts where id = account
$$;

create function accounts.name_of(account uuid) returns text language sql stable as $$
  select name from accounts.accounts where id = account
$$;

create function accounts.allowances_of(account uuid) returns jsonb language sql stable as $$
  select allowances from accounts.accounts where id = account
$$;

create function accounts.currency_of(account uuid) returns text language sql stable as $$
  select currency from accounts.accounts where id = account
$$;

create function accounts.timezone_of(account uuid) returns text language sql stable as $$
  select timezone from accounts.accounts where id = account
$$;

create function accounts.with_setting(setting text) returns table (account_id uuid, value jsonb) language sql stable as $$
  select id, settings -> setting from accounts.accounts where settings ? setting
$$;

create function accounts.clock_offset_ms(account uuid, environment text) returns bigint language sql stable as $$
  select coalesce((select offset_ms from accounts.sandbox_clocks where account_id = account and environment = 'test'), 0)
$$;

-- The same for whoever is about to make something wait: nobody moves the clock before the transaction ends, so that what it
-- makes wait is found by whoever moves it next.
create function accounts.hold_clock(account uuid, environment text) returns bigint language plpgsql as $$
declare
  found bigint;
begin
  if environment <> 'test' then return 0; end if;
  insert into accounts.sandbox_clocks (account_id) values (account) on conflict do nothing;
  select c.offset_ms into found from accounts.sandbox_clocks c where c.account_id = account for share;
  return found;
end $$;
