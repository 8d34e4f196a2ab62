// SPDX-License-Identifier: Apache-2.0
// Outcome of an attempt, as it is stored: the state of its delivery, the next attempt, and a line of the log.
import { nilUuid } from '../../../kernel/ids.ts'
import { momentText } from '../../../kernel/time.ts'
import { operation, type RowOf } from '../../../platform/commit.ts'
import { type Outcome, usualAnswerBytes } from '../../../platform/outbound/exchange.ts'
import { tenantColumns } from '../../../platform/tenant.ts'
import { durationBounds } from '../endpoints/health.ts'
import { nextAttemptMs, retryAfterMs } from '../retries.ts'
import type { Attempt, Delivery, DeliveryError, Judgement } from './delivery.ts'

/** Value in place of an endpoint's id for deliveries to a callback URL. */
export const noEndpoint = nilUuid

export const finish = operation.tenant(
  'webhooks.finish',
  {
    ...tenantColumns,
    id: 'uuid',
    endpoint: 'uuid',
    attempt: 'int',
    status: 'text',
    attempts: 'smallint',
    at: 'timestamptz',
    next_at: 'timestamptz',
    delay_ms: 'bigint',
    error: 'text',
    response_status: 'smallint',
    duration_ms: 'int',
    slot: 'smallint',
    log: 'text',
    resource: 'text',
    state: 'text',
  },
  { failing: 'boolean' },
)

/** Ends a callback that was heard. */
export const heard = operation.tenant('webhooks.told', { bucket: 'smallint', id: 'uuid' }, { told: 'boolean' })

/** Leaves a delivery to later, without an attempt, for as long as what it waits for is not over. */
export const putBack = operation.tenant(
  'webhooks.put_back',
  {
    ...tenantColumns,
    id: 'uuid',
    endpoint: 'uuid',
    attempt: 'int',
    delay_ms: 'bigint',
    resource: 'text',
  },
  { waits: 'boolean' },
)

export type Finished = RowOf<(typeof finish)['takes']>

/** Item to store for an attempt that ended at `atMs`, the account's time; `nowMs` is the real one. */
export function finished(
  delivery: Delivery,
  attempt: Attempt,
  { kind, error }: Judgement,
  { atMs, nowMs, random, state }: { atMs: number; nowMs: number; random: number; state: 'failing' | 'healthy' | null },
): Finished {
  const { outcome } = attempt
  const attempts = delivery.attempts + 1
  const nextMs =
    kind === 'retry'
      ? nextAttemptMs({
          attempts,
          createdMs: delivery.createdMs,
          failedMs: atMs,
          askedForMs: askedForMs(outcome, atMs, nowMs),
          random,
        })
      : null
  const status = kind === 'delivered' ? 'delivered' : nextMs === null ? 'failed' : 'pending'
  return {
    bucket: delivery.tenant.bucket,
    account: delivery.tenant.account,
    environment: delivery.tenant.environment,
    id: delivery.id,
    endpoint: delivery.endpoint ?? noEndpoint,
    attempt: delivery.jobAttempt,
    status,
    attempts,
    at: new Date(atMs),
    next_at: nextMs === null ? null : new Date(nextMs),
    delay_ms: nextMs === null ? null : BigInt(Math.max(0, Math.round(nextMs - atMs))),
    error,
    response_status: outcome.kind === 'answered' ? outcome.status : null,
    duration_ms: outcome.timing.durationMs,
    slot: kind === 'delivered' ? slotOf(outcome.timing.durationMs) : null,
    // Callbacks have no log.
    log: delivery.endpoint === null ? null : logEntry(delivery, attempt, error),
    resource: delivery.ordered ? delivery.resource : null,
    state,
  }
}

/**
 * Outcome of a delivery that ends without another attempt: cancelled, because its endpoint is gone or was disabled for
 * too long, or failed, because its endpoint was paused for as long as retries last.
 */
export function givenUp(delivery: Delivery, status: 'cancelled' | 'failed', atMs: number): Finished {
  return {
    ...delivery.tenant,
    id: delivery.id,
    endpoint: delivery.endpoint ?? noEndpoint,
    attempt: delivery.jobAttempt,
    status,
    attempts: delivery.attempts,
    at: new Date(atMs),
    next_at: null,
    delay_ms: null,
    error: null,
    response_status: null,
    duration_ms: null,
    slot: null,
    log: null,
    resource: delivery.ordered ? delivery.resource : null,
    state: null,
  }
}

function askedForMs(outcome: Outcome, atMs: number, nowMs: number): number | null {
  if (outcome.kind !== 'answered' || (outcome.status !== 429 && outcome.status !== 503)) return null
  const waitMs = retryAfterMs(outcome.headers['retry-after'], nowMs)
  return waitMs === null ? null : atMs + waitMs
}

/** The place of a duration among webhooks.hours.durations. */
function slotOf(durationMs: number): number {
  let slot = 0
  while (slot < durationBounds.length && durationMs >= (durationBounds[slot] ?? 0)) slot++
  return slot
}

/** Attempt as it is stored. */
export interface LogEntry {
  attempt: number
  /** Seconds since 1970 by the real clock, as the request said. */
  timestamp: number
  at: string
  /** Attempts of before it was kept have none. */
  url?: string
  status: number | null
  duration_ms: number
  dns_ms: number | null
  connect_ms: number | null
  tls_ms: number | null
  ip: string | null
  error: DeliveryError | null
  /** A sentence about an attempt that got no answer, or whose answer asked for what could not be done. */
  reason: string | null
  response_headers: Record<string, string> | null
  response_body: string | null
}

export function logEntry(
  { attempts, clockOffsetMs }: Delivery,
  { sentMs, sentTo, outcome, remark }: Attempt,
  error: DeliveryError | null,
): string {
  const { timing, ip } = outcome
  const answered = outcome.kind === 'answered' ? outcome : null
  const entry: LogEntry = {
    attempt: attempts + 1,
    timestamp: Math.floor(sentMs / 1_000),
    at: momentText(new Date(sentMs + clockOffsetMs)),
    url: sentTo,
    status: answered?.status ?? null,
    duration_ms: timing.durationMs,
    dns_ms: timing.dnsMs,
    connect_ms: timing.connectMs,
    tls_ms: timing.tlsMs,
    ip,
    error,
    reason: outcome.kind === 'failed' ? outcome.reason : remark,
    response_headers: answered?.headers ?? null,
    response_body: answered && shortened(answered.body),
  }
  return JSON.stringify(entry)
}

/** Answer cut to what the log keeps. */
function shortened(body: string): string {
  const bytes = Buffer.from(body)
  if (bytes.length <= usualAnswerBytes) return body
  return new TextDecoder().decode(bytes.subarray(0, usualAnswerBytes), { stream: true })
}
