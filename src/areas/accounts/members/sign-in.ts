// SPDX-License-Identifier: Apache-2.0
// Sign-in. A wrong password and an unknown address get the same reply, and repeated failures wait.
import { AppError } from '../../../kernel/errors.ts'
import { idOf, nilUuid } from '../../../kernel/ids.ts'
import { recordAs } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import { hashPassword, isPassword } from '../../../platform/auth/password.ts'
import { hashOf } from '../../../platform/auth.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import { networkOf } from '../../../platform/http/admission.ts'
import { type From, memberActing } from './acting.ts'
import { invitationOver } from './invitation.ts'
import { beginSession, endings } from './session.ts'
import {
  countAttempt,
  forgiveFailures,
  forgiveOne,
  listSessions,
  lockedUntil,
  memberByEmail,
  replaceSession,
} from './store.ts'
import { noteLogin, takeInvitation } from './team-store.ts'
import { secondFactor } from './totp.ts'

/** Signs a member in; returns the cookie's secret. `before` is that of a session of the same member, which ends. */
export async function signIn(
  app: App,
  email: string,
  password: string,
  code: string | null,
  from: From,
  before: string | null,
): Promise<string> {
  const network = networkOf(from.ip)
  const byNetwork = hashOf(`${email} ${network}`)
  const byMember = hashOf(email)
  await countOrRefuse(app, { hash: byNetwork, ...fromOneNetwork })
  const member = await maybe(app.db.query(memberByEmail, { email }))
  const isKnown = await isKnownFrom(app, member?.id ?? null, network)
  if (!isKnown) await countOrRefuse(app, { hash: byMember, ...fromAnywhere })
  const isRight = await isPassword(password, member?.password_hash ?? null)
  if (!member || !isRight || member.status !== 'active')
    throw new AppError('UNAUTHORIZED', 'the address or the password is wrong')
  const nowMs = app.clock.nowMs()
  const useUp = await secondFactor(app, member, code, nowMs)
  return app.db.acrossTx(async (tx) => {
    await useUp(tx)
    const token = await enter(app, tx, member, from, before)
    await tx.query(forgiveFailures, { hash: byNetwork })
    if (!isKnown) await tx.query(forgiveOne, { hash: byMember })
    return token
  })
}

/** Begins a session of a member who has shown who they are; it replaces the one that the browser had. */
export async function enter(
  app: App,
  tx: Tx,
  member: { id: string; account_id: string },
  from: From,
  before: string | null,
): Promise<string> {
  const nowMs = app.clock.nowMs()
  const userAgent = from.headers['user-agent'] ?? ''
  const token = await beginSession(tx, member.id, { ip: from.ip, userAgent, nowMs })
  const old = before === null ? null : { member: member.id, hash: hashOf(before) }
  if (old && (await maybe(tx.query(replaceSession, old)))) await app.signals.send(tx, 'accounts', member.account_id)
  await tx.query(noteLogin, { id: member.id, at: new Date(nowMs) })
  await recordAs(tx, memberActing(member, from, nowMs), 'member.sign_in', idOf('member', member.id))
  return token
}

interface Counted {
  hash: Buffer
  /** Attempts from which on each locks for longer. */
  most: number
  /** Seconds without an attempt after which counting begins anew. */
  apart: number
}

export const fromOneNetwork = { most: 5, apart: 900 }
/** Whoever guesses from many networks has this many for one member, and then some hundred a day. */
const fromAnywhere = { most: 50, apart: 86_400 }

/** Whether a member has a session from this network: guesses from elsewhere do not lock them out there. */
async function isKnownFrom({ db, clock }: App, member: string | null, network: string): Promise<boolean> {
  const asked = { member: member ?? nilUuid, ...endings(clock.nowMs()) }
  return (await db.query(listSessions, asked)).some(({ ip }) => networkOf(ip) === network)
}

export async function countOrRefuse({ db, clock }: App, counted: Counted): Promise<void> {
  const now = new Date(clock.nowMs())
  const { hash } = counted
  if (await maybe(db.query(countAttempt, { ...counted, now }))) return
  const locked = await maybe(db.query(lockedUntil, { hash }))
  const seconds = Math.max(1, Math.ceil(((locked?.locked_until.getTime() ?? 0) - now.getTime()) / 1000))
  throw new AppError('RATE_LIMITED', `signing in failed too often; try again in ${seconds} s`, {
    retryAfterSeconds: seconds,
  })
}

/** Accepts an invitation: the new member chooses a password and is signed in. */
export async function takeUp(app: App, invitation: string, password: string, from: From): Promise<string> {
  const nowMs = app.clock.nowMs()
  const passwordHash = await hashPassword(password)
  return app.db.acrossTx(async (tx) => {
    const taken = await maybe(
      tx.query(takeInvitation, { hash: hashOf(invitation), now: new Date(nowMs), passwordHash }),
    )
    if (!taken) throw invitationOver()
    const userAgent = from.headers['user-agent'] ?? ''
    const token = await beginSession(tx, taken.id, { ip: from.ip, userAgent, nowMs })
    await tx.query(noteLogin, { id: taken.id, at: new Date(nowMs) })
    await recordAs(tx, memberActing(taken, from, nowMs), 'member.join', idOf('member', taken.id))
    return token
  })
}
