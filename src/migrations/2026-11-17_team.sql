-- SPDX-License-Identifier: Apache-2.0
-- Teams: invitations, every role, a second factor, and who of the operator's account runs the installation.

alter table accounts.members drop constraint members_role_check;
alter table accounts.members add constraint members_role_check
  check (role in ('owner', 'admin', 'developer', 'finance', 'supervisor', 'agent', 'reviewer', 'viewer'));
-- `status`: invited until the invitation is taken up. `operator` counts only in an account that is an operator's. totp_secret
-- is sealed; totp_pending is one whose first code was not typed yet; totp_step is the last step that was used, so that no
-- code works twice; recovery_hashes are SHA-256 of codes that each work once. invite_hash is SHA-256 of the link's secret.
alter table accounts.members
  add column name            text not null default '',
  add column status          text not null default 'active' check (status in ('invited', 'active', 'disabled')),
  add column operator        boolean not null default false,
  add column totp_secret     bytea,
  add column totp_pending    bytea,
  add column totp_step       bigint not null default 0,
  add column recovery_hashes text[] not null default '{}',
  add column last_login_at   timestamptz,
  add column invite_hash     bytea unique,
  add column invite_until    timestamptz;
update accounts.members m set operator = true from accounts.accounts a where a.id = m.account_id and a.operator and m.role = 'owner';
