// SPDX-License-Identifier: Apache-2.0
// Event outbox. An event is written in the transaction of its change, with the exact webhook body, so that every change
// is reported and none that did not happen.
import type { Static, TSchema } from 'typebox'
import { type Id, idOf, newIdAndUuid, twinOf } from '../kernel/ids.ts'
import { momentText } from '../kernel/time.ts'
import { serialiser } from './api/json.ts'
import type { Caller } from './auth.ts'
import type { Clock } from './clock.ts'
import { encodeItems, type RowIn, rowType } from './commit/row-encoding.ts'
import { maybe, one, type Queryable, statement, type Tx } from './db.ts'
import type { ShownBounds, Window } from './schema/lists.ts'
import { type Trace, TraceCache, type Tracer } from './telemetry/tracing.ts'
import type { Tenant } from './tenant.ts'

/** Event type of an area, with payload schema and sample. */
export interface EventType<S extends TSchema = TSchema> {
  /** Name, `area.thing_happened`. */
  readonly name: string
  /** Aliases for subscriptions. Several events may share one, which then stands for all. */
  readonly aliases?: readonly string[]
  /** Broader event for the same change; subscribers to it do not get both. */
  readonly within?: string
  readonly summary: string
  readonly head: Head
  /** Deliveries also carry x-hub-signature-256, for receivers of another platform's events. */
  readonly hubSigned?: boolean
  /** Object of the payload that is stored encrypted, and wiped a day later. */
  readonly sealed?: string
  /** Person it tells of, for the record of customers; null where it tells of nobody. */
  person?(payload: Static<S>): Person | null
  readonly payload: S
  readonly sample: Static<S>
  body(eventId: Id<'event'>, at: Date, payload: Static<S>): string
}

/** Person whom an event is about, by phone number or else by email address. */
export interface Person {
  readonly phone?: string | null | undefined
  readonly email?: string | null | undefined
  readonly name?: string | null | undefined
  /** Whether they wrote, called, dialled or paid; false where the account turned to them. */
  readonly isInbound: boolean
  /** What they wrote, for conversations; none where they called, dialled or paid. */
  readonly said?: Said
}

/** Words of a person that arrived on a channel. */
interface Said {
  readonly channel: 'sms' | 'messenger' | 'email'
  /** Id of the message. */
  readonly id: string
  /** Text; null for a file, a place and the like. */
  readonly text: string | null
  /** Number or sender of the account that they wrote to. */
  readonly line: string
}

/**
 * Members before the payload: name → content. `name` is the event's name, `action` the part after the area, `id` the
 * event's id, `at` the time. The id is always included, so that receivers can detect repeats.
 */
export type Head = Readonly<Record<string, 'name' | 'action' | 'id' | 'at'>> & { readonly event_id: 'id' }

const usualHead: Head = { event: 'name', event_id: 'id', timestamp: 'at' }

type EventDeclaration<S extends TSchema> = Omit<EventType<S>, 'head' | 'body'> & { readonly head?: Head }

export function eventType<S extends TSchema>(declaration: EventDeclaration<S>): EventType<S> {
  const { name, head = usualHead } = declaration
  const write = serialiser(declaration.payload)
  const members = Object.entries(head)
  const [nameText, actionText] = [JSON.stringify(name), JSON.stringify(actionOf(name))]
  return {
    ...declaration,
    head,
    body: (eventId, at, payload) => {
      const held = { name: nameText, action: actionText, id: `"${eventId}"`, at: `"${momentText(at)}"` }
      const first = members.map(([member, holds]) => `"${member}":${held[holds]}`).join()
      const fields = write(payload).slice(1, -1)
      return `{${first}${fields && `,${fields}`}}`
    },
  }
}

/** Action: `delivered` of `email.delivered`. */
export function actionOf(name: string): string {
  return name.slice(name.indexOf('.') + 1)
}

/** Occasion of a change: tenant and times. */
export interface Occasion {
  tenant: Tenant
  /** Real time, for ids. */
  receivedMs: number
  /** Account time. */
  nowMs: number
  requestId: string | null
}

/** Current occasion, by the real clock and the account's. */
export function occasionNow(
  clock: Clock,
  tenant: Tenant,
  clockOffsetMs: number | bigint,
  requestId: string | null = null,
): Occasion {
  const receivedMs = clock.nowMs()
  return { tenant, receivedMs, nowMs: receivedMs + Number(clockOffsetMs), requestId }
}

