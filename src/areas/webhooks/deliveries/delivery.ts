// SPDX-License-Identifier: Apache-2.0
// One delivery: the request that is made for it, what its outcome means, and how that is stored. The dispatcher decides
// when; here is what.
import { Type } from 'typebox'
import { type Id, idOf, newUuid, nilUuid } from '../../../kernel/ids.ts'
import { momentText } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { operation, type RowOf } from '../../../platform/commit.ts'
import { statement } from '../../../platform/db.ts'
import type { Due, DueCallback } from '../../../platform/events.ts'
import type { OutboundError } from '../../../platform/outbound/dial.ts'
import { type Outcome, usualAnswerBytes } from '../../../platform/outbound/exchange.ts'
import type { Environment, Tenant } from '../../../platform/tenant.ts'
import type { Trace } from '../../../platform/tracing.ts'
import type { Job } from '../../../platform/work.ts'
import { noSuchWebhook } from '../endpoints/endpoint.ts'
import { deliverLane, durationBounds } from '../endpoints/health.ts'
import { inForce } from '../endpoints/secrets.ts'
import type { EndpointRow } from '../store.ts'
import { bodyBytes } from './body.ts'
import { nextAttemptMs, retryAfterMs } from './retries.ts'
import { signatureHeaders } from './signature.ts'
import { loadTargets, type Target } from './targets.ts'

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
  /** Where to, when it is not an endpoint's. */
  readonly url: string | null
  readonly told: Told
  /** What the event is about. */
  readonly resource: string
  readonly ordered: boolean
  /** Attempts made before. */
  readonly attempts: number
  readonly createdMs: number
  readonly dueMs: number
  readonly clockOffsetMs: number
  /** Of the job, which fences what is stored. */
  jobAttempt: number
  /** By performance.now(): later the lease would end before the attempt does. */
  readonly startByMs: number
  readonly isTest: boolean
  readonly isReplay: boolean
  readonly trace: Trace | null
  /** When the attempt began, by the real clock. */
  sentMs: number
  /** A sentence about what the answer asked for and did not get. */
  remark: string | null
}

/** How long a delivery that fell due is leased to the node that takes it. */
export const claimLeaseSeconds = 30

/** What the table has in place of an endpoint for what goes to a callback URL, and what the job has in place of it. */
const noEndpoint = nilUuid
export const callbackKey = 'callback'

type DeliveryError = OutboundError | 'GONE' | 'HTTP_STATUS' | 'ABORTED'

export interface Judgement {
  readonly kind: 'delivered' | 'retry' | 'failed'
  readonly error: DeliveryError | null
}

/** What an outcome means for the delivery. */
export function judge(outcome: Outcome): Judgement {
  if (outcome.kind === 'failed')
    return { kind: outcome.error === 'ADDRESS_BLOCKED' ? 'failed' : 'retry', error: outcome.error }
  const { status, headers } = outcome
  if (status >= 200 && status < 300) return { kind: 'delivered', error: null }
  if (status === 410) return { kind: 'failed', error: 'GONE' }
  if (headers['webhook-delivery']?.trim().toLowerCase() === 'abort') return { kind: 'failed', error: 'ABORTED' }
  return { kind: 'retry', error: 'HTTP_STATUS' }
}

/** Makes the request of one attempt. */
export function send(
  app: App,
  target: Target,
  delivery: Delivery,
  trace: Trace | null,
  maxAnswerBytes = usualAnswerBytes,
): Promise<Outcome> {
  const { told, tenant } = delivery
  delivery.sentMs = app.clock.nowMs()
  told.bytes ??= bodyBytes(told.body, resourceUrl(app, told))
  return app.outbound.send({
    use: target.use,
    environment: tenant.environment,
    pool: delivery.endpoint ?? tenant.account,
    url: target.url ?? delivery.url ?? '',
    method: 'POST',
    headers: requestHeaders(target, delivery, told.bytes, delivery.sentMs, trace),
    body: told.bytes,
    maxAnswerBytes,
    connections: target.limit,
  })
}

export function resourceUrl(app: App, { id }: Pick<Told, 'id'>): string {
  return `${app.publicUrl}/api/v1/events/${id}`
}

type Sent = Pick<Delivery, 'id' | 'told' | 'attempts' | 'clockOffsetMs' | 'isTest' | 'isReplay'>

