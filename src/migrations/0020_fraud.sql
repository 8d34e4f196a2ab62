-- What an account lets pass: its rules and blacklists, what was decided and on what grounds, and how often it saw whom.

-- One row is where the rules and lists of an account stand. `version` grows with every change of them; whoever decides reads
-- it, so that no node ever decides by old rules. The counts are what the limits are held against.
create table payments.fraud_policies (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  version     int not null,
  rules       int not null check (rules >= 0),
  entries     int not null check (entries >= 0),
  primary key (bucket, account_id, environment)
);

-- One row is a rule. Its conditions were understood when it was stored.
create table payments.fraud_rules (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  name        text not null,
  description text,
  action      text not null check (action in ('allow', 'require_3ds', 'review', 'block')),
  match       text not null check (match in ('all', 'any')),
  conditions  jsonb not null,
  applies_to  text[] not null,
  score       smallint not null,
  priority    smallint not null,
  enabled     boolean not null,
  dry_run     boolean not null,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);

-- One row is somebody or something that is not served. Of a card only its fingerprint is here, and how it is shown.
create table payments.blacklist (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  type        text not null,
  value       text not null,
  shown       text not null,
  reason      text,
  applies_to  text[] not null,
  expires_at  timestamptz,
  created_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
);
create unique index blacklist_value on payments.blacklist (bucket, account_id, environment, type, value);

-- One row is a decision and what it rests on. Its id is that of the payment or payout, if it is about one. `payer` is a hash
-- of who it is about; `watched` what is to be counted when it is known what became of it; `matched` the rules that matched.
create table payments.risk_checks (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  direction   text not null check (direction in ('payment', 'payout')),
  enforced    boolean not null,
  currency    text not null,
  amount      bigint not null,
  score       smallint not null,
  decision    text not null check (decision in ('allow', 'require_3ds', 'review', 'block')),
  inputs      jsonb not null,
  matched     uuid[] not null,
  payer       uuid,
  watched     jsonb not null,
  created_at  timestamptz not null,
  primary key (bucket, account_id, environment, id)
) partition by range (id);
select platform.ensure_partitions('payments.risk_checks', 'month', 2);

-- One row is what happened within one step of time, counted from `start` in seconds of the account's clock. `tally` is a hash
-- of what is counted and of whom, `item` of what is told apart.
create table payments.velocity (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  tally       uuid not null,
  step        int not null,
  start       bigint not null,
  item        uuid not null,
  count       int not null,
  total       numeric not null,
  expires_at  timestamptz not null,
  primary key (bucket, account_id, environment, tally, step, start, item)
) with (fillfactor = 70);
create index velocity_expiry on payments.velocity (expires_at);

-- One row is somebody who has paid, or was paid, before: a hash of who, and when it was the first time.
create table payments.payers (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  payer       uuid not null,
  first_at    timestamptz not null,
  primary key (bucket, account_id, environment, payer)
);

-- What was found when the payment was accepted, as customers read it.
alter table payments.payments add column risk jsonb;
