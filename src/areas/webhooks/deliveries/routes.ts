// SPDX-License-Identifier: Apache-2.0
// Routes of the delivery log, and of sending a delivery again.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newIdAndUuid, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { IdParam, list, type Route, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, type Queryable, statement } from '../../../platform/db.ts'
import { toldBody } from '../../../platform/events/sealed.ts'
import type { DeliveryOfEvent } from '../../../platform/events.ts'
import { urlOf } from '../../../platform/outbound/dialect-url.ts'
import { At, listQuery, mask, Nullable, OneOf, timeWindowQuery } from '../../../platform/schema/fields.ts'
import { pageOf, timeWindow, windowOf } from '../../../platform/schema/lists.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import { type Allowance, admit } from '../allowance.ts'
import { requireEnabled, subscriptionOf } from '../endpoints/endpoint.ts'
import { existing } from '../endpoints/register.ts'
import { bodyBytes } from './body.ts'
import { paired, requestHeaders, resourceUrl } from './delivery.ts'
import type { LogEntry } from './finished.ts'
import { keptSince } from './history.ts'
import { redeliver } from './replays.ts'
import { loadTargets } from './targets.ts'

const statuses = ['pending', 'delivering', 'delivered', 'failed', 'cancelled'] as const
type Status = (typeof statuses)[number]

const fields = {
  id: Type.String({ description: 'Id of the delivery, such as `dlv_…`' }),
  webhook_id: Type.String({ description: 'Id of the webhook it is sent to' }),
  event_id: Type.String({ description: 'Id of the event, the same on every attempt, replay and endpoint' }),
  event: Type.String({ description: 'Name of the event, such as `sms.delivered`' }),
  resource_id: Type.String({ description: 'Id of the resource that the event is about' }),
  status: OneOf(statuses, { description: '`failed` once no further attempt is made' }),
  attempts: Type.Integer({ description: 'Number of attempts' }),
  created_at: At({ description: 'Time of the event' }),
  delivered_at: Nullable(At({ description: 'Time of acceptance by the endpoint' })),
  next_attempt_at: Nullable(At({ description: 'Time of the next attempt; null if there is none' })),
  last_error: Nullable(Type.String({ description: 'Error code such as HTTP_STATUS or TIMEOUT' })),
  response_status: Nullable(Type.Integer({ description: 'Last HTTP status of the endpoint, such as 503' })),
  duration_ms: Nullable(Type.Integer({ description: 'Duration of the last attempt in milliseconds' })),
  test: Type.Boolean({ description: 'True if it was sent by POST /v1/webhooks/{id}/test' }),
  replay_of: Nullable(Type.String({ description: 'Id of the delivery that this one repeats' })),
}

const DeliveryRecord = Type.Object(fields, { title: 'Delivery' })

const Attempt = Type.Object({
  attempt: Type.Integer({ description: 'Number of the attempt, from 1' }),
  at: Type.String({ format: 'date-time', description: 'Time of creation' }),
  url: Type.String({ description: 'URL of the webhook at the time of the attempt' }),
  status: Nullable(Type.Integer({ description: 'HTTP status of the answer; null without one' })),
  duration_ms: Type.Integer({ description: 'Total duration in milliseconds' }),
  dns_ms: Nullable(Type.Integer({ description: 'Milliseconds until the name was resolved' })),
  connect_ms: Nullable(Type.Integer({ description: 'Milliseconds until the connection was established' })),
  tls_ms: Nullable(Type.Integer({ description: 'Milliseconds until the TLS handshake was completed' })),
  ip: Nullable(Type.String({ description: 'IP address of the endpoint' })),
  error: Nullable(Type.String({ description: 'Error code such as TIMEOUT; null if it succeeded' })),
  reason: Nullable(Type.String({ description: 'Explanation of the failure' })),
  response_headers: Nullable(Type.Record(Type.String(), Type.String(), { description: 'Headers of the reply' })),
  response_body: Nullable(Type.String({ description: 'Body of the reply, at most 4 KiB' })),
})

