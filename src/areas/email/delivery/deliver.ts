// SPDX-License-Identifier: Apache-2.0
// Jobs that send mail, one per recipient, with separate lanes for single and bulk mail, so that a newsletter does not
// delay a password reset. A job ends when the recipient's server accepts or refuses for good.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import { occasionNow } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { suspendedMs } from '../../../platform/work/suspended.ts'
import type { Job, Outcome, Run } from '../../../platform/work.ts'
import { loadContent } from '../contents.ts'
import { senderFor } from '../domains/senders.ts'
import { emailEvents } from '../events.ts'
import { carry } from './carry.ts'
import { type Composed, composeFor } from './compose.ts'
import { storeCarried, storeChange, storeExpired, storeFailed } from './finish.ts'
import { loadOutgoing, type OutgoingRow } from './load.ts'
import { aboutOf, newsOf } from './news.ts'

/** Duration after which an SMTP dialogue is reported before it ends. */
const longDialogueMs = 2_000
const pausedMs = 60_000

const Payload = Type.Object({ message: Type.String(), number: Type.Integer() })

function job(lane: string, concurrency: number): Job<App, typeof Payload> {
  return {
    lane,
    role: 'dispatch',
    payload: Payload,
    concurrency,
    retrySeconds: [5, 30, 120, 600, 3600],
    handle: deliver,
  }
}

export const sendJob = job('email.send', 256)
export const bulkJob = job('email.bulk', 128)

async function deliver(app: App, run: Run<{ message: string; number: number }>): Promise<Outcome> {
  const { tenant, payload } = run
  if (!tenant) throw new Error('a message belongs to an account')
  const row = await loadOutgoing(app, tenant, payload.message, payload.number)
  if (!row || !['scheduled', 'queued', 'sent'].includes(row.status)) return { kind: 'done' }
  if (row.is_suspended) return { kind: 'again', afterMs: suspendedMs }
  if (row.bulk_status === 'paused') return { kind: 'again', afterMs: pausedMs }
  if (row.suppressed !== null) return failed(app, tenant, row, run, row.suppressed, true)
  if (row.expires_at.getTime() < app.clock.nowMs() + Number(row.clock_offset_ms)) return expired(app, tenant, row, run)
  const composed = await composedOf(app, tenant, row)
  if (typeof composed === 'string') return failed(app, tenant, row, run, composed, false)
  const telling = tellLate(app, tenant, row)
  const carried = await carry(app, tenant.environment, row.email, composed).catch(async (error: unknown) => {
    await telling().catch(() => undefined)
    throw error
  })
  const toldAt = await telling()
  if ('notNowMs' in carried) return { kind: 'again', afterMs: Math.max(50, Math.ceil(carried.notNowMs)) }
  await storeCarried(app, tenant, { ...row, sent_at: row.sent_at ?? toldAt }, run, carried)
  return { kind: 'settled' }
}

async function failed(
  app: App,
  tenant: Tenant,
  row: OutgoingRow,
  run: Run<unknown>,
  reason: string,
  isSuppressed: boolean,
): Promise<Outcome> {
  await storeFailed(app, tenant, row, run, reason, isSuppressed)
  return { kind: 'settled' }
}

/** Expired message, for instance after a suspension of the account: an outdated code is not sent. */
async function expired(app: App, tenant: Tenant, row: OutgoingRow, run: Run<unknown>): Promise<Outcome> {
  await storeExpired(app, tenant, row, run)
  return { kind: 'settled' }
}

/** Bytes of the message, or why there are none. */
async function composedOf(app: App, tenant: Tenant, row: OutgoingRow): Promise<Composed | string> {
  const content = await loadContent(app, tenant, row.content_id)
  if (!content) return 'the content is no longer kept'
  const sender = await senderFor(app, tenant, row.domain)
  if (!sender) return 'the domain is no longer verified'
  try {
    return await composeFor(app, tenant, row, content, sender)
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return `the message cannot be rendered: ${error.details}`
    throw error
  }
}

/** Emits `sent` early when the server is slow to decide. Returns the time emitted, if any. */
function tellLate(app: App, tenant: Tenant, row: OutgoingRow): () => Promise<Date | null> {
  if (row.sent_at !== null) return async () => null
  let telling: Promise<Date | null> = Promise.resolve(null)
  const timer = setTimeout(() => {
    const occasion = occasionNow(app.clock, tenant, row.clock_offset_ms, row.request_id)
    const event = newsOf(app, emailEvents.sent, occasion, row, { ...aboutOf(row), mx: null, ip_pool: row.stream })
    telling = storeChange(app, tenant, row, occasion, null, {
      status: 'sent',
      attempts: row.attempts,
      reason: null,
      events: [event],
    }).then(() => new Date(occasion.nowMs))
    // The promise is awaited only when the dialogue is over; until then a rejection must have a handler.
    telling.catch(() => undefined)
  }, longDialogueMs)
  return () => {
    clearTimeout(timer)
    return telling
  }
}
