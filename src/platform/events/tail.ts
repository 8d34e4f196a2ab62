// SPDX-License-Identifier: Apache-2.0
// Tail of an account's events, for streams. Ids are assigned at the request and rows appear at the commit, so an event
// may appear after one with a later id. Each poll therefore starts slightly before the newest event sent, some polls
// well before; ids already sent are cached and skipped. Delivery is at least once: a resumed stream repeats the last
// moments, and the reader detects repeats by id.
import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '../../kernel/errors.ts'
import { firstUuidAt, idOf, timeOfUuid, uuidOf } from '../../kernel/ids.ts'
import type { StreamMessage } from '../api/route.ts'
import type { App } from '../app.ts'
import { isUnavailable, type Queryable, statement } from '../db.ts'
import type { EventRow } from '../events.ts'
import type { Tenant } from '../tenant.ts'

type Means = Pick<App, 'db' | 'clock' | 'outbox'>

export interface Tail {
  tenant: Tenant
  /** Filter by event names and second names. */
  types: readonly string[]
  twins: readonly string[]
  /** Filter by resource; null for all. */
  resource: string | null
  /** UUID of the last known event; null starts now. */
  after: string | null
  signal: AbortSignal
}

const batchSize = 50
/** Poll interval for commits of other nodes; commits of this node trigger a poll. */
const pollMs = 1_000
/** Minimum interval between polls. */
const restMs = 20
/** Look-back of every poll: longer than a commit takes. */
const nearMs = 5_000
/** Look-back of occasional polls: the slowest request and the longest statement. */
const farMs = 90_000
const farEveryMs = 5_000
/** Look-back of a resumed stream: the longest statement. */
const resumeMs = 30_000
/** Cache limit of sent ids per stream. Beyond it the oldest are dropped, and no poll looks back behind them. */
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

/** A row with a second name is found by its own id: the paired one differs in the last bit only. */
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
 * Tail as stream messages, after a first one with the start position. The start is fixed when this resolves: later
 * commits are sent.
 */
export async function tailMessages(
  app: Means,
  tail: Tail,
  shape: (row: EventRow) => string | Promise<string>,
): Promise<AsyncIterable<StreamMessage>> {
  const startMs = app.clock.nowMs()
  const told = await beginning(app.db, tail, startMs)
  return messages()

  async function* messages(): AsyncGenerator<StreamMessage> {
    yield { id: idOf('event', tail.after ?? firstUuidAt(startMs)), event: '', data: null }
    for await (const row of rows(app, tail, told))
      yield { id: idOf('event', row.id), event: row.type, data: await shape(row) }
  }
}

/** UUID of the last event a reader knows. */
export function knownEvent(id: string): string {
  const uuid = uuidOf('event', id)
  if (uuid === null)
    throw new AppError('INVALID_REQUEST', 'after (or Last-Event-ID) is not the id of an event; these begin with evt_')
  return uuid
}

/** Events sent to one reader, and the start of the next poll. */
class Told {
  readonly #ids = new Set<string>()
  /** No poll looks back behind this id. */
  #floor: string
  /** All events up to here were sent, except late commits. */
  #reached: string

  constructor(floor: string, reached: string) {
    this.#floor = floor
    this.#reached = reached
  }

  add(id: string): void {
    this.#ids.add(id)
    if (id > this.#reached) this.#reached = id
  }

  /** Records that a poll found nothing more up to this time, so that a narrow filter does not rescan ever more rows. */
  reached(atMs: number): void {
    const at = firstUuidAt(atMs)
    if (at > this.#reached) this.#reached = at
  }

  /** Start of a poll that looks back to a time, or to the end of the last poll if older. */
  since(backToMs: number): string {
    let since = firstUuidAt(backToMs)
    if (since > this.#reached) since = this.#reached
    if (since < this.#floor) since = this.#floor
    return since
  }

  after(since: string): string[] {
    return [...this.#ids].filter((id) => id > since)
  }

  /** Drops ids that no poll will find again, and those beyond the limit. */
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
  // Existing events are skipped; those still being committed are sent.
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

/** New events; null while the database is unavailable, after which nothing is missed. */
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

/** Wakes a waiting poll: on a commit, a timer, or the end of the stream. */
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

  /** Waits for a reason to poll, at least the minimum interval. */
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
