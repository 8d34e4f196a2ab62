// SPDX-License-Identifier: Apache-2.0
// An attempt to deliver as a frame of the timeline of what the event was about.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
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

/** Without what a URL may hold of secrets. */
function addressOf(url: string): string | null {
  if (!URL.canParse(url)) return null
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/^\/h\/.*/, '/h/…')
}
