-- SPDX-License-Identifier: Apache-2.0
-- Ways to sign in beside a password: passkeys, and an identity provider (OpenID Connect).

-- One row is a passkey of a member: what its authenticator signs with it proves who signs in.
create table accounts.passkeys (
  id           uuid primary key,
  credential   bytea not null unique,
  member_id    uuid not null references accounts.members on delete cascade,
  name         text not null,
  -- SubjectPublicKeyInfo, in DER.
  public_key   bytea not null,
  counter      bigint not null,
  created_at   timestamptz not null,
  last_used_at timestamptz
);
comment on table accounts.passkeys is 'Reference: one row is a passkey by which a member signs in';
create index passkeys_of_member on accounts.passkeys (member_id, id);

-- One row is who a member is at an identity provider. A member is one person there, and nobody else is that member.
create table accounts.member_identities (
  issuer    text not null,
  subject   text not null,
  member_id uuid not null references accounts.members on delete cascade,
  linked_at timestamptz not null,
  primary key (issuer, subject)
);
comment on table accounts.member_identities is 'Reference: one row is who a member is at an identity provider';
create unique index member_identities_of_member on accounts.member_identities (member_id, issuer);

-- One row is a step of signing in that somebody has begun: a challenge, or the state of a way through an identity provider.
-- It is taken once; here is only the SHA-256 of its secret.
create table accounts.sign_in_steps (
  hash      bytea primary key,
  kind      text not null check (kind in ('passkey', 'new_passkey', 'oidc', 'code')),
  member_id uuid references accounts.members on delete cascade,
  until     timestamptz not null
);
comment on table accounts.sign_in_steps is 'Reference: one row is a step of signing in that was begun, and can be taken once';
create index sign_in_steps_by_until on accounts.sign_in_steps (until);
create index sign_in_steps_of_member on accounts.sign_in_steps (member_id);
