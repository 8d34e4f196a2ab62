// SPDX-License-Identifier: Apache-2.0
// SQL of teams: members as their account lists them, invitations, and second factors.
import { statement } from '../../../platform/db.ts'
import type { Role } from '../roles.ts'

export interface TeamRow {
  id: string
  email: string
  name: string
  role: Role
  status: 'invited' | 'active' | 'disabled'
  operator: boolean
  email_verified: boolean
  totp_enabled: boolean
  last_login_at: Date | null
  created_at: Date
}

const columns = `id, email, name, role, status, operator, email_proven_at is not null as email_verified,
  totp_secret is not null as totp_enabled, last_login_at, created_at`

export const listTeam = statement.home<
  { account: string; after: string | null; descending: boolean; limit: number },
  TeamRow
>(
  'accounts.list_team',
  `select ${columns} from accounts.members
    where account_id = $account
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

export const findOfTeam = statement.home<{ account: string; id: string }, TeamRow>(
  'accounts.find_of_team',
  `select ${columns} from accounts.members where account_id = $account and id = $id`,
)

export const countTeam = statement.home<{ account: string }, { members: number; owners: number }>(
  'accounts.count_team',
  `select count(*)::int as members, (count(*) filter (where role = 'owner' and status = 'active'))::int as owners
     from accounts.members where account_id = $account`,
)

/** Serialises changes of one team, so that the last owner cannot be lost by two at once. */
export const lockTeam = statement.home<{ account: string }, object>(
  'accounts.lock_team',
  'select id from accounts.accounts where id = $account for update',
)

/** Inserts an invited member; no row when the address belongs to a member of any account. */
export const invite = statement.home<
  { id: string; account: string; email: string; name: string; role: Role; hash: Buffer; until: Date },
  TeamRow
>(
  'accounts.invite_member',
  `insert into accounts.members (id, account_id, email, name, role, password_hash, status, invite_hash, invite_until)
   values ($id, $account, $email, $name, $role, '', 'invited', $hash, $until)
   on conflict (email) do nothing
   returning ${columns}`,
)

export const changeMember = statement.home<
  { account: string; id: string; role: Role; name: string; status: string },
  TeamRow
>(
  'accounts.change_member',
  `update accounts.members set role = $role, name = $name, status = $status
    where account_id = $account and id = $id returning ${columns}`,
)

export const removeMember = statement.home<{ account: string; id: string }, { id: string }>(
  'accounts.remove_member',
  'delete from accounts.members where account_id = $account and id = $id returning id',
)

/** Gives an invited member the secret of the link that is mailed; no row when there is nothing left to accept. */
export const mailInvitation = statement.home<
  { id: string; hash: Buffer; now: Date },
  { email: string; role: Role; account_name: string; until: Date }
>(
  'accounts.mail_invitation',
  `update accounts.members m set mailed_hash = $hash
     from accounts.accounts a
    where m.id = $id and m.status = 'invited' and m.invite_until > $now and a.id = m.account_id
   returning m.email, m.role, a.name as account_name, m.invite_until as until`,
)

/** Invited member whose invitation this is the secret of, of the shown link or of the mailed one, and who invites. */
export const findInvited = statement.home<
  { hash: Buffer; now: Date },
  { id: string; email: string; role: Role; account_name: string }
>(
  'accounts.find_invited',
  `select m.id, m.email, m.role, a.name as account_name from accounts.members m join accounts.accounts a on a.id = m.account_id
    where (m.invite_hash = $hash or m.mailed_hash = $hash) and m.invite_until > $now and m.status = 'invited'`,
)

const accepted = "status = 'active', invite_hash = null, mailed_hash = null, invite_until = null"

/** Accepts an invitation with a password. Only the mailed link proves the address: the inviter has seen the other one. */
export const takeInvitation = statement.home<
  { hash: Buffer; now: Date; passwordHash: string },
  { id: string; account_id: string; email: string }
>(
  'accounts.take_invitation',
  `update accounts.members
      set ${accepted}, password_hash = $passwordHash,
          email_proven_at = case when mailed_hash = $hash then $now::timestamptz end
    where (invite_hash = $hash or mailed_hash = $hash) and invite_until > $now and status = 'invited'
   returning id, account_id, email`,
)

/** Accepts an invitation of a person whose address the identity provider has verified; they have no password. */
export const acceptAs = statement.home<{ id: string; email: string; now: Date }, { id: string }>(
  'accounts.accept_as',
  `update accounts.members set ${accepted}, email_proven_at = $now
    where id = $id and email = $email and invite_until > $now and status = 'invited'
   returning id`,
)

export const noteLogin = statement.home<{ id: string; at: Date }, object>(
  'accounts.note_login',
  'update accounts.members set last_login_at = $at where id = $id',
)

/** Uses a one-time code; no row when it, or a later one, was used meanwhile: one code signs in once. */
export const useStep = statement.home<{ id: string; step: bigint }, { id: string }>(
  'accounts.use_totp_step',
  `update accounts.members set totp_step = $step
    where id = $id and totp_secret is not null and totp_step < $step returning id`,
)

/** Uses a recovery code; no row when it was used meanwhile. */
export const useRecoveryCode = statement.home<{ id: string; hash: string }, { id: string }>(
  'accounts.use_recovery_code',
  `update accounts.members set recovery_hashes = array_remove(recovery_hashes, $hash)
    where id = $id and $hash = any(recovery_hashes) returning id`,
)

/** Notes that a link was asked for at `now`; no row when another was a moment before, so that no mailbox is flooded. */
export const askReset = statement.home<{ email: string; now: Date; notSince: Date }, { id: string; email: string }>(
  'accounts.ask_reset',
  `update accounts.members set reset_asked_at = $now
    where email = $email and status = 'active' and (reset_asked_at is null or reset_asked_at < $notSince or reset_asked_at = $now)
   returning id, email`,
)

export const beginReset = statement.home<{ id: string; hash: Buffer; until: Date }, { email: string }>(
  'accounts.begin_reset',
  `update accounts.members set reset_hash = $hash, reset_until = $until where id = $id and status = 'active'
   returning email`,
)

export const takeReset = statement.home<
  { hash: Buffer; now: Date; passwordHash: string },
  { id: string; account_id: string }
>(
  'accounts.take_reset',
  `update accounts.members set password_hash = $passwordHash, reset_hash = null, reset_until = null
    where reset_hash = $hash and reset_until > $now and status = 'active'
   returning id, account_id`,
)

export const beginTotp = statement.home<{ id: string; sealed: Buffer }, object>(
  'accounts.begin_totp',
  'update accounts.members set totp_pending = $sealed where id = $id',
)

export const pendingTotp = statement.home<{ id: string }, { totp_pending: Buffer | null; totp_enabled: boolean }>(
  'accounts.pending_totp',
  'select totp_pending, totp_secret is not null as totp_enabled from accounts.members where id = $id',
)

export const confirmTotp = statement.home<{ id: string; step: bigint; codes: readonly string[] }, object>(
  'accounts.confirm_totp',
  `update accounts.members
      set totp_secret = totp_pending, totp_pending = null, totp_step = $step, recovery_hashes = $codes
    where id = $id and totp_pending is not null`,
)

export const dropTotp = statement.home<{ id: string }, object>(
  'accounts.drop_totp',
  `update accounts.members set totp_secret = null, totp_pending = null, recovery_hashes = '{}' where id = $id`,
)