/** Object of a payload in its stored form. */
export type SealedObject = Readonly<Record<string, { readonly sealed: string }>>

export interface EmitOptions {
  /** Id of the event, where it was made before; a new one without it. */
  uuid?: string
  /** Callback URL of the request, notified beside all subscribers. */
  callbackUrl?: string | null
  /** The type's sealed object, encrypted; null while it is empty. */
  sealed?: SealedObject | null
}

/** Event to be written, with what its deliveries need. */
export interface NewEvent {
  readonly id: Id<'event'>
  readonly tenant: Tenant
  readonly nowMs: number
  readonly clockOffsetMs: number
  /** Status in the payload, if any. */
  readonly status: string | null
  /** Person whom it is about, if any. */
  readonly person: Person | null
  /** Trace of the cause, known to this node only. */
  readonly trace: Trace | null
  /** Body as it is told; the row has it as it is stored. */
  readonly body: string
  /** Cell for a group commit. */
  readonly row: EventItem
}

/** Event row for events.emit; `event: eventRow` is its column in a group commit. */
export const eventRow = rowType('events.event_item', {
  bucket: 'smallint',
  account_id: 'uuid',
  environment: 'text',
  id: 'uuid',
  type: 'text',
  resource_id: 'text',
  body: 'text',
  request_id: 'text',
  within: 'text',
  callback_url: 'text',
  created_at: 'timestamptz',
  owner: 'uuid',
})

interface EventItem extends RowIn<typeof eventRow> {
  id: string
  type: string
  resource_id: string
  body: string
  created_at: Date
}

/** Due delivery job; its key names the endpoint, and a callback has its URL with it. */
export interface Due {
  readonly id: string
  readonly tenant: Tenant
  readonly key: string
  readonly attempt: number
  readonly callback: DueCallback | null
}

/** Event for the callback URL of a request, with how often it was tried and, by the account's time, when it is tried again. */
export interface DueCallback {
  readonly event: string
  readonly url: string
  readonly attempts?: number
  readonly next_ms?: number
}

/** Courier: delivers events; implemented by the webhooks area. */
export interface Courier {
  /** Node that delivers at once; null when this one does not deliver or is full. */
  owner(): string | null
  /** Starts the deliveries of a commit: `delivery/endpoint/version`, comma separated. */
  begin(event: NewEvent, deliveries: string): void
  /** Free capacity for due deliveries. */
  room(): number
  /** Takes a due delivery. */
  take(job: Due): void
  /** Deliveries in flight on this node. */
  sending(): ReadonlySet<string>
  /** Deliveries of an event and their outcome, without later redeliveries. */
  deliveriesOf(caller: Caller, event: string): Promise<readonly DeliveryOfEvent[]>
}

/** Delivery of an event to one endpoint, with public ids. */
export interface DeliveryOfEvent {
  readonly id: string
  readonly webhook_id: string
  readonly status: 'pending' | 'delivering' | 'delivered' | 'failed' | 'cancelled'
  readonly attempts: number
  readonly delivered_at: Date | null
  readonly next_attempt_at: Date | null
  readonly last_error: string | null
  readonly response_status: number | null
}

const insertMany = statement.tenant<
  { buckets: readonly number[]; items: Buffer },
  { deliveries: (string | null)[] | null }
>('events.emit_many', 'select events.emit($items::events.event_item[]) as deliveries')

const insertTwins = statement.tenant<
  { buckets: readonly number[]; items: Buffer; types: readonly string[]; heads: readonly string[] },
  { deliveries: (string | null)[] | null }
>(
  'events.emit_twins',
  'select events.emit_twins($items::events.event_item[], $types::text[], $heads::text[]) as deliveries',
)

/** Outbox: emits events in plain transactions and group commits. */
export class Outbox {
  readonly traces = new TraceCache()
  readonly #courier: Courier
  readonly #tracer: Tracer | null
  readonly #listeners = new Set<(tenant: Tenant, event: NewEvent) => void>()

  constructor(courier: Courier, tracer: Tracer | null) {
    this.#courier = courier
    this.#tracer = tracer
  }

  /** Emits an event inside the transaction of its change. */
  async emit<S extends TSchema>(
    tx: Tx,
    type: EventType<S>,
    occasion: Occasion,
    resourceId: string,
    payload: Static<S>,
    options: EmitOptions = {},
  ): Promise<NewEvent> {
    const event = this.prepare(type, occasion, resourceId, payload, options)
    await this.emitAll(tx, [event])
    return event
  }

