// SPDX-License-Identifier: Apache-2.0
// A session of the console: begun by a password, found by its cookie, over after twelve hours without use or thirty days.
import { randomBytes } from 'node:crypto'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { dayMs, hourMs } from '../../../kernel/time.ts'
import { hashOf, type SessionFacts } from '../../../platform/auth.ts'
import type { Tx } from '../../../platform/db.ts'
import type { Chore } from '../../../platform/nodes/maintenance.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { masksPeople, scopesOf } from '../roles.ts'
import { planFacts } from '../store.ts'
import { dropFailures, dropSessions, endOldest, insertSession, type SessionRow } from './store.ts'
import { dropSteps } from './ways-store.ts'

const idleMs = 12 * hourMs
export const longestMs = 30 * dayMs
const maxOfMember = 50

/** Moments before which a session was last used, or begun, that is over now. */
export function endings(nowMs: number): { idleSince: Date; oldest: Date } {
  return { idleSince: new Date(nowMs - idleMs), oldest: new Date(nowMs - longestMs) }
}

/** Begins a session; gives the secret of its cookie, which is stored nowhere. */
export async function beginSession(
  tx: Tx,
  member: string,
  from: { ip: string; userAgent: string; nowMs: number },
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const { ip, nowMs } = from
  const userAgent = from.userAgent.replace(/[^\x20-\x7e]/g, '?').slice(0, 200)
  const session = { hash: hashOf(token), id: newUuid(nowMs), member, at: new Date(nowMs), ip, userAgent }
  await tx.query(insertSession, session)
  await tx.query(endOldest, { member, most: maxOfMember })
  return token
}

/** The session as the platform asks for it: a principal of the account with the scopes of the role. */
export function sessionFacts(row: SessionRow, environment: Environment): SessionFacts {
  const signedInAtMs = row.signed_in_at.getTime()
  return {
    actor: `member:${idOf('member', row.member_id)}`,
    signedInAtMs,
    endsAtMs: Math.min(signedInAtMs + longestMs, row.seen_at.getTime() + idleMs),
    facts: {
      keyUuid: row.member_id,
      account: row.account_id,
      bucket: row.bucket,
      environment,
      scopes: [...scopesOf(row.role, environment), ...(row.operator && row.operates ? ['operator'] : [])],
      member: row.member_id,
      isHeld: false,
      masksPeople: masksPeople(row.role),
      expiresAt: null,
      revokedAt: null,
      allowedIps: [],
      rateLimitPerSecond: null,
      strict: false,
      envelope: 'both',
      ...planFacts(row),
      clockOffsetMs: environment === 'test' ? Number(row.clock_offset_ms) : 0,
    },
  }
}

/** Forgets sessions that are over, and failures that count no longer. */
export const sessionChore: Chore = {
  name: 'sessions of the console',
  run: async ({ db, clock }) => {
    const nowMs = clock.nowMs()
    await db.query(dropSessions, endings(nowMs))
    await db.query(dropSteps, { now: new Date(nowMs) })
    await db.query(dropFailures, { before: new Date(nowMs - dayMs) })
  },
}
