// SPDX-License-Identifier: Apache-2.0
// Events: everything that happened to an account's resources, delivered or not.
import { Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { idOf, timeOfUuid, uuidOf } from '../../kernel/ids.ts'
import { IdParam, list, read } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import type { Caller } from '../../platform/auth.ts'
import { toldBody } from '../../platform/events/sealed.ts'
import { knownEvent } from '../../platform/events/tail.ts'
import { type DatedEventRow, findEvent, listEvents } from '../../platform/events.ts'
import { At, dayRangeQuery, listQuery, Nullable, OneOf, timeWindowQuery } from '../../platform/schema/fields.ts'
import {
  type DayRange,
  type ListQuery,
  pageOf,
  type ShownBounds,
  shownBetween,
  shownBounds,
  timeWindow,
  type Window,
  windowOf,
} from '../../platform/schema/lists.ts'
import { sealedChore } from './retention.ts'
import { eventsStream, heardBy } from './stream.ts'
import { eventsTrigger } from './trigger.ts'

const EventRecord = Type.Object(
  {
    id: Type.String({ description: 'Id of the event, such as `evt_…`' }),
    event: Type.String({ description: 'Name in the event catalogue' }),
    resource_id: Type.String({ description: 'Id of the resource that the event is about' }),
    created_at: At({ description: 'Unique id of the event; repeated deliveries carry the same one' }),
    request_id: Nullable(Type.String({ description: 'Id of the request that caused it' })),
    payload: Type.Unknown({ sensitive: true, description: 'Payload that subscribers receive' }),
  },
  { title: 'Event' },
)

const DeliveryOfEvent = Type.Object({
  id: Type.String({ description: 'Id of the delivery, such as `dlv_…`' }),
  webhook_id: Type.String({ description: 'Id of the webhook it is sent to' }),
  status: OneOf(['pending', 'delivering', 'delivered', 'failed', 'cancelled'], {
    description: '`failed` once no further attempt is made',
  }),
  attempts: Type.Integer({ description: 'Number of attempts' }),
  delivered_at: Nullable(At({ description: 'Time of acceptance by the endpoint; null without one' })),
  next_attempt_at: Nullable(At({ description: 'Time of the next attempt; null if there is none' })),
  last_error: Nullable(Type.String({ description: 'Error code such as HTTP_STATUS or TIMEOUT' })),
  response_status: Nullable(Type.Integer({ description: 'Last HTTP status of the endpoint, such as 503' })),
})

const EventDetail = Type.Object(
  {
    ...EventRecord.properties,
    deliveries: Type.Array(DeliveryOfEvent, {
      description: 'Deliveries to webhooks, with their results; repeated ones are in the logs of the webhooks',
    }),
  },
  { title: 'EventDetail' },
)

const eventsList = list({
  path: '/v1/events',
  operation: 'events.list',
  summary: 'List events',
  description:
    'Lists each change once, under its general name: a delivered text is `sms.status`, or `sms.delivered` with `event=sms.delivered`. With `after`, lists the events after that one, oldest first: continue with the id of the last one. A slow request may add an event before one that you have received; to miss none, read again from a few seconds earlier and skip known ids, or use the stream.',
  scope: 'events:read',
  query: Type.Object({
    ...listQuery,
    ...timeWindowQuery,
    ...dayRangeQuery,
    event: Type.Optional(
      Type.String({
        maxLength: 60,
        description: 'Filter by event name or pattern, such as `sms.*`',
      }),
    ),
    resource_id: Type.Optional(Type.String({ maxLength: 100, description: 'Filter by id of the resource' })),
    after: Type.Optional(Type.String({ maxLength: 60, description: 'Only events after the one with this id' })),
  }),
  row: EventRecord,
  errors: ['INVALID_DATE_RANGE', 'INVALID_EVENT'],
  examples: [{ name: 'The latest events', query: { limit: 10 } }],
  handle: async (app, { query }, caller) => {
    const { db, catalogue } = app
    const window = query.after === undefined ? windowOf(query) : windowAfter(query, query.after)
    const heard = heardBy(catalogue, query.event === undefined ? undefined : [query.event], 'event')
    const filter = { ...boundsOf(query, caller), ...heard, resource: query.resource_id ?? null }
    const rows = await listEvents(db, caller.tenant, window, filter)
    return pageOf(window, await Promise.all(rows.map((row) => told(app, caller, row))), eventRecord)
  },
})

const eventGet = read({
  method: 'GET',
  path: '/v1/events/:id',
  operation: 'events.get',
  summary: 'Get an event and its deliveries',
  scope: 'events:read',
  params: IdParam,
  reply: { status: 200, schema: EventDetail },
  errors: ['NOT_FOUND'],
  examples: [{ name: 'An event' }],
  needs: { operation: 'events.list', id: 'data.0.id', after: { operation: 'apiKeys.revoke' } },
  handle: async (app, { params }, caller) => {
    const { db, courier } = app
    const uuid = uuidOf('event', params.id)
    const found = uuid && (await findEvent(db, caller.tenant, uuid))
    if (!found) throw new AppError('NOT_FOUND', 'there is no such event; event ids begin with evt_')
    return {
      ...eventRecord(await told(app, caller, found)),
      deliveries: [...(await courier.deliveriesOf(caller, uuid))],
    }
  },
})

/** The window of time that is asked for, in the words of a webhook's deliveries or in those of other lists. */
function boundsOf(query: DayRange & { from?: string; to?: string }, caller: Caller): ShownBounds {
  const { from, to, start_date, end_date } = query
  if (from === undefined && to === undefined) return shownBounds(query, caller)
  if (start_date !== undefined || end_date !== undefined)
    throw new AppError(
      'INVALID_REQUEST',
      'from and to stand in place of start_date and end_date: give one or the other',
    )
  return shownBetween(timeWindow(query), caller)
}

/** Window after an event: the start of the following page. */
function windowAfter(query: ListQuery, after: string): Window {
  if (query.order === 'desc')
    throw new AppError('INVALID_REQUEST', 'order cannot be combined with after, which sorts oldest first')
  const known = knownEvent(after)
  const window = windowOf({ ...query, order: 'asc' })
  return { ...window, after: window.after ?? known }
}

/** Event with its body as it is told. */
async function told(app: App, { tenant }: Caller, row: DatedEventRow): Promise<DatedEventRow> {
  return { ...row, body: await toldBody(app, tenant, row) }
}

function eventRecord({ id, type, resource_id, body, request_id, created_at }: DatedEventRow) {
  return {
    id: idOf('event', id),
    event: type,
    resource_id,
    created_at: created_at ?? timeOfUuid(id),
    request_id,
    payload: JSON.parse(body),
  }
}

export const events: Area = {
  name: 'events',
  tools: { named: ['events.list'] },
  chapters: {
    events: { title: 'Events', about: 'All events, as a list and as a stream.' },
  },
  scopes: [scopeArea('events')],
  routes: [eventsList, eventsStream, eventGet, eventsTrigger],
  chores: [sealedChore],
}
