// SPDX-License-Identifier: Apache-2.0
// One delivery: the request that is made for it, and what its outcome means. The dispatcher decides when; here is what.
import { type Id, idOf } from '../../../kernel/ids.ts'
import { Reply } from '../../../platform/api/dialect.ts'
import type { App } from '../../../platform/app.ts'
import type { NewEvent } from '../../../platform/events.ts'
import type { OutboundError } from '../../../platform/outbound/dial.ts'
import { dialectOf } from '../../../platform/outbound/dialect-url.ts'
import { type Outcome, usualAnswerBytes } from '../../../platform/outbound/exchange.ts'
import { type Trace, traceparentOf } from '../../../platform/telemetry/tracing.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { inDialect } from '../dialects.ts'
import { inForce } from '../endpoints/secrets.ts'
import { bodyBytes } from './body.ts'
import { signatureHeaders } from './signature.ts'
import type { Target } from './targets.ts'

/** An event as its deliveries share it. */
export interface Told {
  readonly id: Id<'event'>
  readonly name: string
  readonly body: string
  /** Made when the first of them is sent. */
  bytes: Buffer | null
}

/** A delivery on its way, in memory. Times are the account's own. */
export interface Delivery {
  readonly tenant: Tenant
  readonly id: string
  readonly endpoint: string | null
  /** URL, when there is no endpoint. */
  readonly url: string | null
  readonly told: Told
  /** Subject of the event. */
  readonly resource: string
  readonly ordered: boolean
  /** Attempts made before. */
  readonly attempts: number
  readonly createdMs: number
  readonly dueMs: number
  readonly clockOffsetMs: number
  /** Attempt of the job, which fences what is stored. */
  jobAttempt: number
  /** Latest start by performance.now(): later, the lease would end before the attempt does. */
  startByMs: number
  readonly isTest: boolean
  readonly isReplay: boolean
  /** Requested by hand: its first attempt is made even if the endpoint does not work. */
  readonly isAskedFor: boolean
  readonly trace: Trace | null
}

/** Finished attempt. */
export interface Attempt {
  /** When it began, by the real clock. */
  readonly sentMs: number
  readonly sentTo: string
  readonly outcome: Outcome
  /** A sentence about what the answer asked for and did not get. */
  readonly remark: string | null
  /** Whether the endpoint has another URL by now than the one that answered 410. */
  readonly hasMoved: boolean
}

/** The delivery of an event that was stored just now. */
export function newDelivery(
  { tenant, nowMs, clockOffsetMs, trace, row }: NewEvent,
  told: Told,
  { id, endpoint, url, ordered, startByMs }: Pick<Delivery, 'id' | 'endpoint' | 'url' | 'ordered' | 'startByMs'>,
): Delivery {
  return {
    tenant,
    id,
    endpoint,
    url,
    told,
    resource: row.resource_id,
    ordered,
    attempts: 0,
    createdMs: nowMs,
    dueMs: nowMs,
    clockOffsetMs,
    jobAttempt: 1,
    startByMs,
    isTest: false,
    isReplay: false,
    isAskedFor: false,
    trace,
  }
}

export type DeliveryError = OutboundError | 'GONE' | 'HTTP_STATUS' | 'ABORTED'

export interface Judgement {
  readonly kind: 'delivered' | 'retry' | 'failed'
  readonly error: DeliveryError | null
}

/** Verdict of an attempt on the delivery. A 410 counts for the URL it was sent to, not for one that the endpoint moved to. */
export function judge({ outcome, hasMoved }: Attempt): Judgement {
  if (outcome.kind === 'failed')
    return { kind: outcome.error === 'ADDRESS_BLOCKED' ? 'failed' : 'retry', error: outcome.error }
  const { status, headers } = outcome
  if (status >= 200 && status < 300) return { kind: 'delivered', error: null }
  if (status === 410 && !hasMoved) return { kind: 'failed', error: 'GONE' }
  if (headers['webhook-delivery']?.trim().toLowerCase() === 'abort') return { kind: 'failed', error: 'ABORTED' }
  return { kind: 'retry', error: 'HTTP_STATUS' }
}

/** Makes the request of one attempt. */
export async function send(
  app: App,
  target: Target,
  delivery: Delivery,
  trace: Trace | null,
  maxAnswerBytes = usualAnswerBytes,
): Promise<Attempt> {
  const { told, tenant } = delivery
  const sentMs = app.clock.nowMs()
  const sentTo = target.url ?? delivery.url ?? ''
  told.bytes ??= bodyBytes(told.body, resourceUrl(app, told))
  const wire = await wireForm(app, delivery, sentTo)
  if (wire === null) return { sentMs, sentTo, outcome: nothingSent, remark: noWords, hasMoved: false }
  const bytes = wire.bytes ?? told.bytes
  const headers = requestHeaders(app, target, delivery, bytes, sentMs, trace, wire.contentType)
  const outcome = await app.outbound.send({
    use: target.use,
    environment: tenant.environment,
    pool: delivery.endpoint ?? tenant.account,
    url: wire.url,
    method: wire.method,
    headers: [...headers, ...renamed(app, wire, headers), ...wire.headers],
    body: wire.method === 'GET' ? null : bytes,
    maxAnswerBytes,
    connections: target.limit,
  })
  return { sentMs, sentTo, outcome: inOwnForm(app, wire, told.name, outcome), remark: null, hasMoved: false }
}

