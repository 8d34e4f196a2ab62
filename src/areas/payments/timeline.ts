// SPDX-License-Identifier: Apache-2.0
// The timeline of a payment: the request that made it, its states, what the provider was asked and called back with, and the
// webhooks that told of it.
import { idOf } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import { maybe } from '../../platform/db.ts'
import type { Exchange } from '../../platform/outbound/provider-http.ts'
import { type Route, read } from '../../platform/route.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { redacted, timelineOf } from '../../platform/timeline.ts'
import { TimelineRecord, timelineRecord } from '../../platform/timeline-record.ts'
import { PaymentParam } from './input.ts'
import { noSuchPayment, paymentUuid } from './payment.ts'
import { type AttemptRow, findPayment, open, type PaymentRow } from './store.ts'

const timeline = read({
  method: 'GET',
  path: '/v1/payments/:payment_id/timeline',
  operation: 'payments.timeline',
  summary: 'Follow a payment from the request to the last webhook',
  description:
    'In test, always; in live, where the operator keeps it. Secrets are masked. Frames are kept for 30 days.',
  scope: 'payments:read',
  params: PaymentParam,
  reply: { status: 200, schema: TimelineRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => {
    const payment = await maybe(app.db.query(findPayment, { ...tenant, id: paymentUuid(params.payment_id) }))
    if (!payment) throw noSuchPayment()
    const { created_at: createdAt, request_id: requestId } = payment
    const resource = idOf('payment', payment.id)
    return timelineRecord(
      resource,
      await timelineOf(app.db, tenant, { resource, createdAt, requestId, states: statesOf(payment) }),
    )
  },
})

function statesOf({ status, created_at, completed_at, updated_at, failure_reason }: PaymentRow) {
  const begun = { at: created_at, state: 'pending', note: null }
  if (open.includes(status)) return [begun]
  return [begun, { at: completed_at ?? updated_at, state: status, note: failure_reason }]
}

/** How what is asked of a provider about a payment is noted; undefined where nobody keeps it. */
export function traceOf(
  app: App,
  tenant: Tenant,
  { payment_id, clock_offset_ms }: Pick<AttemptRow, 'payment_id' | 'clock_offset_ms'>,
): ((exchange: Exchange) => void) | undefined {
  const note = app.timeline.of(tenant, idOf('payment', payment_id), Number(clock_offset_ms))
  if (!note) return undefined
  return ({ method, url, body, answer, durationMs }) => {
    const { host, pathname } = new URL(url)
    const isAnswered = answer.kind === 'answered'
    note({
      kind: 'provider',
      direction: 'out',
      title: `${method} ${pathname}`,
      peer: host,
      status: isAnswered ? String(answer.status) : answer.reason,
      isOk: isAnswered && answer.status < 400,
      durationMs,
      request: redacted(body),
      answer: isAnswered ? redacted(answer.body) : null,
    })
  }
}

/** Notes that a provider called. */
export function noteCallback(app: App, tenant: Tenant, attempt: AttemptRow, body: unknown, isTaken: boolean): void {
  app.timeline.of(
    tenant,
    idOf('payment', attempt.payment_id),
    Number(attempt.clock_offset_ms),
  )?.({
    kind: 'callback',
    direction: 'in',
    title: 'Callback',
    peer: attempt.provider,
    status: isTaken ? '200' : '404',
    isOk: isTaken,
    durationMs: null,
    request: redacted(body),
    answer: null,
  })
}

export const timelineRoutes: readonly Route[] = [timeline]
