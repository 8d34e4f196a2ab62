// SPDX-License-Identifier: Apache-2.0
// Signing in: a wrong password and an address that nobody has are told apart by nothing, and whoever keeps guessing waits.
import { createHash } from 'node:crypto'
import { AppError } from '../../../kernel/errors.ts'
import { bucketOf, idOf, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { recordAs } from '../../../platform/audit.ts'
import { maybe } from '../../../platform/db.ts'
import type { HookCall } from '../../../platform/hook.ts'
import { isPassword } from './password.ts'
import { beginSession } from './session.ts'
import { countAttempt, forgiveFailures, lockedUntil, memberByEmail } from './store.ts'

export type From = Pick<HookCall, 'ip' | 'requestId' | 'receivedMs' | 'headers'>

/** Gives the secret of a new session's cookie. */
export async function signIn(app: App, email: string, password: string, from: From): Promise<string> {
  const hash = createHash('sha256').update(`${email} ${from.ip}`).digest()
  await countOrRefuse(app, hash)
  const member = await maybe(app.db.query(memberByEmail, { email }))
  const isRight = await isPassword(password, member?.password_hash ?? null)
  if (!member || !isRight) throw new AppError('UNAUTHORIZED', 'the address or the password is wrong')
  const nowMs = app.clock.nowMs()
  const userAgent = from.headers['user-agent'] ?? ''
  return app.db.acrossTx(async (tx) => {
    const token = await beginSession(tx, member.id, { ip: from.ip, userAgent, nowMs })
    await tx.query(forgiveFailures, { hash })
    const account = member.account_id
    const memberId = idOf('member', member.id)
    const tenant = { bucket: bucketOf(account), account, environment: 'live' } as const
    const by = { tenant, id: newUuid(nowMs), actor: `member:${memberId}`, ip: from.ip, requestId: from.requestId }
    await recordAs(tx, by, 'member.sign_in', memberId)
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
