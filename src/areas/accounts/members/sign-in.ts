// SPDX-License-Identifier: Apache-2.0
// Sign-in. A wrong password and an unknown address get the same reply, and repeated failures wait.
import { createHash } from 'node:crypto'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { recordAs } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import { hashOf } from '../../../platform/auth.ts'
import { maybe } from '../../../platform/db.ts'
import { networkOf } from '../../../platform/http/admission.ts'
import { type From, memberActing } from './acting.ts'
import { hashPassword, isPassword } from './password.ts'
import { beginSession } from './session.ts'
import { countAttempt, forgiveFailures, lockedUntil, memberByEmail, replaceSession } from './store.ts'
import { noteLogin, takeInvitation } from './team-store.ts'
import { secondFactor } from './totp.ts'

/** Sign a member in; returns the cookie's secret. `before` is that of a session of the same member, which ends. */
export async function signIn(
  app: App,
  email: string,
  password: string,
  code: string | null,
  from: From,
  before: string | null,
): Promise<string> {
  const hash = createHash('sha256')
    .update(`${email} ${networkOf(from.ip)}`)
    .digest()
  await countOrRefuse(app, hash)
  const member = await maybe(app.db.query(memberByEmail, { email }))
  const isRight = await isPassword(password, member?.password_hash ?? null)
  if (!member || !isRight || member.status !== 'active')
    throw new AppError('UNAUTHORIZED', 'the address or the password is wrong')
  const nowMs = app.clock.nowMs()
  const useUp = await secondFactor(app, member, code, nowMs)
  const userAgent = from.headers['user-agent'] ?? ''
  return app.db.acrossTx(async (tx) => {
    await useUp(tx)
    const token = await beginSession(tx, member.id, { ip: from.ip, userAgent, nowMs })
    const old = before === null ? null : { member: member.id, hash: hashOf(before) }
    if (old && (await maybe(tx.query(replaceSession, old)))) await app.signals.send(tx, 'accounts', member.account_id)
    await tx.query(forgiveFailures, { hash })
    await tx.query(noteLogin, { id: member.id, at: new Date(nowMs) })
    await recordAs(tx, memberActing(member, from, nowMs), 'member.sign_in', idOf('member', member.id))
    return token
  })
}

async function countOrRefuse({ db, clock }: App, hash: Buffer): Promise<void> {
  const now = new Date(clock.nowMs())
  if (await maybe(db.query(countAttempt, { hash, now }))) return
  const locked = await maybe(db.query(lockedUntil, { hash }))
  const seconds = Math.max(1, Math.ceil(((locked?.locked_until.getTime() ?? 0) - now.getTime()) / 1000))
  throw new AppError('RATE_LIMITED', `signing in failed too often; try again in ${seconds} s`, {
    retryAfterSeconds: seconds,
  })
}

/** Accept an invitation: the new member chooses a password and is signed in. */
export async function takeUp(app: App, invitation: string, password: string, from: From): Promise<string> {
  const nowMs = app.clock.nowMs()
  const passwordHash = await hashPassword(password)
  return app.db.acrossTx(async (tx) => {
    const taken = await maybe(
      tx.query(takeInvitation, { hash: hashOf(invitation), now: new Date(nowMs), passwordHash }),
    )
    if (!taken) throw new AppError('NOT_FOUND', 'this invitation was taken up, or its time is over: ask for another')
    const userAgent = from.headers['user-agent'] ?? ''
    const token = await beginSession(tx, taken.id, { ip: from.ip, userAgent, nowMs })
    await tx.query(noteLogin, { id: taken.id, at: new Date(nowMs) })
    await recordAs(tx, memberActing(taken, from, nowMs), 'member.join', idOf('member', taken.id))
    return token
  })
}
