// SPDX-License-Identifier: Apache-2.0
// Password reset by a link that works once, for an hour. The link comes by mail from the operator's own domain, or from
// an owner of the account. It signs nobody in: the member signs in afterwards, with the second factor if there is one.
import { randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { hourMs } from '../../../kernel/time.ts'
import { recordAs } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import { hashPassword } from '../../../platform/auth/password.ts'
import { hashOf } from '../../../platform/auth.ts'
import { maybe, type Queryable } from '../../../platform/db.ts'
import { occasionNow } from '../../../platform/events.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import { html } from '../../../platform/web/html.ts'
import type { Job } from '../../../platform/work.ts'
import { mailForAccount } from '../../email/area.ts'
import { firstOperator } from '../store.ts'
import { type From, memberActing } from './acting.ts'
import { endSessionsOf } from './store.ts'
import { askReset, beginReset, takeReset } from './team-store.ts'

const worksForMs = hourMs
/** Between two mails to one member. */
const pauseMs = 2 * 60_000

/** Creates a reset link; null when no member has this id. The secret is after the #, so that no server logs it. */
export async function newReset(
  app: Pick<App, 'clock' | 'publicUrl'>,
  db: Queryable,
  id: string,
): Promise<{ url: string; until: Date; email: string } | null> {
  const secret = randomBytes(32).toString('base64url')
  const until = new Date(app.clock.nowMs() + worksForMs)
  const row = await maybe(db.query(beginReset, { id, hash: hashOf(secret), until }))
  return row && { url: `${app.publicUrl}/console/reset#${secret}`, until, email: row.email }
}

/** Job that mails a reset link. It makes the secret itself, so that none is stored in the queue. */
const mailReset = {
  lane: 'accounts.mail_reset',
  payload: Type.Object({ email: Type.String(), askedMs: Type.Number() }),
}

/** Queues the mail with a reset link. The job finds out whose address it is: asking takes as long for one that nobody has. */
export async function askForReset(app: App, email: string): Promise<void> {
  await app.db.acrossTx(async (tx) => {
    const job = app.work.prepare(mailReset, null, { email, askedMs: app.clock.nowMs() })
    await app.work.add(tx, job)
    tx.afterCommit(() => app.work.begin(job))
  })
}

export const mailResetJob: Job<App, typeof mailReset.payload> = {
  ...mailReset,
  role: 'timers',
  concurrency: 2,
  retrySeconds: [10, 60, 300],
  async handle(app, { id, payload }) {
    const { email, askedMs } = payload
    const asked = { email, now: new Date(askedMs), notSince: new Date(askedMs - pauseMs) }
    const member = await maybe(app.db.query(askReset, asked))
    const operator = member && (await maybe(app.db.query(firstOperator, {})))
    const made = operator && (await newReset(app, app.db, member.id))
    if (!made) return { kind: 'done' }
    // Outside production, mail goes to the mailboxes of the sandbox.
    const environment = app.config.NODE_ENV === 'production' ? 'live' : 'test'
    const tenant = tenantOf({ bucket: operator.bucket, account_id: operator.id, environment })
    try {
      await mailForAccount(app, { ...occasionNow(app.clock, tenant, 0), actor: 'system', ip: '' }, mailWith(made, id))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.status >= 500) return { kind: 'retry', reason: error.code }
      app.log.warn(
        { code: error.code },
        'password reset link not mailed: verify a sending domain for the operator’s account',
      )
    }
    return { kind: 'done' }
  },
}

function mailWith({ url, email }: { url: string; email: string }, job: string) {
  const words = [
    html`<p>Somebody, probably you, asked for another password for Pamoja.</p>`,
    html`<p><a href="${url}">Choose a password</a></p>`,
    html`<p>The link works once, for an hour. If it was not you, there is nothing to do.</p>`,
  ]
  return {
    to: email,
    fromName: 'Pamoja',
    fromLocal: 'console',
    subject: 'Choose another password',
    html: html`${words}`.html,
    key: `reset ${job} ${hashOf(url).toString('hex').slice(0, 16)}`,
    isFree: true,
  }
}

export function noSuchReset(): AppError {
  return new AppError('NOT_FOUND', 'this link was used, or its time is over: ask for another')
}

/** Sets a new password and ends all sessions of the member: somebody who knew the old one may be in one. */
export async function resetPassword(app: App, secret: string, password: string, from: From): Promise<void> {
  const nowMs = app.clock.nowMs()
  const passwordHash = await hashPassword(password)
  await app.db.acrossTx(async (tx) => {
    const taken = await maybe(tx.query(takeReset, { hash: hashOf(secret), now: new Date(nowMs), passwordHash }))
    if (!taken) throw noSuchReset()
    await tx.query(endSessionsOf, { member: taken.id })
    await app.signals.send(tx, 'accounts', taken.account_id)
    await recordAs(tx, memberActing(taken, from, nowMs), 'member.choose_password', idOf('member', taken.id))
  })
}