const DeliveryDetail = Type.Object(
  {
    ...fields,
    request: Type.Object(
      {
        url: Type.String({ description: 'URL of the request' }),
        headers: Type.Record(Type.String(), Type.String(), {
          description: 'Headers of the request; values of custom headers are masked',
        }),
        body: Nullable(Type.String({ description: 'Signed body; null after the retention period' })),
      },
      { description: 'Request of the delivery' },
    ),
    attempts_log: Type.Array(Attempt, { description: 'Each attempt, oldest first' }),
  },
  { title: 'DeliveryDetail' },
)

const DeliveryParams = Type.Object({
  id: Type.String({ description: 'Id of the webhook' }),
  delivery_id: Type.String({ description: 'Id of the delivery, such as `dlv_…`' }),
})

interface DeliveryRow {
  id: string
  endpoint_id: string
  event_id: string
  event: string
  resource_id: string
  status: Exclude<Status, 'delivering'>
  attempts: number
  created_at: Date
  delivered_at: Date | null
  next_attempt_at: Date | null
  last_error: string | null
  response_status: number | null
  duration_ms: number | null
  test: boolean
  replay_of: string | null
}

const columns = `id, endpoint_id, event_id, event, resource_id, status, attempts, created_at, delivered_at,
  next_attempt_at, last_error, response_status, duration_ms, test, replay_of`
const own = `${mine} and endpoint_id = $endpoint
  and id >= $since`

interface DeliveryFilter {
  endpoint: string
  since: string
  status: Status | null
  sending: readonly string[]
  events: readonly string[] | null
  eventId: string | null
  from: Date | null
  to: Date | null
  resource: string | null
  after: string | null
  descending: boolean
  limit: number
}

/**
 * Pages of deliveries, from a table whose `key` has the order of the list. Whether something is on its way at this moment
 * is known to the node that sends it, not to the table.
 */
const listing = (name: string, from: string, key: string) =>
  statement.tenant<Tenant & DeliveryFilter, DeliveryRow>(
    name,
    `select ${columns} from ${from}
      where ${mine} and endpoint_id = $endpoint and ${key} >= $since
        and (case $status::text when 'delivering' then status = 'pending' and id = any($sending::uuid[])
                                when 'pending' then status = 'pending' and id <> all($sending)
                                else $status is null or status = $status end)
        and ($events::text[] is null or event = any($events))
        and ($eventId::uuid is null or event_id = $eventId) and ($from::timestamptz is null or created_at >= $from)
        and ($to::timestamptz is null or created_at < $to) and ($resource::text is null or resource_id = $resource)
        and ($after::uuid is null or (case when $descending::boolean then ${key} < $after else ${key} > $after end))
      order by case when $descending then ${key} end desc, ${key}
      limit $limit::int + 1`,
  )

const listDeliveries = listing('webhooks.list_deliveries', 'webhooks.deliveries', 'id')

/** Index: failures_pkey. `offset 0` keeps PostgreSQL from reading all deliveries to join them. */
const listFailed = listing(
  'webhooks.list_failed_deliveries',
  `(select id as failed_id from webhooks.failures where ${mine} and endpoint_id = $endpoint) f
   cross join lateral (select * from webhooks.deliveries where ${mine} and id = f.failed_id offset 0) d`,
  'failed_id',
)

const findDelivery = statement.tenant<
  Tenant & { endpoint: string; since: string; id: string },
  DeliveryRow & { log: string; body: string | null }
>(
  'webhooks.find_delivery',
  `select ${columns}, log,
          coalesce(body, (select e.body from events.bodies(array[bucket], array[account_id], array[environment],
                                                           array[event_id]) e)) as body
     from webhooks.deliveries where ${own} and id = $id`,
)

/** The id of a delivery follows from its event's: those of one event lie side by side. */
const findOfEvent = statement.tenant<
  Tenant & { since: string; event: string; first: string; last: string },
  DeliveryRow
>(
  'webhooks.deliveries_of_event',
  `select ${columns} from webhooks.deliveries
    where ${mine} and id >= $since::uuid
      and id >= $first::uuid and id <= $last::uuid and event_id = $event and endpoint_id <> webhooks.no_endpoint()
    order by id`,
)

