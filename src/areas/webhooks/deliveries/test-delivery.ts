// SPDX-License-Identifier: Apache-2.0
// Test delivery: one attempt at once, while the request waits for the endpoint's answer.
import { idOf, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { statement } from '../../../platform/db.ts'
import type { Environment, Tenant } from '../../../platform/tenant.ts'
import { noSuchWebhook } from '../endpoints/endpoint.ts'
import type { EndpointRow } from '../store.ts'
import { type Delivery, type DeliveryError, judge, send } from './delivery.ts'
import { logEntry } from './finished.ts'
import { loadTargets } from './targets.ts'

const insertTest = statement.tenant<
  {
    bucket: number
    account: string
    environment: Environment
    id: string
    endpoint: string
    eventId: string
    event: string
    resource: string
    status: string
    at: Date
    deliveredAt: Date | null
    error: string | null
    responseStatus: number | null
    durationMs: number
    body: string
    log: string
  },
  object
>(
  'webhooks.insert_test',
  `insert into webhooks.deliveries (bucket, account_id, environment, id, endpoint_id, event_id, event, resource_id, status,
     ordered, attempts, created_at, delivered_at, last_error, response_status, duration_ms, test, body, log)
   values ($bucket, $account, $environment, $id, $endpoint, $eventId, $event, $resource, $status, false, 1,
     $at, $deliveredAt, $error, $responseStatus, $durationMs, true, $body, $log)`,
)

export interface TestDelivery {
  tenant: Tenant
  endpoint: Pick<EndpointRow, 'id'>
  event: { id: string; type: string; resource: string; body: string }
  /** The account's time. */
  nowMs: number
  requestId: string | null
}

export interface TestOutcome {
  id: string
  delivered: boolean
  status: number | null
  durationMs: number
  body: string | null
  error: DeliveryError | null
}

/** Makes one attempt now, in any state of the endpoint. It is logged and never repeated. */
export async function deliverNow(app: App, asked: TestDelivery): Promise<TestOutcome> {
  const { tenant, endpoint, event, nowMs, requestId } = asked
  const target = (await loadTargets(app, [{ tenant, endpoint: endpoint.id }])).get(endpoint.id)
  // Deleted meanwhile.
  if (!target) throw noSuchWebhook()
  const startedMs = app.clock.nowMs()
  const delivery: Delivery = {
    tenant,
    id: newUuid(startedMs),
    endpoint: endpoint.id,
    url: null,
    told: { id: idOf('event', event.id), name: event.type, body: event.body, bytes: null },
    resource: event.resource,
    ordered: false,
    attempts: 0,
    createdMs: nowMs,
    dueMs: nowMs,
    clockOffsetMs: nowMs - startedMs,
    jobAttempt: 0,
    startByMs: Number.POSITIVE_INFINITY,
    isTest: true,
    isReplay: false,
    isAskedFor: false,
    trace: app.tracer?.current() ?? app.outbox.traces.of(requestId),
  }
  const attempt = await send(app, target, delivery, delivery.trace)
  const { outcome } = attempt
  const { kind, error } = judge(attempt)
  const { durationMs } = outcome.timing
  const answered = outcome.kind === 'answered' ? outcome : null
  await app.db.query(insertTest, {
    ...tenant,
    id: delivery.id,
    endpoint: endpoint.id,
    eventId: event.id,
    event: event.type,
    resource: event.resource,
    status: kind === 'delivered' ? 'delivered' : 'failed',
    at: new Date(nowMs),
    deliveredAt: kind === 'delivered' ? new Date(nowMs + durationMs) : null,
    error,
    responseStatus: answered?.status ?? null,
    durationMs,
    body: event.body,
    log: logEntry(delivery, attempt, error),
  })
  return {
    id: delivery.id,
    delivered: kind === 'delivered',
    status: answered?.status ?? null,
    durationMs,
    body: answered?.body ?? null,
    error,
  }
}
