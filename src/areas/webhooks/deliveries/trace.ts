// SPDX-License-Identifier: Apache-2.0
// Attempts to deliver, and questions to applications, as frames of the timeline of what they were about.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { dialectOf } from '../../../platform/outbound/dialect-url.ts'
import type { Outcome } from '../../../platform/outbound/exchange.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type Attempt, type Delivery, judge } from './delivery.ts'

/** Characters of an answer in a timeline; the delivery itself has more. */
const answerLength = 500

export function noteAttempt(app: App, delivery: Delivery, attempt: Attempt, nowMs: number): void {
  const { tenant, resource, clockOffsetMs, id, told, attempts } = delivery
  const note = app.timeline.of(tenant, resource, clockOffsetMs)
  if (!note) return
  const { outcome, sentMs, sentTo } = attempt
  const isAnswered = outcome.kind === 'answered'
  note({
    kind: 'webhook',
    direction: 'out',
    title: `${told.name}, attempt ${attempts + 1}`,
    peer: addressOf(sentTo),
    status: isAnswered ? String(outcome.status) : outcome.error,
    isOk: judge(attempt).kind === 'delivered',
    durationMs: nowMs - sentMs,
    request: JSON.stringify({ event_id: told.id, delivery_id: idOf('delivery', id) }),
    answer: isAnswered ? outcome.body.slice(0, answerLength) : outcome.reason,
  })
}

interface Asked {
  readonly tenant: Tenant
  readonly name: string
  readonly resource: string
  readonly clockOffsetMs: number
  readonly url: string
  /** Reason for which the answer could not be used. */
  readonly refusal: string | null
}

/** Question to a customer's application. What it asks stays out, since people type their PINs; in live, so does the answer. */
export function noteQuestion(app: App, asked: Asked, outcome: Outcome): void {
  const { tenant, name, resource, clockOffsetMs, url, refusal } = asked
  const note = app.timeline.of(tenant, resource, clockOffsetMs)
  if (!note) return
  const isAnswered = outcome.kind === 'answered'
  const said = isAnswered ? withoutData(outcome.body).slice(0, answerLength) : outcome.reason
  const isAccepted = isAnswered && outcome.status >= 200 && outcome.status < 300 && refusal === null
  note({
    kind: 'webhook',
    direction: 'out',
    title: name,
    peer: addressOf(url),
    status: isAnswered ? [outcome.status, ...(refusal === null ? [] : [refusal])].join(': ') : outcome.error,
    isOk: isAccepted,
    durationMs: outcome.timing.durationMs,
    request: null,
    answer: isAnswered && tenant.environment === 'live' ? null : said,
  })
}

/** Answer without the data that an application keeps with its session, which are sealed wherever they are stored. */
function withoutData(text: string): string {
  if (!/"data"/.test(text)) return text
  try {
    const said: unknown = JSON.parse(text)
    const hasData = typeof said === 'object' && said !== null && 'data' in said
    return hasData ? JSON.stringify({ ...said, data: '[redacted]' }) : text
  } catch {
    return text
  }
}

/** URL without the parts that may hold secrets. */
function addressOf(address: string): string | null {
  const { url } = dialectOf(address)
  if (!URL.canParse(url)) return null
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/^\/h\/.*/, '/h/…')
}