  /** Emits prepared events with one statement for each cell. */
  async emitAll(tx: Tx, events: readonly NewEvent[]): Promise<void> {
    for (const part of tx.apart(events, ({ tenant }) => tenant.bucket)) {
      const items = encodeItems(
        eventRow.columns,
        part.map(({ row }) => row),
      )
      const buckets = part.map(({ tenant }) => tenant.bucket)
      const { deliveries } = await one(tx.query(insertMany, { buckets, items }))
      tx.afterCommit(() => part.forEach((event, i) => void this.begin(event, deliveries?.[i] ?? null)))
    }
  }

  /** Emits a change under both names: the prepared `wide` event and the narrower one, which is returned. */
  async emitWithin(tx: Tx, type: EventType, wide: NewEvent): Promise<NewEvent> {
    const narrow = this.prepareWithin(type, wide)
    const items = encodeItems(eventRow.columns, [wide.row])
    const buckets = [wide.tenant.bucket]
    const { deliveries } = await one(
      tx.query(insertTwins, { buckets, items, types: [type.name], heads: [narrow.head] }),
    )
    tx.afterCommit(() => [wide, narrow].forEach((event, i) => void this.begin(event, deliveries?.[i] ?? null)))
    return narrow
  }

  /** Prepares an event for a group commit; call `begin` with the commit's result for it. */
  prepare<S extends TSchema>(
    type: EventType<S>,
    { tenant, receivedMs, nowMs, requestId }: Occasion,
    resourceId: string,
    payload: Static<S>,
    { callbackUrl = null, sealed = null, uuid: known }: EmitOptions = {},
  ): NewEvent {
    const { id, uuid } =
      known === undefined ? newIdAndUuid('event', receivedMs) : { id: idOf('event', known), uuid: known }
    const at = new Date(nowMs)
    const body = type.body(id, at, payload)
    return {
      id,
      tenant,
      nowMs,
      clockOffsetMs: nowMs - receivedMs,
      status: statusOf(payload),
      person: type.person?.(payload) ?? null,
      trace: this.#tracer?.current() ?? this.traces.of(requestId),
      body,
      row: {
        bucket: tenant.bucket,
        account_id: tenant.account,
        environment: tenant.environment,
        id: uuid,
        type: type.name,
        resource_id: resourceId,
        body: sealed === null ? body : type.body(id, at, Object.assign({}, payload, sealed)),
        request_id: requestId,
        within: type.within ?? null,
        callback_url: callbackUrl,
        created_at: at,
        owner: this.#courier.owner(),
      },
    }
  }

  /**
   * Prepares the narrower event of the same change: the wide one's payload and time under its own name and the paired id
   * (events.emit_twins). `head` starts its body; from the time on, both are equal.
   */
  prepareWithin(type: EventType, wide: NewEvent): NewEvent & { readonly head: string } {
    const { row } = wide
    const uuid = twinOf(row.id)
    const id = idOf('event', uuid)
    const head = `{${headTexts(type, id)}`
    const { tenant, nowMs, clockOffsetMs, status, trace } = wide
    return {
      id,
      tenant,
      nowMs,
      clockOffsetMs,
      status,
      person: null,
      trace,
      head,
      get body() {
        return this.row.body
      },
      row: {
        bucket: row.bucket,
        account_id: row.account_id,
        environment: row.environment,
        id: uuid,
        type: type.name,
        resource_id: row.resource_id,
        // Built lazily: subscriptions to this name are rare.
        get body() {
          return head + row.body.slice(row.body.indexOf(',"timestamp":'))
        },
        request_id: row.request_id,
        within: row.type,
        callback_url: null,
        created_at: row.created_at,
        owner: row.owner,
      },
    }
  }