/** Whom an event was told to, as far back as the caller's plan shows deliveries. */
export async function deliveriesOf(app: App, caller: Caller, event: string): Promise<DeliveryOfEvent[]> {
  const start = event.slice(0, 19)
  const rows = await app.db.query(findOfEvent, {
    ...caller.tenant,
    since: keptSince(caller),
    event,
    first: `${start}8000-000000000000`,
    last: `${start}8fff-ffffffffffff`,
  })
  const sending = app.courier.sending()
  return rows.map((row) => deliveryRecord(row, sending))
}

const deliveriesList = list({
  path: '/v1/webhooks/:id/deliveries',
  operation: 'webhooks.deliveries',
  summary: 'List the deliveries of a webhook',
  scope: 'webhooks:read',
  params: IdParam,
  query: Type.Object({
    ...listQuery,
    status: Type.Optional(
      OneOf(statuses, {
        description:
          'Filter by status; `pending`: awaits its next attempt, `delivering`: in progress, `failed`: no further attempts',
      }),
    ),
    event: Type.Optional(
      Type.String({
        maxLength: 60,
        description: 'Filter by event name or pattern, such as `sms.*`',
      }),
    ),
    event_id: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'Filter by event, such as `evt_…`: one row per delivery to this webhook',
      }),
    ),
    resource_id: Type.Optional(Type.String({ maxLength: 100, description: 'Filter by id of the resource' })),
    ...timeWindowQuery,
  }),
  row: DeliveryRecord,
  errors: ['WEBHOOK_NOT_FOUND', 'INVALID_DATE_RANGE', 'INVALID_EVENT'],
  examples: [{ name: 'Failed deliveries', query: { status: 'failed' } }],
  handle: async (app, { params, query }, caller) => {
    const endpoint = await existing(app.db, params.id, caller)
    const window = windowOf(query)
    const eventId = query.event_id === undefined ? null : uuidOf('event', query.event_id)
    if (query.event_id !== undefined && eventId === null) return { rows: [], nextCursor: null }
    const sending = app.courier.sending()
    const rows = await app.db.query(query.status === 'failed' ? listFailed : listDeliveries, {
      ...caller.tenant,
      ...window,
      ...timeWindow(query),
      endpoint: endpoint.id,
      since: keptSince(caller),
      status: query.status ?? null,
      sending: [...sending],
      events:
        query.event === undefined ? null : app.catalogue.namesOf(subscriptionOf(app.catalogue, [query.event], 'event')),
      eventId,
      resource: query.resource_id ?? null,
    })
    return pageOf(window, rows, (row) => deliveryRecord(row, sending))
  },
})

const deliveryGet = read({
  method: 'GET',
  path: '/v1/webhooks/:id/deliveries/:delivery_id',
  operation: 'webhooks.delivery',
  summary: 'Get a delivery and its attempts',
  scope: 'webhooks:read',
  params: DeliveryParams,
  reply: { status: 200, schema: DeliveryDetail },
  errors: ['WEBHOOK_NOT_FOUND', 'DELIVERY_NOT_FOUND'],
  handle: async (app, { params }, caller) => {
    const endpoint = await existing(app.db, params.id, caller)
    const row = await found(app.db, endpoint.id, params.delivery_id, caller)
    return { ...deliveryRecord(row, app.courier.sending()), ...(await detail(app, row, endpoint, caller)) }
  },
})

const Redelivery = Type.Object(
  {
    delivery_id: Type.String({ description: 'Id of the new delivery' }),
    replay_of: Type.String({ description: 'Id of the repeated delivery' }),
  },
  { title: 'Redelivery' },
)

const redeliveries: Allowance = { name: 'webhook-redeliver', perMinute: 60, what: 'redeliveries' }

