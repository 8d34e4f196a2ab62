-- One row is the MTA-STS policy that a domain published (RFC 8461). It outlives a restart: whoever can hide the policy from us
-- afterwards must not be able to have mail without it.
create table email.sts_policies (
  environment     text not null check (environment in ('test', 'live')),
  domain          text not null,
  policy_id       text not null,
  mode            text not null check (mode in ('enforce', 'testing', 'none')),
  mx              text[] not null,
  max_age_seconds int not null,
  fetched_at      timestamptz not null,
  expires_at      timestamptz not null,
  primary key (environment, domain)
);
create index sts_policies_by_expiry on email.sts_policies (expires_at);
comment on table email.sts_policies is 'Reference: one row is the MTA-STS policy of a domain that mail went to';

-- How the server that took a message, or refused it, was known: plain, encrypted, mta_sts or dane.
alter table email.recipients add column tls_level text;
