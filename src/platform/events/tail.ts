// SPDX-License-Identifier: Apache-2.0
// An account's events as they happen, for streams. Ids are given when a request comes and rows appear when it commits, so
// an event may show up behind one with a later id. Every look therefore begins a little before the newest event that was
// told, and some looks well before; what was told already is remembered and left out. An event is told at least once:
// who resumes is told the last moments before again, and tells repeats by their ids.
import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '../../kernel/errors.ts'
import { firstUuidAt, idOf, timeOfUuid, uuidOf } from '../../kernel/ids.ts'
import type { App } from '../app.ts'
import { isUnavailable, type Queryable, statement } from '../db.ts'
import type { EventRow } from '../events.ts'
import type { Message } from '../http/streams.ts'
import type { Tenant } from '../tenant.ts'

type Means = Pick<App, 'db' | 'clock' | 'outbox'>

export interface Tail {
  tenant: Tenant
  /** Only events of these names, and of these second names. */
  types: readonly string[]
  twins: readonly string[]
  /** Only what happened to this object; null for all. */
  resource: string | null
  /** UUID of the last event that is known; null begins now. */
  after: string | null
  signal: AbortSignal
}

const batchSize = 50
/** Commits of other nodes are found by looking; those of this node say so. */
const pollMs = 1_000
/** The least time between two looks, however much is committed. */
const restMs = 20
/** How far back every look reaches: longer than a commit takes. */
const nearMs = 5_000
/** How far back a look reaches now and then: the time that the slowest request and the longest statement may take. */
const farMs = 90_000
const farEveryMs = 5_000
/** How far before the event that a reader knows a resumed stream begins: the longest that a statement may take. */
const resumeMs = 30_000
/** Ids remembered for one stream. Beyond, the oldest are forgotten and no look reaches behind them. */
const maxRemembered = 20_000

type TailParameters = {
  bucket: number
  account: string
  environment: string
  types: readonly string[]
  twins: readonly string[]
  resource: string | null
  since: string
  told: readonly string[]
  limit: number
}

/** A row that is told under a second name too is found by its own id: that of the twin differs in the last bit only. */
const look = statement.tenant<TailParameters, EventRow>(
  'events.tail',
  `select id, type, resource_id, body, request_id
     from ((select e.id, e.type, e.resource_id, e.body, e.request_id from events.events e
             where e.bucket = $bucket and e.account_id = $account and e.environment = $environment and e.id > $since::uuid
               and e.type = any($types::text[])
               and ($resource::text is null or e.resource_id = $resource)
               and not exists (select from unnest($told::uuid[]) t where t = e.id)
             order by e.id
             limit $limit::int)
           union all
           (select events.twin_of(e.id), e.twin_type, e.resource_id, events.twin_body(e.twin_head, e.body), e.request_id
              from events.events e
             where e.bucket = $bucket and e.account_id = $account and e.environment = $environment and e.id >= $since
               and events.twin_of(e.id) > $since and cardinality($twins::text[]) > 0
               and e.twin_type = any($twins) and ($resource is null or e.resource_id = $resource)
               and not exists (select from unnest($told) t where t = events.twin_of(e.id))
             order by e.id
             limit $limit)) told
    order by id
    limit $limit`,
)

const skim = statement.tenant<Omit<TailParameters, 'told'>, { id: string }>(
  'events.skim',
  `select id
     from ((select e.id from events.events e
             where e.bucket = $bucket and e.account_id = $account and e.environment = $environment and e.id > $since::uuid
               and e.type = any($types::text[])
               and ($resource::text is null or e.resource_id = $resource)
             order by e.id desc
             limit $limit::int)
           union all
           (select events.twin_of(e.id) from events.events e
             where e.bucket = $bucket and e.account_id = $account and e.environment = $environment and e.id >= $since
               and cardinality($twins::text[]) > 0
               and e.twin_type = any($twins) and ($resource is null or e.resource_id = $resource)
             order by e.id desc
             limit $limit)) known
    order by id desc
    limit $limit`,
)

/**
 * The tail as messages of a stream, from a first one that only says where it begins. What `after` leaves out is decided
 * when this resolves: an event that commits later is told.
 */
export async function tailMessages(
  app: Means,
  tail: Tail,
  shape: (row: EventRow) => string | Promise<string>,
): Promise<AsyncIterable<Message>> {
  const startMs = app.clock.nowMs()
  const told = await beginning(app.db, tail, startMs)
  return messages()

  async function* messages(): AsyncGenerator<Message> {
    yield { id: idOf('event', tail.after ?? firstUuidAt(startMs)), event: '', data: null }
    for await (const row of rows(app, tail, told))
      yield { id: idOf('event', row.id), event: row.type, data: await shape(row) }
  }
}