  /** Starts deliveries of a durable commit from memory; `deliveries` is the result of events.emit. */
  begin(event: NewEvent, deliveries: string | null): void {
    for (const heard of this.#listeners) heard(event.tenant, event)
    if (deliveries === null) return
    // Keep the trace for deliveries started later.
    if (event.trace) this.traces.note(event.id, event.trace)
    if (event.row.owner !== null) this.#courier.begin(event, deliveries)
  }

  /** Listens to events committed by this node, not by others. Returns the stop function. */
  onCommitted(heard: (tenant: Tenant, event: NewEvent) => void): () => void {
    this.#listeners.add(heard)
    return () => this.#listeners.delete(heard)
  }
}

/** Members of a head before the time. */
function headTexts({ name, head }: EventType, id: string): string {
  const held = { name, action: actionOf(name), id }
  return Object.entries(head)
    .flatMap(([member, holds]) => (holds === 'at' ? [] : [`"${member}":"${held[holds]}"`]))
    .join()
}

function statusOf(payload: unknown): string | null {
  const isTold = typeof payload === 'object' && payload !== null && 'status' in payload
  return isTold && typeof payload.status === 'string' ? payload.status : null
}

export interface EventRow {
  id: string
  type: string
  resource_id: string
  body: string
  request_id: string | null
}

/** Event with its account time; null where its id gives it. */
export interface DatedEventRow extends EventRow {
  created_at: Date | null
}

/** Pages of events. The search for paired events is added only when asked for. */
const listing = (name: string, resource: string) =>
  statement.tenant<
    Tenant & {
      from: string
      to: string
      since: Date | null
      until: Date | null
      types: readonly string[]
      twins: readonly string[]
      resource: string | null
      tag: string | null
      after: string | null
      descending: boolean
      limit: number
    },
    DatedEventRow
  >(
    name,
    `select id, type, resource_id, body, request_id, created_at
     from ((select e.id, e.type, e.resource_id, e.body, e.request_id, e.created_at from events.events e
             where e.bucket = $bucket and e.account_id = $account and e.environment = $environment
               and e.id >= $from and e.id < $to
               and ($since::timestamptz is null or e.created_at is null or e.created_at >= $since)
               and ($until::timestamptz is null or e.created_at is null or e.created_at < $until)
               and e.type = any($types::text[]) and ${resource}
               and ($tag::text is null or $tag in (select json_array_elements_text(e.body::json -> 'tags')))
               and ($after::uuid is null or (case when $descending::boolean then e.id < $after else e.id > $after end))
             order by case when $descending then e.id end desc, e.id
             limit $limit::int + 1)
           union all
           (select events.twin_of(e.id), e.twin_type, e.resource_id, events.twin_body(e.twin_head, e.body), e.request_id,
                   e.created_at
              from events.events e
             where e.bucket = $bucket and e.account_id = $account and e.environment = $environment
               and e.id >= $from and e.id < $to
               and ($since::timestamptz is null or e.created_at is null or e.created_at >= $since)
               and ($until::timestamptz is null or e.created_at is null or e.created_at < $until) and cardinality($twins::text[]) > 0
               and e.twin_type = any($twins) and ${resource}
               and ($after::uuid is null
                    or (case when $descending::boolean then e.id <= $after else e.id >= $after end
                        and case when $descending then events.twin_of(e.id) < $after else events.twin_of(e.id) > $after end))
             order by case when $descending then e.id end desc, e.id
             limit $limit::int + 1)) told
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
  )

const list = listing('events.list', '$resource::text is null')

/** Index: events_of_resource. */
const listOfResource = listing('events.list_of_resource', 'e.resource_id = $resource::text')

const find = statement.tenant<Tenant & { id: string }, DatedEventRow>(
  'events.find',
  `select e.id, e.type, e.resource_id, e.body, e.request_id, e.created_at from events.events e
    where e.bucket = $bucket and e.account_id = $account and e.environment = $environment and e.id = $id::uuid
   union all
   select $id::uuid, e.twin_type, e.resource_id, events.twin_body(e.twin_head, e.body), e.request_id, e.created_at
     from events.events e
    where e.bucket = $bucket and e.account_id = $account and e.environment = $environment
      and e.id = events.twin_of($id::uuid) and e.twin_type is not null`,
)

export async function listEvents(
  queryable: Queryable,
  tenant: Tenant,
  window: Window,
  filter: ShownBounds & { types: readonly string[]; twins: readonly string[]; resource: string | null; tag?: string },
): Promise<DatedEventRow[]> {
  const wanted = filter.resource === null ? list : listOfResource
  return queryable.query(wanted, { ...tenant, ...window, ...filter, tag: filter.tag ?? null })
}

export async function findEvent(queryable: Queryable, tenant: Tenant, id: string): Promise<DatedEventRow | null> {
  return maybe(queryable.query(find, { ...tenant, id }))
}