/** Pairs in a flat list. `nowMs` is the real time, by which receivers judge how old a request is. */
export function requestHeaders(
  target: Target,
  { id, told, attempts, clockOffsetMs, isTest, isReplay }: Sent,
  body: Buffer,
  nowMs: number,
  trace: Trace | null,
): string[] {
  const { current, next } = inForce(target, nowMs + clockOffsetMs)
  const headers = signatureHeaders({
    eventId: told.id,
    timestampSeconds: Math.floor(nowMs / 1_000),
    body,
    isMessenger: told.name.startsWith('messenger.'),
    current,
    next,
  })
  headers.push(
    'Content-Type',
    'application/json; charset=utf-8',
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
  if (trace) headers.push('traceparent', `00-${trace.traceId}-${trace.spanId}-0${trace.traceFlags & 1}`)
  for (const part of target.headers) headers.push(part)
  return headers
}

// What is stored ----------------------------------------------------------------------------------------------------

export const finish = operation(
  'webhooks.finish',
  {
    bucket: 'smallint',
    account: 'uuid',
    environment: 'text',
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

/** Leaves a delivery to later, without an attempt, for as long as what it waits for is not over. */
export const putBack = operation(
  'webhooks.put_back',
  {
    bucket: 'smallint',
    account: 'uuid',
    environment: 'text',
    id: 'uuid',
    endpoint: 'uuid',
    attempt: 'int',
    delay_ms: 'bigint',
    resource: 'text',
  },
  { waits: 'boolean' },
)

export type Finished = RowOf<(typeof finish)['takes']>

/** What to store of an attempt that ended at `atMs`, the account's time; `nowMs` is the real one. */
export function finished(
  delivery: Delivery,
  outcome: Outcome,
  { kind, error }: Judgement,
  { atMs, nowMs, random, state }: { atMs: number; nowMs: number; random: number; state: 'failing' | 'healthy' | null },
): Finished {
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
    // Nobody reads a log of callbacks.
    log: delivery.endpoint === null ? null : logEntry(delivery, outcome, error),
    resource: delivery.ordered ? delivery.resource : null,
    state,
  }
}

/** What to store of a delivery whose endpoint is gone, or was disabled for too long. */
export function cancelled(delivery: Delivery, atMs: number): Finished {
  return {
    ...delivery.tenant,
    id: delivery.id,
    endpoint: delivery.endpoint ?? noEndpoint,
    attempt: delivery.jobAttempt,
    status: 'cancelled',
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

/** One attempt, as it is stored. */
export interface LogEntry {
  attempt: number
  /** Seconds since 1970 by the real clock, as the request said. */
  timestamp: number
  at: string
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

function logEntry(
  { attempts, sentMs, clockOffsetMs, remark }: Delivery,
  outcome: Outcome,
  error: DeliveryError | null,
): string {
  const { timing, ip } = outcome
  const answered = outcome.kind === 'answered' ? outcome : null
  const entry: LogEntry = {
    attempt: attempts + 1,
    timestamp: Math.floor(sentMs / 1_000),
    at: momentText(new Date(sentMs + clockOffsetMs)),
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

/** As much of an answer as the log keeps. */
function shortened(body: string): string {
  const bytes = Buffer.from(body)
  if (bytes.length <= usualAnswerBytes) return body
  return new TextDecoder().decode(bytes.subarray(0, usualAnswerBytes), { stream: true })
}

// Due deliveries -------------------------------------------------------------------------------------------------

/** A callback is all in its job; the job of any other delivery has its id and nothing else. */
const Payload = Type.Object({
  callback: Type.Optional(
    Type.Object({
      event: Type.String(),
      name: Type.String(),
      resource: Type.String(),
      url: Type.String(),
      created_ms: Type.Integer(),
      next_ms: Type.Integer(),
      attempts: Type.Integer(),
    }),
  ),
})

/** Whatever becomes of a delivery, the courier settles. */
export const deliver: Job<App, typeof Payload> = {
  lane: deliverLane,
  role: 'webhooks',
  payload: Payload,
  concurrency: 200,
  leaseSeconds: claimLeaseSeconds,
  retrySeconds: [],
  room: ({ courier }) => courier.room(),
  async handle({ courier }, { id, tenant, key, attempt, payload }) {
    if (!tenant || key === null) throw new Error('a delivery belongs to an account and an address')
    courier.take({ id, tenant, key, attempt, callback: payload.callback ?? null })
    return { kind: 'settled' }
  },
}

export interface StoredDelivery {
  id: string
  endpoint_id: string
  url: string | null
  event_id: string
  event: string
  resource_id: string
  status: string
  ordered: boolean
  attempts: number
  created_at: Date
  next_attempt_at: Date | null
  test: boolean
  replay_of: string | null
  body: string | null
  clock_offset_ms: bigint
  /** An older delivery about the same thing is not over yet. */
  behind: boolean
}

const load = statement<
  {
    buckets: readonly number[]
    accounts: readonly string[]
    environments: readonly string[]
    ids: readonly string[]
    endpoints: readonly string[]
  },
  StoredDelivery
>(
  'webhooks.load_deliveries',
  `with due as materialized (
     select d.bucket, d.account_id, d.environment, d.id, d.endpoint_id, d.url, d.event_id, d.event, d.resource_id, d.status,
            d.ordered, d.attempts, d.created_at, d.next_attempt_at, d.test, d.replay_of, d.body,
            d.ordered and exists (
              select from webhooks.deliveries o
               where o.bucket = d.bucket and o.account_id = d.account_id and o.environment = d.environment
                 and o.endpoint_id = d.endpoint_id and o.resource_id = d.resource_id and o.ordered and o.id < d.id
                 and o.status in ('pending', 'delivering')) as behind
       from unnest($buckets::smallint[], $accounts::uuid[], $environments::text[], $ids::uuid[], $endpoints::uuid[])
         as w(bucket, account, environment, id, endpoint)
       join webhooks.deliveries d
         on d.bucket = w.bucket and d.account_id = w.account and d.environment = w.environment and d.id = w.id
        and d.endpoint_id = w.endpoint
   ), clocks as materialized (
     select account_id, environment, accounts.clock_offset_ms(account_id, environment) as offset_ms
       from (select distinct account_id, environment from due) a
   )
   select d.id, d.endpoint_id, d.url, d.event_id, d.event, d.resource_id, d.status, d.ordered, d.attempts, d.created_at,
          d.next_attempt_at, d.test, d.replay_of, d.behind, coalesce(d.body, e.body) as body,
          c.offset_ms as clock_offset_ms
     from due d
     join clocks c on c.account_id = d.account_id and c.environment = d.environment
     left join events.bodies((select array_agg(bucket) from due), (select array_agg(account_id) from due),
                             (select array_agg(environment) from due), (select array_agg(event_id) from due)) e
       on e.event_id = d.event_id`,
)

/** What a callback needs beside what its job has. */
const loadTold = statement<
  {
    buckets: readonly number[]
    accounts: readonly string[]
    environments: readonly string[]
    events: readonly string[]
  },
  { event_id: string; body: string; clock_offset_ms: bigint }
>(
  'webhooks.load_told',
  `select distinct e.event_id, e.body, accounts.clock_offset_ms(w.account, w.environment) as clock_offset_ms
     from unnest($buckets::smallint[], $accounts::uuid[], $environments::text[], $events::uuid[])
       as w(bucket, account, environment, event)
     join events.bodies($buckets, $accounts, $environments, $events) e on e.event_id = w.event`,
)

/** Reads deliveries that fell due. */
export async function loadDeliveries(app: Pick<App, 'db'>, jobs: readonly Due[]): Promise<StoredDelivery[]> {
  const toEndpoints = jobs.filter(({ callback }) => callback === null)
  const callbacks = jobs.filter(({ callback }) => callback !== null)
  const read = await Promise.all([
    toEndpoints.length === 0
      ? []
      : app.db.query(load, {
          ...tenantsOf(toEndpoints),
          ids: toEndpoints.map(({ id }) => id),
          endpoints: toEndpoints.map(({ key }) => key),
        }),
    callbacks.length === 0 ? [] : loadCallbacks(app, callbacks),
  ])
  return read.flat()
}

async function loadCallbacks(app: Pick<App, 'db'>, jobs: readonly Due[]): Promise<StoredDelivery[]> {
  const events = jobs.flatMap(({ callback }) => (callback ? [callback.event] : []))
  const rows = await app.db.query(loadTold, { ...tenantsOf(jobs), events })
  const told = new Map(rows.map((row) => [row.event_id, row]))
  return jobs.flatMap(({ id, callback }) => {
    const row = callback && told.get(callback.event)
    return row ? [callbackOf(id, callback, row)] : []
  })
}

function callbackOf(
  id: string,
  { event, name, resource, url, created_ms, next_ms, attempts }: DueCallback,
  { body, clock_offset_ms }: { body: string; clock_offset_ms: bigint },
): StoredDelivery {
  return {
    id,
    endpoint_id: noEndpoint,
    url,
    event_id: event,
    event: name,
    resource_id: resource,
    status: 'pending',
    ordered: false,
    attempts,
    created_at: new Date(created_ms),
    next_attempt_at: new Date(next_ms),
    test: false,
    replay_of: null,
    body,
    clock_offset_ms,
    behind: false,
  }
}

function tenantsOf(jobs: readonly Due[]) {
  return {
    buckets: jobs.map(({ tenant }) => tenant.bucket),
    accounts: jobs.map(({ tenant }) => tenant.account),
    environments: jobs.map(({ tenant }) => tenant.environment),
  }
}

// A test ------------------------------------------------------------------------------------------------------------

const insertTest = statement<
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
}

export interface TestOutcome {
  id: string
  delivered: boolean
  status: number | null
  durationMs: number
  body: string | null
  error: DeliveryError | null
}

/** One attempt, now, whatever state the endpoint is in. It is logged and never repeated. */
export async function deliverNow(app: App, { tenant, endpoint, event, nowMs }: TestDelivery): Promise<TestOutcome> {
  const target = (await loadTargets(app, [{ tenant, endpoint: endpoint.id }])).get(endpoint.id)
  // It was there a moment ago.
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
    trace: app.tracer?.current() ?? null,
    sentMs: startedMs,
    remark: null,
  }
  const outcome = await send(app, target, delivery, delivery.trace)
  const { kind, error } = judge(outcome)
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
    log: logEntry(delivery, outcome, error),
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