/** The UUID of the event that a reader names as the last it knows. */
export function knownEvent(id: string): string {
  const uuid = uuidOf('event', id)
  if (uuid === null)
    throw new AppError('INVALID_REQUEST', 'after (or Last-Event-ID) is not the id of an event; these begin with evt_')
  return uuid
}

/** What was told to one reader, and where the next look begins. */
class Told {
  readonly #ids = new Set<string>()
  /** No look reaches behind it. */
  #floor: string
  /** Up to here all was told but for what commits late. */
  #reached: string

  constructor(floor: string, reached: string) {
    this.#floor = floor
    this.#reached = reached
  }

  add(id: string): void {
    this.#ids.add(id)
    if (id > this.#reached) this.#reached = id
  }

  /** Notes that a look at this moment found nothing more: who wants few events must not search ever more of the others. */
  reached(atMs: number): void {
    const at = firstUuidAt(atMs)
    if (at > this.#reached) this.#reached = at
  }

  /** Where a look begins that reaches back to a moment, or to where the last one ended if that is older. */
  since(backToMs: number): string {
    let since = firstUuidAt(backToMs)
    if (since > this.#reached) since = this.#reached
    if (since < this.#floor) since = this.#floor
    return since
  }

  after(since: string): string[] {
    return [...this.#ids].filter((id) => id > since)
  }

  /** Forgets what no look will find again, and what is too much to remember. */
  forgetBefore(backToMs: number): void {
    const back = firstUuidAt(backToMs)
    for (const id of this.#ids) {
      const isOld = id < back
      if (!isOld && this.#ids.size <= maxRemembered) break
      this.#ids.delete(id)
      if (!isOld && id > this.#floor) this.#floor = id
    }
  }
}

async function beginning(db: Queryable, tail: Tail, nowMs: number): Promise<Told> {
  if (tail.after !== null) {
    const resumed = firstUuidAt(Math.max(0, timeOfUuid(tail.after).getTime() - resumeMs))
    return new Told(resumed, resumed)
  }
  const since = firstUuidAt(nowMs - farMs)
  const known = await db.query(skim, { ...filterOf(tail), since, limit: maxRemembered })
  // What was there before is not news; what is still being committed is.
  const oldest = known.length === maxRemembered ? (known.at(-1)?.id ?? since) : since
  const told = new Told(oldest, firstUuidAt(nowMs))
  for (const { id } of known.reverse()) told.add(id)
  return told
}

async function* rows({ db, clock, outbox }: Means, tail: Tail, told: Told): AsyncGenerator<EventRow> {
  const { signal, tenant } = tail
  const bell = new Bell(signal)
  const stopHearing = outbox.onCommitted(({ account }) => {
    if (account === tenant.account) bell.ring()
  })
  let lastFarMs = Number.NEGATIVE_INFINITY
  try {
    while (!signal.aborted) {
      const isFar = performance.now() - lastFarMs >= farEveryMs
      const nowMs = clock.nowMs()
      const found = await newSince(db, tail, told.since(nowMs - (isFar ? farMs : nearMs)), told)
      if (found === null) {
        await bell.wait()
        continue
      }
      for (const row of found) {
        yield row
        told.add(row.id)
        if (signal.aborted) return
      }
      told.forgetBefore(clock.nowMs() - farMs)
      if (found.length === batchSize) continue
      told.reached(nowMs)
      if (isFar) lastFarMs = performance.now()
      await bell.wait()
    }
  } finally {
    stopHearing()
  }
}

/** Null while the database is away: nothing happens then that could be told, and afterwards nothing has been missed. */
async function newSince(db: Queryable, tail: Tail, since: string, told: Told): Promise<EventRow[] | null> {
  try {
    return await db.query(look, { ...filterOf(tail), since, told: told.after(since), limit: batchSize })
  } catch (error) {
    if (isUnavailable(error)) return null
    throw error
  }
}

function filterOf({ tenant, types, twins, resource }: Tail): Omit<TailParameters, 'since' | 'told' | 'limit'> {
  return { bucket: tenant.bucket, account: tenant.account, environment: tenant.environment, types, twins, resource }
}

/** Wakes whoever waits for the next look: when something was committed, when it is time, and when it is over. */
class Bell {
  readonly #signal: AbortSignal
  #isRung = false
  #lastMs = 0
  #wake: (() => void) | null = null

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', () => this.ring(), { once: true })
  }

  ring(): void {
    this.#isRung = true
    this.#wake?.()
  }

  /** Comes back when there is reason to look again, though not sooner after the last time than is good for everybody. */
  async wait(): Promise<void> {
    if (!this.#isRung) await this.#ringOr(pollMs)
    const earlyMs = restMs - (performance.now() - this.#lastMs)
    if (earlyMs > 0 && !this.#signal.aborted) await pause(earlyMs)
    this.#lastMs = performance.now()
    this.#isRung = false
  }

  #ringOr(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        this.#wake = null
        resolve()
      }
      const timer = setTimeout(wake, ms)
      this.#wake = wake
    })
  }
}
