// SPDX-License-Identifier: Apache-2.0
// The outbox. An event is written in the transaction of the change it tells of, with the exact body customers receive,
// so that nothing that happened goes untold and nothing is told that did not happen.
import type { Static, TSchema } from 'typebox'
import { type Id, idOf, newIdAndUuid, twinOf } from '../kernel/ids.ts'
import { momentText } from '../kernel/time.ts'
import type { Caller } from './auth.ts'
import type { Clock } from './clock.ts'
import { encodeItems, type RowIn, rowType } from './commit/row-encoding.ts'
import { maybe, one, type Queryable, statement, type Tx } from './db.ts'
import { serialiser } from './http/json.ts'
import type { ShownBounds, Window } from './page.ts'
import type { Tenant } from './tenant.ts'
import { RememberedTraces, type Trace, type Tracer } from './tracing.ts'

/** A kind of event an area tells customers of, with its payload and a sample of it. */
export interface EventType<S extends TSchema = TSchema> {
  /** `area.thing_happened`. */
  readonly name: string
  /** Other names that a subscription may give it. Several events may share one: it then stands for all of them. */
  readonly aliases?: readonly string[]
  /** The broader event that tells of the same change; who takes that one is not told twice. */
  readonly within?: string
  readonly summary: string
  readonly head: Head
  /** Deliveries also carry x-hub-signature-256, by which receivers of another platform's events know theirs. */
  readonly hubSigned?: boolean
  readonly payload: S
  readonly sample: Static<S>
  body(eventId: Id<'event'>, at: Date, payload: Static<S>): string
}

/**
 * What stands before the payload: what a member is called -> what it holds. `name` is the event's name, `action` the part
 * of it after the area, `id` the event's id, `at` the time. The id is always told, so that receivers can tell repeats.
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

/** `delivered` of `email.delivered`. */
export function actionOf(name: string): string {
  return name.slice(name.indexOf('.') + 1)
}

/** On whose behalf something happened, and when. */
export interface Occasion {
  tenant: Tenant
  /** By the real clock: for ids. */
  receivedMs: number
  /** The account's own time. */
  nowMs: number
  requestId: string | null
}

/** Now, by the real clock and by the account's. */
export function occasionNow(
  clock: Clock,
  tenant: Tenant,
  clockOffsetMs: number | bigint,
  requestId: string | null = null,
): Occasion {
  const receivedMs = clock.nowMs()
  return { tenant, receivedMs, nowMs: receivedMs + Number(clockOffsetMs), requestId }
}

export interface EmitOptions {
  /** An address that a request named, told beside all subscribers. */
  callbackUrl?: string | null
}

/** An event about to be written, and what its deliveries need to know of it. */
export interface NewEvent {
  readonly id: Id<'event'>
  readonly tenant: Tenant
  readonly nowMs: number
  readonly clockOffsetMs: number
  /** What its payload says has become of the thing, where it says so. */
  readonly status: string | null
  /** The trace that caused it. Known to this node only. */
  readonly trace: Trace | null
  /** Its cell in the item of a group commit. */
  readonly row: EventItem
}

/** An event as events.emit takes it; `event: eventRow` is the column of a group commit that tells of something. */
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

/** The job of a delivery that fell due; its key names the address, and what it needs of a callback is with it. */
export interface Due {
  readonly id: string
  readonly tenant: Tenant
  readonly key: string
  readonly attempt: number
  readonly callback: DueCallback | null
}

/** An event on its way to the URL that a request named. Moments are the account's own. */
export interface DueCallback {
  readonly event: string
  readonly name: string
  readonly resource: string
  readonly url: string
  readonly created_ms: number
  readonly next_ms: number
  readonly attempts: number
}

/** Who carries events to those who want to hear of them; the webhooks area. */
export interface Courier {
  /** The node that begins deliveries at once, or null when this one does not deliver, or has its hands full. */
  owner(): string | null
  /** Begins deliveries that a commit made: `delivery/endpoint/version`, separated by commas. */
  begin(event: NewEvent, deliveries: string): void
  /** How many more due deliveries this node has room for. */
  room(): number
  /** Takes a delivery that fell due. */
  take(job: Due): void
  /** The deliveries that this node is sending at this moment. */
  sending(): ReadonlySet<string>
  /** Whom an event was told to, and how that went; not what was told again later. */
  deliveriesOf(caller: Caller, event: string): Promise<readonly DeliveryOfEvent[]>
}

/** What became of an event at one endpoint, with public ids. */
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

/** Where areas put what happened. One way for plain transactions, one for group commits. */
export class Outbox {
  readonly traces = new RememberedTraces()
  readonly #courier: Courier
  readonly #tracer: Tracer | null
  readonly #listeners = new Set<(tenant: Tenant, event: NewEvent) => void>()

  constructor(courier: Courier, tracer: Tracer | null) {
    this.#courier = courier
    this.#tracer = tracer
  }