const redeliverOne = write({
  method: 'POST',
  path: '/v1/webhooks/:id/deliveries/:delivery_id/redeliver',
  aliases: ['/v1/webhooks/:id/deliveries/:delivery_id/retry'],
  operation: 'webhooks.redeliver',
  summary: 'Redeliver an event',
  description:
    'Sends the same body and event id again as a new delivery with a new signature, regardless of the outcome of the first. It bypasses the circuit breaker and, on ordered webhooks, older deliveries. Once it succeeds, the repeated delivery is marked `delivered` and not retried. Refused for a disabled webhook. At most 60 a minute.',
  scope: 'webhooks:write',
  params: DeliveryParams,
  reply: { status: 200, schema: Redelivery },
  errors: ['WEBHOOK_NOT_FOUND', 'DELIVERY_NOT_FOUND', 'CONFLICT'],
  prepare: async (app, { params }, caller) => admit(app, await existing(app.db, params.id, caller), redeliveries),
  handle: async (app, tx, { params }, caller) => {
    const endpoint = await existing(tx, params.id, caller)
    const row = await found(tx, endpoint.id, params.delivery_id, caller)
    requireEnabled(endpoint)
    const { id, uuid } = newIdAndUuid('delivery', caller.receivedMs)
    await redeliver(tx, caller.tenant, {
      ids: [uuid],
      sources: [row.id],
      endpoint: endpoint.id,
      replay: null,
      at: new Date(caller.nowMs),
    })
    const replay_of = idOf('delivery', row.id)
    await record(tx, caller, 'webhook.redeliver', params.id, { after: { delivery_id: id, replay_of } })
    tx.afterCommit(() => app.work.poke())
    return { delivery_id: id, replay_of }
  },
})

export const deliveryRoutes: readonly Route[] = [deliveriesList, deliveryGet, redeliverOne]

async function found(queryable: Queryable, endpoint: string, id: string, caller: Caller) {
  const uuid = uuidOf('delivery', id)
  const since = keptSince(caller)
  const row = uuid && (await maybe(queryable.query(findDelivery, { ...caller.tenant, endpoint, since, id: uuid })))
  if (!row) throw new AppError('DELIVERY_NOT_FOUND', 'this webhook has no such delivery')
  return row
}

function deliveryRecord(row: DeliveryRow, sending: ReadonlySet<string>): Static<typeof DeliveryRecord> {
  return {
    id: idOf('delivery', row.id),
    webhook_id: idOf('webhook', row.endpoint_id),
    event_id: idOf('event', row.event_id),
    event: row.event,
    resource_id: row.resource_id,
    status: row.status === 'pending' && sending.has(row.id) ? 'delivering' : row.status,
    attempts: row.attempts,
    created_at: row.created_at,
    delivered_at: row.delivered_at,
    next_attempt_at: row.next_attempt_at,
    last_error: row.last_error,
    response_status: row.response_status,
    duration_ms: row.duration_ms,
    test: row.test,
    replay_of: row.replay_of && idOf('delivery', row.replay_of),
  }
}

/** Last request, and the answers of all attempts. The signature is the one of the current secret. */
async function detail(
  app: App,
  row: DeliveryRow & { log: string; body: string | null },
  endpoint: { id: string; url: string },
  { tenant, nowMs, receivedMs }: Caller,
): Promise<Pick<Static<typeof DeliveryDetail>, 'request' | 'attempts_log'>> {
  const entries: LogEntry[] = JSON.parse(`[${row.log}]`)
  const attempts_log = entries.map(({ timestamp: _, url = endpoint.url, ...entry }) => ({ ...entry, url }))
  const target = (await loadTargets(app, [{ tenant, endpoint: endpoint.id }])).get(endpoint.id)
  const sentMs = (entries.at(-1)?.timestamp ?? Math.floor(receivedMs / 1_000)) * 1_000
  const stored = { type: row.event, resource_id: row.resource_id, body: row.body ?? '' }
  const body = await toldBody(app, tenant, stored)
  const told = { id: idOf('event', row.event_id), name: row.event, body, bytes: null }
  const bytes = row.body === null ? null : bodyBytes(body, resourceUrl(app, told))
  const sent = {
    id: row.id,
    told,
    attempts: Math.max(0, row.attempts - 1),
    clockOffsetMs: nowMs - receivedMs,
    isTest: row.test,
    isReplay: row.replay_of !== null,
  }
  const pairs = target && bytes ? requestHeaders(app, { ...target, headers: [] }, sent, bytes, sentMs, null) : []
  const masked = (target?.headers ?? []).map((part, i) => (i % 2 === 0 ? part : mask))
  return {
    request: {
      url: attempts_log.at(-1)?.url ?? urlOf(endpoint.url),
      headers: paired([...pairs, ...masked]),
      body: bytes?.toString() ?? null,
    },
    attempts_log,
  }
}
