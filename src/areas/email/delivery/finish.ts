// SPDX-License-Identifier: Apache-2.0
// Stores a recipient's outcome and its events in one group commit.
import { newUuid } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { operation } from '../../../platform/commit.ts'
import { type NewEvent, type Occasion, occasionNow } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type Reply, replyLine } from '../../../protocols/smtp/reply.ts'
import { emailEvents } from '../events.ts'
import { countSoftBounces } from '../suppressions/store.ts'
import type { Carried } from './carry.ts'
import type { TlsLevel } from './destinations.ts'
import type { OutgoingRow } from './load.ts'
import { aboutOf, beginAll, eventsColumn, newsOf, type Told } from './news.ts'
import { exhausted, retryAfterMs, type Verdict } from './verdict.ts'

const finishRecipient = operation.tenant(
  'email.finish',
  {
    bucket: 'smallint',
    account: 'uuid',
    environment: 'text',
    message: 'uuid',
    number: 'smallint',
    job: 'uuid',
    attempt: 'int',
    status: 'text',
    attempts: 'smallint',
    smtp_code: 'smallint',
    enhanced_code: 'text',
    smtp_response: 'text',
    mx: 'text',
    tls: 'text',
    tls_level: 'text',
    bounce_type: 'text',
    reason: 'text',
    at: 'timestamptz',
    next_attempt_at: 'timestamptz',
    delay_ms: 'bigint',
    transfer: 'uuid',
    suppression: 'uuid',
    suppress: 'text',
    address: 'text',
    events: 'jsonb',
  },
  { changed: 'boolean', deliveries: 'text' },
)

/** Run of the sending job; null without one, as for later bounces. */
export interface SendRun {
  readonly id: string
  readonly attempt: number
}

interface Change {
  readonly status: 'sent' | 'delivered' | 'bounced' | 'failed'
  readonly attempts: number
  readonly reason: string | null
  readonly verdict?: Verdict
  readonly mx?: string | null
  readonly tls?: string | null
  readonly level?: TlsLevel | null
  readonly nextAttemptAt?: Date | null
  readonly delayMs?: number | null
  readonly isRefunded?: boolean
  readonly suppress?: 'hard_bounce' | null
  readonly events: readonly NewEvent[]
}

export type Addressee = Told & { readonly number: number }

export async function storeChange(
  app: App,
  tenant: Tenant,
  row: Addressee,
  occasion: Occasion,
  run: SendRun | null,
  change: Change,
): Promise<boolean> {
  const reply = change.verdict?.reply ?? null
  // A message that was accepted must not be sent again.
  const { changed, deliveries } = await app.commitSurely(finishRecipient, {
    bucket: tenant.bucket,
    account: tenant.account,
    environment: tenant.environment,
    message: row.id,
    number: row.number,
    job: run?.id ?? null,
    attempt: run?.attempt ?? null,
    status: change.status,
    attempts: change.attempts,
    smtp_code: reply?.code ?? null,
    enhanced_code: reply?.enhanced ?? null,
    smtp_response: reply ? `${reply.code} ${reply.text}`.slice(0, 500) : null,
    mx: change.mx ?? null,
    tls: change.tls ?? null,
    tls_level: change.level ?? null,
    bounce_type: change.verdict?.kind === 'bounced' ? change.verdict.type : null,
    reason: change.reason,
    at: new Date(occasion.nowMs),
    next_attempt_at: change.nextAttemptAt ?? null,
    delay_ms: change.delayMs == null ? null : BigInt(change.delayMs),
    transfer: change.isRefunded ? newUuid(occasion.receivedMs) : null,
    suppression: newUuid(occasion.receivedMs),
    suppress: change.suppress ?? null,
    address: row.email.toLowerCase(),
    events: eventsColumn(change.events),
  })
  if (changed) beginAll(app, change.events, deliveries)
  return changed === true
}