  /** Tells of a change, inside the transaction that makes it. */
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

  /** The same for many prepared events, with one statement. */
  async emitAll(tx: Tx, events: readonly NewEvent[]): Promise<void> {
    if (events.length === 0) return
    const items = encodeItems(
      eventRow.columns,
      events.map(({ row }) => row),
    )
    const { deliveries } = await one(
      tx.query(insertMany, { buckets: events.map(({ tenant }) => tenant.bucket), items }),
    )
    tx.afterCommit(() => events.forEach((event, i) => void this.begin(event, deliveries?.[i] ?? null)))
  }

  /** Tells of a change under both of its names: that of the prepared `wide` event, and the narrower one, which it gives. */
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

  /** Describes an event to be written in the caller's group commit; call `begin` with what that gave for it. */
  prepare<S extends TSchema>(
    type: EventType<S>,
    { tenant, receivedMs, nowMs, requestId }: Occasion,
    resourceId: string,
    payload: Static<S>,
    { callbackUrl = null }: EmitOptions = {},
  ): NewEvent {
    const { id, uuid } = newIdAndUuid('event', receivedMs)
    const at = new Date(nowMs)
    return {
      id,
      tenant,
      nowMs,
      clockOffsetMs: nowMs - receivedMs,
      status: statusOf(payload),
      trace: this.#tracer?.current() ?? this.traces.of(requestId),
      row: {
        bucket: tenant.bucket,
        account_id: tenant.account,
        environment: tenant.environment,
        id: uuid,
        type: type.name,
        resource_id: resourceId,
        body: type.body(id, at, payload),
        request_id: requestId,
        within: type.within ?? null,
        callback_url: callbackUrl,
        created_at: at,
        owner: this.#courier.owner(),
      },
    }
  }

  /**
   * Describes the narrower event that tells of the same change: the payload of the wide one at the same moment, under its
   * own name and the id beside the wide one's (events.emit_twins). `head` is how its body begins; from the time on, the two
   * are the same.
   */
  prepareWithin(type: EventType, wide: NewEvent): NewEvent & { readonly head: string } {
    const { row } = wide
    const uuid = twinOf(row.id)
    const id = idOf('event', uuid)
    const head = `{"event":"${type.name}","event_id":"${id}"`
    const { tenant, nowMs, clockOffsetMs, status, trace } = wide
    return {
      id,
      tenant,
      nowMs,
      clockOffsetMs,
      status,
      trace,
      head,
      row: {
        bucket: row.bucket,
        account_id: row.account_id,
        environment: row.environment,
        id: uuid,
        type: type.name,
        resource_id: row.resource_id,
        // Nearly always nobody wants to hear it in this name.
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

  /** Delivers at once, from memory, what a durable commit wrote; `deliveries` is what events.emit gave. */
  begin(event: NewEvent, deliveries: string | null): void {
    for (const heard of this.#listeners) heard(event.tenant, event)
    if (deliveries === null) return
    // Whoever does not take it at once hears of it again.
    if (event.trace) this.traces.note(event.id, event.trace)
    if (event.row.owner !== null) this.#courier.begin(event, deliveries)
  }

  /** Hears whose events this node committed. Other nodes' are not heard of. Gives the way to stop. */
  onCommitted(heard: (tenant: Tenant, event: NewEvent) => void): () => void {
    this.#listeners.add(heard)
    return () => this.#listeners.delete(heard)
  }
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

/** With its moment by the account's own clock; null where its id says it. */
export interface DatedEventRow extends EventRow {
  created_at: Date | null
}

/** Where no second name is asked for, rows are not searched for one. */
const list = statement.tenant<
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
  'events.list',
  `select id, type, resource_id, body, request_id, created_at
     from ((select e.id, e.type, e.resource_id, e.body, e.request_id, e.created_at from events.events e
             where e.bucket = $bucket and e.account_id = $account and e.environment = $environment
               and e.id >= $from and e.id < $to
               and ($since::timestamptz is null or e.created_at is null or e.created_at >= $since)
               and ($until::timestamptz is null or e.created_at is null or e.created_at < $until)
               and e.type = any($types::text[]) and ($resource::text is null or e.resource_id = $resource)
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
               and e.twin_type = any($twins) and ($resource::text is null or e.resource_id = $resource)
               and ($after::uuid is null
                    or (case when $descending::boolean then e.id <= $after else e.id >= $after end
                        and case when $descending then events.twin_of(e.id) < $after else events.twin_of(e.id) > $after end))
             order by case when $descending then e.id end desc, e.id
             limit $limit::int + 1)) told
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

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
  return queryable.query(list, { ...tenant, ...window, ...filter, tag: filter.tag ?? null })
}

export async function findEvent(queryable: Queryable, tenant: Tenant, id: string): Promise<DatedEventRow | null> {
  return maybe(queryable.query(find, { ...tenant, id }))
}