/** Request of an event, in the dialect of the address. */
interface Wire {
  readonly dialect: string | null
  readonly url: string
  readonly method: 'GET' | 'POST'
  /** Null: the event's own bytes. */
  readonly bytes: Buffer | null
  readonly contentType: string
  /** Pairs in a flat list. */
  readonly headers: readonly string[]
}

const ownType = 'application/json; charset=utf-8'
const noWords = 'Not sent: the dialect of this URL has no word for the event.'
const nothingSent: Outcome = {
  ...{ kind: 'answered', status: 204, headers: {}, body: '', truncated: false, bytes: null, ip: '' },
  timing: { durationMs: 0, dnsMs: null, connectMs: null, tlsMs: null },
}

/** Form in which an address is told of an event; null when its dialect has no word for it. */
async function wireForm(app: App, { tenant, told, clockOffsetMs }: Delivery, address: string): Promise<Wire | null> {
  const { dialect, url } = dialectOf(address)
  if (dialect === null) return { dialect: null, url, method: 'POST', bytes: null, contentType: ownType, headers: [] }
  const event = { name: told.name, payload: new Reply(JSON.parse(told.body)) }
  const request = await inDialect(app, tenant, address, event, clockOffsetMs)
  if (request === null) return null
  const { method, contentType, body, headers = {} } = request
  return {
    ...{ dialect, method, contentType, url: request.url },
    bytes: Buffer.from(body),
    headers: Object.entries(headers).flat(),
  }
}

/** Standard signature under the names that the dialect's programs look for. */
function renamed(app: App, { dialect }: Wire, headers: readonly string[]): string[] {
  const like = dialect === null ? undefined : app.dialects.get(dialect)?.signsLike
  if (like === undefined) return []
  return Object.entries(paired(headers)).flatMap(([name, value]) =>
    name.startsWith('webhook-') ? [name.replace('webhook', like), value] : [],
  )
}

/** Answer of a receiver, translated from its dialect. */
function inOwnForm(app: App, { dialect }: Wire, event: string, outcome: Outcome): Outcome {
  const words = dialect === null ? undefined : app.dialects.get(dialect)
  if (!words?.answer || outcome.kind !== 'answered') return outcome
  return { ...outcome, body: words.answer(event, outcome.body) }
}

export function resourceUrl(app: App, { id }: Pick<Told, 'id'>): string {
  return `${app.publicUrl}/api/v1/events/${id}`
}

type Sent = Pick<Delivery, 'id' | 'told' | 'attempts' | 'clockOffsetMs' | 'isTest' | 'isReplay'>

/** Pairs in a flat list. `nowMs` is the real time, by which receivers judge how old a request is. */
export function requestHeaders(
  app: Pick<App, 'catalogue'>,
  target: Target,
  { id, told, attempts, clockOffsetMs, isTest, isReplay }: Sent,
  body: Buffer,
  nowMs: number,
  trace: Trace | null,
  contentType = ownType,
): string[] {
  const { current, next } = inForce(target, nowMs + clockOffsetMs)
  const headers = signatureHeaders({
    eventId: told.id,
    timestampSeconds: Math.floor(nowMs / 1_000),
    body,
    isHubSigned: app.catalogue.find(told.name)?.hubSigned ?? false,
    current,
    next,
  })
  headers.push(
    'Content-Type',
    contentType,
    'User-Agent',
    'Pamoja-Webhooks/1.0',
    'X-Service-Event',
    told.name,
    'X-Service-Event-Id',
    told.id,
    'X-Service-Delivery-Id',
    idOf('delivery', id),
    'X-Service-Attempt',
    `${attempts + 1}`,
  )
  if (isTest) headers.push('X-Service-Test', 'true')
  if (isReplay) headers.push('X-Service-Replay', 'true')
  if (trace) headers.push('traceparent', traceparentOf(trace))
  for (const part of target.headers) headers.push(part)
  return headers
}

/** Flat header list as an object, as the API shows it. */
export function paired(flat: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let i = 0; i + 1 < flat.length; i += 2) headers[flat[i] ?? ''] = flat[i + 1] ?? ''
  return headers
}