/** Stores the server's reply, or that none could be reached. */
export async function storeCarried(
  app: App,
  tenant: Tenant,
  row: OutgoingRow,
  run: SendRun,
  carried: Carried,
): Promise<void> {
  const occasion = occasionNow(app.clock, tenant, row.clock_offset_ms, row.request_id)
  const attempts = row.attempts + 1
  const { mx, tls, level } = carried
  const sent =
    row.sent_at === null
      ? [newsOf(app, emailEvents.sent, occasion, row, { ...aboutOf(row), mx, ip_pool: row.stream })]
      : []
  let { verdict } = carried
  if (verdict.kind === 'delivered') {
    const smtp_response = `${verdict.reply.code} ${verdict.reply.text}`.slice(0, 500)
    const said = { ...aboutOf(row), smtp_response, mx, tls, tls_level: level, attempts }
    const told = carried.isRelayed ? [] : [newsOf(app, emailEvents.delivered, occasion, row, said)]
    const status = carried.isRelayed ? 'sent' : 'delivered'
    await storeChange(app, tenant, row, occasion, run, {
      status,
      attempts,
      reason: null,
      verdict,
      mx,
      tls,
      level,
      events: [...sent, ...told],
    })
    return
  }
  if (verdict.kind === 'deferred') {
    const delayMs = retryAfterMs(attempts, row.expires_at.getTime() - occasion.nowMs, Math.random())
    if (delayMs !== null) {
      const nextAttemptAt = new Date(occasion.nowMs + delayMs)
      const deferred = newsOf(app, emailEvents.deferred, occasion, row, {
        ...aboutOf(row),
        reason: verdict.reason,
        next_attempt_at: nextAttemptAt,
      })
      const change = {
        status: 'sent' as const,
        attempts,
        reason: verdict.reason,
        verdict,
        mx,
        tls,
        level,
        nextAttemptAt,
        delayMs,
        events: [...sent, deferred],
      }
      await storeChange(app, tenant, row, occasion, run, change)
      return
    }
    verdict = exhausted(verdict)
  }
  const bounced = bounceNews(app, occasion, row, verdict, 'smtp')
  const suppress =
    verdict.suppresses || (await isThirdSoftBounce(app, tenant, row, verdict, occasion)) ? 'hard_bounce' : null
  await storeChange(app, tenant, row, occasion, run, {
    status: 'bounced',
    attempts,
    reason: verdict.reason,
    verdict,
    mx,
    tls,
    level,
    suppress,
    events: [...sent, bounced],
  })
}

export function bounceNews(
  app: App,
  occasion: Occasion,
  row: Told,
  verdict: Extract<Verdict, { kind: 'bounced' }>,
  source: 'smtp' | 'dsn',
): NewEvent {
  return newsOf(app, emailEvents.bounced, occasion, row, {
    ...aboutOf(row),
    reason: verdict.reason,
    bounce_type: verdict.type,
    category: verdict.category,
    smtp_code: verdict.reply?.code ?? null,
    enhanced_code: verdict.reply?.enhanced ?? null,
    diagnostic: verdict.reply ? `${verdict.reply.code} ${verdict.reply.text}`.slice(0, 500) : null,
    source,
  })
}

/** Stores a failure before sending: the price is refunded. */
export async function storeFailed(
  app: App,
  tenant: Tenant,
  row: OutgoingRow,
  run: SendRun,
  reason: string,
  isSuppressed: boolean,
): Promise<void> {
  const occasion = occasionNow(app.clock, tenant, row.clock_offset_ms, row.request_id)
  const type = isSuppressed ? emailEvents.suppressed : emailEvents.failed
  const event = newsOf(app, type, occasion, row, { ...aboutOf(row), reason, next_attempt_at: null })
  const shown = isSuppressed ? 'suppressed' : reason
  await storeChange(app, tenant, row, occasion, run, {
    status: 'failed',
    attempts: row.attempts,
    reason: shown,
    isRefunded: true,
    events: [event],
  })
}

function lastReply({ smtp_response: said, enhanced_code: enhanced }: OutgoingRow): Reply | null {
  const [, code, text = ''] = /^(\d{3}) (.*)$/s.exec(said ?? '') ?? []
  return code === undefined ? null : { code: Number(code), enhanced, text }
}

/** Stores an expiry. A message never attempted is not charged. */
export async function storeExpired(app: App, tenant: Tenant, row: OutgoingRow, run: SendRun): Promise<void> {
  const occasion = occasionNow(app.clock, tenant, row.clock_offset_ms, row.request_id)
  const reply = lastReply(row)
  const reason = reply ? replyLine(reply) : 'its time was over before it could be delivered'
  const verdict = exhausted({ kind: 'deferred', reason, reply, isThrottled: false })
  await storeChange(app, tenant, row, occasion, run, {
    status: 'bounced',
    attempts: row.attempts,
    reason,
    verdict,
    isRefunded: row.attempts === 0 && row.sent_at === null,
    events: [bounceNews(app, occasion, row, verdict, 'smtp')],
  })
}

const softBounceDays = 14
const softBounces = 3

async function isThirdSoftBounce(
  app: App,
  tenant: Tenant,
  row: OutgoingRow,
  verdict: Extract<Verdict, { kind: 'bounced' }>,
  { nowMs }: Occasion,
): Promise<boolean> {
  if (verdict.type !== 'soft') return false
  return (await countSoftBounces(app, tenant, row.email, new Date(nowMs - softBounceDays * dayMs))) >= softBounces - 1
}
