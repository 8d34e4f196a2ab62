// SPDX-License-Identifier: Apache-2.0
// Invitation of a member: two links, each of which works once, for a week. The inviter is shown one and passes it on; the other is
// mailed from the operator's own domain, and only accepting by that one proves that the address is the member's.
import { randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { hashOf } from '../../../platform/auth.ts'
import { maybe } from '../../../platform/db.ts'
import { occasionNow } from '../../../platform/events.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import { html } from '../../../platform/web/html.ts'
import type { Job } from '../../../platform/work.ts'
import { mailForAccount } from '../../email/area.ts'
import type { Role } from '../roles.ts'
import { firstOperator } from '../store.ts'
import { countAttempt } from './store.ts'
import { findInvited, mailInvitation } from './team-store.ts'

export const inviteForMs = 7 * dayMs

/** Secret of a link, and the link: it is after the #, so that it is in no log of any server. */
export function newInvitation({ publicUrl }: Pick<App, 'publicUrl'>): { hash: Buffer; url: string } {
  const secret = randomBytes(32).toString('base64url')
  return { hash: hashOf(secret), url: `${publicUrl}/console/join#${secret}` }
}

export function invitationOver(): AppError {
  return new AppError('NOT_FOUND', 'this invitation was taken up, or its time is over: ask for another')
}

/** Invitation with this secret: who is invited, and by which account. */
export async function invitationWith(app: App, invitation: unknown) {
  const now = new Date(app.clock.nowMs())
  const isSecret = typeof invitation === 'string' && /^[\w-]{43}$/.test(invitation)
  const found = isSecret ? await maybe(app.db.query(findInvited, { hash: hashOf(invitation), now })) : null
  if (!found) throw invitationOver()
  return found
}

/** Mails of invitations, after which each waits: of an account, and to an address, so that no mailbox is flooded. */
const ofAccount = { most: 50, apart: 86_400 }
const toAddress = { most: 3, apart: 86_400 }

/** Job that mails an invitation. It makes the secret itself, so that none is stored in the queue. */
export const mailedInvitation = {
  lane: 'accounts.mail_invitation',
  payload: Type.Object({ account: Type.String(), member: Type.String(), email: Type.String() }),
}

export const mailInvitationJob: Job<App, typeof mailedInvitation.payload> = {
  ...mailedInvitation,
  role: 'timers',
  concurrency: 2,
  retrySeconds: [10, 60, 300],
  async handle(app, { id, payload }) {
    const operator = await maybe(app.db.query(firstOperator, {}))
    if (!operator) return { kind: 'done' }
    const now = new Date(app.clock.nowMs())
    for (const [of, bound] of [
      [payload.account, ofAccount],
      [payload.email, toAddress],
    ] as const)
      if (!(await maybe(app.db.query(countAttempt, { hash: hashOf(`invitations ${of}`), ...bound, now })))) {
        app.log.warn({ member: payload.member }, 'invitation not mailed: too many today; the inviter has its link')
        return { kind: 'done' }
      }
    const { hash, url } = newInvitation(app)
    const invited = await maybe(app.db.query(mailInvitation, { id: payload.member, hash, now }))
    if (!invited) return { kind: 'done' }
    // Outside production, mail goes to the mailboxes of the sandbox.
    const environment = app.config.NODE_ENV === 'production' ? 'live' : 'test'
    const tenant = tenantOf({ bucket: operator.bucket, account_id: operator.id, environment })
    const mail = { to: invited.email, ...wordsOf(invited.account_name, invited.role, url) }
    const key = `invitation ${id} ${hash.toString('hex').slice(0, 16)}`
    try {
      await mailForAccount(app, { ...occasionNow(app.clock, tenant, 0), actor: 'system', ip: '' }, { ...mail, key })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.status >= 500) return { kind: 'retry', reason: error.code }
      app.log.info(
        { code: error.code },
        'invitation not mailed: give the operator’s account a sending domain. The inviter has a link to pass on',
      )
    }
    return { kind: 'done' }
  },
}

function wordsOf(account: string, role: Role, url: string) {
  const name = account.slice(0, 60)
  const words = [
    html`<p>${name} invites you to their account on Pamoja, as ${role}.</p>`,
    html`<p><a href="${url}">Accept the invitation</a></p>`,
    html`<p>The link works once, for a week. If you do not know them, there is nothing to do.</p>`,
  ]
  return {
    fromName: 'Pamoja',
    fromLocal: 'console',
    subject: `Invitation of ${name}`.replaceAll(/[\r\n]/g, ' '),
    html: html`${words}`.html,
    isFree: true,
  }
}
