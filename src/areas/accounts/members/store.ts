// SPDX-License-Identifier: Apache-2.0
// SQL of members, their sessions and failed sign-ins.
import { statement } from '../../../platform/db.ts'
import type { Role } from '../roles.ts'
import type { AccountFactsRow } from '../store.ts'

export interface MemberRow {
  id: string
  account_id: string
  email: string
  role: Role
  password_hash: string
  status: string
  totp_secret: Buffer | null
  totp_step: bigint
  recovery_hashes: string[]
  /** The member accepted by this address: by the mailed link, or through the identity provider. */
  is_proven: boolean
}

export const memberColumns = `id, account_id, email, role, password_hash, status, totp_secret, totp_step, recovery_hashes,
  email_proven_at is not null as is_proven`

export const memberByEmail = statement.home<{ email: string }, MemberRow>(
  'accounts.member_by_email',
  `select ${memberColumns} from accounts.members where email = $email`,
)

/** Makes the member, or gives the one who has the address in this account another password. */
export const keepMember = statement.home<
  { id: string; account: string; email: string; role: Role; passwordHash: string; now: Date },
  { id: string; is_new: boolean }
>(
  'accounts.keep_member',
  `insert into accounts.members as m (id, account_id, email, role, password_hash, operator, email_proven_at)
   values ($id, $account, $email, $role, $passwordHash, true, $now)
   on conflict (email) do update
     set password_hash = excluded.password_hash, status = 'active', totp_secret = null, totp_pending = null,
         recovery_hashes = '{}', reset_hash = null, invite_hash = null, mailed_hash = null,
         email_proven_at = $now
     where m.account_id = excluded.account_id
   returning id, id = $id as is_new`,
)

export const endSessionsOf = statement.home<{ member: string }, object>(
  'accounts.end_sessions_of',
  'delete from accounts.sessions where member_id = $member',
)

export const insertSession = statement.home<
  { hash: Buffer; id: string; member: string; at: Date; ip: string; userAgent: string },
  object
>(
  'accounts.insert_session',
  `insert into accounts.sessions (hash, id, member_id, signed_in_at, seen_at, ip, user_agent)
   values ($hash, $id, $member, $at, $at, $ip, $userAgent)`,
)

/** Members have few sessions at a time: the oldest end. Index: sessions_of_member. */
export const endOldest = statement.home<{ member: string; most: number }, object>(
  'accounts.end_oldest_sessions',
  `delete from accounts.sessions
    where hash in (select hash from accounts.sessions where member_id = $member order by id desc offset $most::int)`,
)

export interface SessionRow extends AccountFactsRow {
  id: string
  member_id: string
  email: string
  role: Role
  account_name: string
  timezone: string
  signed_in_at: Date
  seen_at: Date
  /** Whether the member may operate; it counts only where the account is an operator's. */
  operates: boolean
  member_name: string
  totp_enabled: boolean
  /** The account wants a second factor of everybody. */
  totp_required: boolean
}

/** Finds a session that has not ended and notes that it is used. */
export const useSession = statement.home<{ hash: Buffer; now: Date; idleSince: Date; oldest: Date }, SessionRow>(
  'accounts.use_session',
  `update accounts.sessions s set seen_at = greatest(s.seen_at, $now)
     from accounts.members m
     join accounts.accounts a on a.id = m.account_id
     join accounts.plans p on p.name = a.plan
     left join accounts.sandbox_clocks c on c.account_id = a.id
    where s.hash = $hash and s.seen_at > $idleSince and s.signed_in_at > $oldest and m.id = s.member_id
      and m.status = 'active'
   returning s.id, s.member_id, m.email, m.role, m.account_id, a.name as account_name, a.timezone, s.signed_in_at,
     s.seen_at, a.bucket, a.plan, p.limits as plan_limits, a.limits as own_limits, a.allowances, a.currency, a.country,
     a.operator, m.operator as operates, m.name as member_name, m.totp_secret is not null as totp_enabled,
     coalesce(a.settings->>'require_totp', '') = 'true' as totp_required, a.status as account_status,
     a.settings ->> 'callback_events' as account_callback_events, coalesce(c.offset_ms, 0) as clock_offset_ms`,
)

export const listSessions = statement.home<
  { member: string; idleSince: Date; oldest: Date },
  { id: string; signed_in_at: Date; seen_at: Date; ip: string; user_agent: string }
>(
  'accounts.list_sessions',
  `select id, signed_in_at, seen_at, ip, user_agent from accounts.sessions
    where member_id = $member and seen_at > $idleSince and signed_in_at > $oldest order by id desc`,
)

/** The session that a browser had before it signed in again. */
export const replaceSession = statement.home<{ member: string; hash: Buffer }, { id: string }>(
  'accounts.replace_session',
  'delete from accounts.sessions where member_id = $member and hash = $hash returning id',
)

export const endSession = statement.home<{ member: string; id: string }, { id: string }>(
  'accounts.end_session',
  'delete from accounts.sessions where member_id = $member and id = $id returning id',
)

/**
 * Counts an attempt before it is known whether it succeeds, so that many at once are no way around. From `most` on, with less
 * than `apart` seconds between two, each locks for longer. Gives no row while it is locked; what does not lock is far in the
 * past, because of two at once the one that is counted later may have come earlier.
 */
export const countAttempt = statement.home<
  { hash: Buffer; now: Date; most: number; apart: number },
  { failures: number }
>(
  'accounts.count_attempt',
  `insert into accounts.failed_sign_ins as f (hash, failures, last_at, locked_until) values ($hash, 1, $now, '-infinity')
   on conflict (hash) do update set
     failures = case when f.last_at < $now::timestamptz - $apart::int * interval '1 second' then 1 else f.failures + 1 end,
     last_at = $now,
     locked_until = case
       when f.last_at < $now::timestamptz - $apart * interval '1 second' or f.failures + 1 < $most::int then '-infinity'
       else $now::timestamptz
         + least(interval '15 minutes', interval '30 seconds' * 2 ^ least(f.failures - $most + 1, 10)) end
     where f.locked_until <= $now
   returning failures`,
)

export const lockedUntil = statement.home<{ hash: Buffer }, { locked_until: Date }>(
  'accounts.locked_until',
  'select locked_until from accounts.failed_sign_ins where hash = $hash',
)

export const forgiveFailures = statement.home<{ hash: Buffer }, object>(
  'accounts.forgive_failures',
  'delete from accounts.failed_sign_ins where hash = $hash',
)

/** Takes one attempt back, which was no failure; the others stay. */
export const forgiveOne = statement.home<{ hash: Buffer }, object>(
  'accounts.forgive_one',
  `update accounts.failed_sign_ins set failures = failures - 1, locked_until = '-infinity' where hash = $hash`,
)

export const dropFailures = statement.home<{ before: Date }, object>(
  'accounts.drop_failures',
  'delete from accounts.failed_sign_ins where last_at < $before',
)

export const dropSessions = statement.home<{ idleSince: Date; oldest: Date }, object>(
  'accounts.drop_sessions',
  'delete from accounts.sessions where seen_at <= $idleSince or signed_in_at <= $oldest',
)
