// SPDX-License-Identifier: Apache-2.0
// Deliveries that fell due: their job, and what is read of them before they are sent.
import { Type } from 'typebox'
import { idOf, timeOfUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { statement } from '../../../platform/db.ts'
import { toldBody } from '../../../platform/events/sealed.ts'
import type { Due, DueCallback } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Job } from '../../../platform/work.ts'
import { deliverLane } from '../endpoints/health.ts'
import type { Delivery } from './delivery.ts'
import { noEndpoint } from './finished.ts'

/** Value in place of an endpoint's id in the job of a callback. */
export const callbackKey = 'callback'

/** A callback has no row but its job and its event; the job of any other delivery has its id and nothing else. */
const Payload = Type.Object({
  callback: Type.Optional(
    Type.Object({
      event: Type.String(),
      url: Type.String(),
      attempts: Type.Optional(Type.Integer()),
      next_ms: Type.Optional(Type.Integer()),
    }),
  ),
})

/** The courier stores every outcome of a delivery. */
export const deliver: Job<App, typeof Payload> = {
  lane: deliverLane,
  role: 'webhooks',
  payload: Payload,
  concurrency: 200,
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
  /** The first attempt of a delivery that was asked for by itself. */
  asked_for: boolean
  body: string | null
  clock_offset_ms: bigint
  /** An older delivery about the same thing is not over yet. */
  behind: boolean
}

const load = statement.everywhere<
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
            d.replay_of is not null and d.replay_id is null and d.attempts = 0 as asked_for,
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
          d.next_attempt_at, d.test, d.replay_of, d.asked_for, d.behind, coalesce(d.body, e.body) as body,
          c.offset_ms as clock_offset_ms
     from due d
     join clocks c on c.account_id = d.account_id and c.environment = d.environment
     left join events.bodies((select array_agg(bucket) from due), (select array_agg(account_id) from due),
                             (select array_agg(environment) from due), (select array_agg(event_id) from due)) e
       on e.event_id = d.event_id`,
)

interface ToldRow {
  event_id: string
  type: string
  resource_id: string
  body: string
  created_at: Date | null
  clock_offset_ms: bigint
}

/** What a callback says, which its event has and not its job. */
const loadTold = statement.everywhere<
  {
    buckets: readonly number[]
    accounts: readonly string[]
    environments: readonly string[]
    events: readonly string[]
  },
  ToldRow
>(
  'webhooks.load_told',
  `select distinct e.event_id, e.type, e.resource_id, e.body, e.created_at, accounts.clock_offset_ms(w.account, w.environment) as clock_offset_ms
     from unnest($buckets::smallint[], $accounts::uuid[], $environments::text[], $events::uuid[])
       as w(bucket, account, environment, event)
     join events.bodies($buckets, $accounts, $environments, $events) e on e.event_id = w.event`,
)

/** Lets what an endpoint has yet to hear fall due now, or only the oldest of it. */
export const wake = statement.tenant<
  Tenant & { endpoint: string; at: Date; since: string; onlyOldest: boolean; most: number },
  { woken: number }
>(
  'webhooks.wake',
  `select webhooks.wake($bucket::smallint, $account::uuid, $environment::text, $endpoint::uuid, $at::timestamptz,
                        $since::uuid, $onlyOldest::boolean, $most::int) as woken`,
)

type Means = Pick<App, 'db' | 'secrets' | 'catalogue'>

/** Reads deliveries that fell due. */
export async function loadDeliveries(app: Means, jobs: readonly Due[]): Promise<StoredDelivery[]> {
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
  const tenants = new Map(jobs.map(({ id, tenant }) => [id, tenant]))
  return Promise.all(read.flat().map((row) => withTold(app, tenants.get(row.id), row)))
}

/** Delivery with its body as it is told. */
async function withTold(app: Means, tenant: Tenant | undefined, row: StoredDelivery): Promise<StoredDelivery> {
  const { body, event: type, resource_id } = row
  if (body === null || tenant === undefined) return row
  return { ...row, body: await toldBody(app, tenant, { type, resource_id, body }) }
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
  { event, url, next_ms, attempts = 0 }: DueCallback,
  { type, resource_id, body, created_at: at, clock_offset_ms }: ToldRow,
): StoredDelivery {
  const created_at = at ?? timeOfUuid(event)
  return {
    id,
    endpoint_id: noEndpoint,
    url,
    event_id: event,
    event: type,
    resource_id,
    status: 'pending',
    ordered: false,
    attempts,
    created_at,
    next_attempt_at: next_ms === undefined ? created_at : new Date(next_ms),
    test: false,
    replay_of: null,
    asked_for: false,
    body,
    clock_offset_ms,
    behind: false,
  }
}

/** A delivery as it was read; null when it is over, or its event is no longer kept. */
export function deliveryOf(
  { outbox }: Pick<App, 'outbox'>,
  job: Due,
  row: StoredDelivery,
  startByMs: number,
): Delivery | null {
  if (row.body === null || (row.status !== 'pending' && row.status !== 'delivering')) return null
  const event = idOf('event', row.event_id)
  return {
    tenant: job.tenant,
    id: row.id,
    endpoint: job.key === callbackKey ? null : row.endpoint_id,
    url: row.url,
    told: { id: event, name: row.event, body: row.body, bytes: null },
    resource: row.resource_id,
    ordered: row.ordered,
    attempts: row.attempts,
    createdMs: row.created_at.getTime(),
    dueMs: row.next_attempt_at?.getTime() ?? 0,
    clockOffsetMs: Number(row.clock_offset_ms),
    jobAttempt: job.attempt,
    startByMs,
    isTest: row.test,
    isReplay: row.replay_of !== null,
    isAskedFor: row.asked_for,
    trace: outbox.traces.of(event),
  }
}

function tenantsOf(jobs: readonly Due[]) {
  return {
    buckets: jobs.map(({ tenant }) => tenant.bucket),
    accounts: jobs.map(({ tenant }) => tenant.account),
    environments: jobs.map(({ tenant }) => tenant.environment),
  }
}
