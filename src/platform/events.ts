// SPDX-License-Identifier: Apache-2.0
// The outbox. An event is written in the transaction of the change it tells of, with the exact body customers receive,
// so that nothing that happened goes untold and nothing is told that did not happen.
import type { Static, TSchema } from 'typebox'
import { type Id, idOf, newUuid } from '../kernel/ids.ts'
import { maybe, type Queryable, statement } from './db.ts'
import { serialiser } from './json.ts'
import type { Window } from './page.ts'
import type { Tenant } from './tenant.ts'

/** A kind of event an area tells customers of, with its payload and a sample of it. */
export interface EventType<S extends TSchema = TSchema> {
  /** `area.thing_happened`. */
  readonly name: string
  readonly summary: string
  readonly payload: S
  readonly sample: Static<S>
  body(eventId: Id<'event'>, at: Date, payload: Static<S>): string
}

export function eventType<S extends TSchema>(declaration: Omit<EventType<S>, 'body'>): EventType<S> {
  const write = serialiser(declaration.payload)
  const head = `{"event":${JSON.stringify(declaration.name)}`
  return {
    ...declaration,
    body: (eventId, at, payload) => {
      const fields = write(payload).slice(1, -1)
      return `${head},"event_id":"${eventId}","timestamp":"${at.toISOString()}"${fields && `,${fields}`}}`
    },
  }
}

const insert = statement<
  {
    bucket: number
    account: string
    environment: string
    id: string
    type: string
    resource: string
    body: string
    request: string | null
  },
  object
>(
  'events.emit',
  `select events.emit(array[row($bucket::smallint, $account::uuid, $environment::text, $id::uuid, $type::text,
                                 $resource::text, $body::text, $request::text)::events.event_item])`,
)

/** Tells of a change, inside the transaction that makes it. */
export async function emit<S extends TSchema>(
  tx: Queryable,
  type: EventType<S>,
  at: { tenant: Tenant; receivedMs: number; nowMs: number; requestId: string | null },
  resourceId: string,
  payload: Static<S>,
): Promise<void> {
  const id = newUuid(at.receivedMs)
  const body = type.body(idOf('event', id), new Date(at.nowMs), payload)
  await tx.query(insert, { ...at.tenant, id, type: type.name, resource: resourceId, body, request: at.requestId })
}

export interface EventRow {
  id: string
  type: string
  resource_id: string
  body: string
  request_id: string | null
}

type TenantParameters = { bucket: number; account: string; environment: string }

const list = statement<
  TenantParameters & {
    from: string
    to: string
    type: string | null
    resource: string | null
    after: string | null
    descending: boolean
    limit: number
  },
  EventRow
>(
  'events.list',
  `select id, type, resource_id, body, request_id from events.events
    where bucket = $bucket and account_id = $account and environment = $environment and id >= $from and id < $to
      and ($type::text is null or type = $type) and ($resource::text is null or resource_id = $resource)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

const find = statement<TenantParameters & { id: string }, EventRow>(
  'events.find',
  `select id, type, resource_id, body, request_id from events.events
    where bucket = $bucket and account_id = $account and environment = $environment and id = $id`,
)

export async function listEvents(
  queryable: Queryable,
  tenant: Tenant,
  window: Window,
  filter: { from: string; to: string; type: string | null; resource: string | null },
): Promise<EventRow[]> {
  return queryable.query(list, { ...tenant, ...window, ...filter })
}

export async function findEvent(queryable: Queryable, tenant: Tenant, id: string): Promise<EventRow | null> {
  return maybe(queryable.query(find, { ...tenant, id }))
}
