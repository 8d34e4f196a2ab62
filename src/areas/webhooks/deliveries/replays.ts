// SPDX-License-Identifier: Apache-2.0
// Delivering a window of time again. A job walks through it in steps of a second, so that neither the database nor the
// receiver feels it as a wave; each step is one transaction, and remembers how far it came.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newIdAndUuid, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { IdParam, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Queryable, statement, type Tx } from '../../../platform/db.ts'
import { OneOf } from '../../../platform/schema/fields.ts'
import { timeWindow } from '../../../platform/schema/lists.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { Job } from '../../../platform/work.ts'
import { type Allowance, admit } from '../allowance.ts'
import { requireEnabled, subscriptionOf } from '../endpoints/endpoint.ts'
import { existing } from '../endpoints/register.ts'
import { maxEvents } from '../schema.ts'
import { keptSince } from './history.ts'

const maxDeliveries = 100_000
const stepMs = 1_000
/** Deliveries in a step. */
const perStep = 50

/** Failed deliveries that were not delivered later, by themselves or by another replay. */
const chosen = `${mine} and endpoint_id = $endpoint and created_at >= $from and created_at < $to and not test
  and replay_of is null and (case when $status::text = 'all' then status in ('delivered', 'failed', 'cancelled')
                                  else status = 'failed' and not heard_since end)
  and ($events::text[] is null or event = any($events))`

type Choice = Tenant & { endpoint: string; from: Date; to: Date; status: string; events: readonly string[] | null }

const countChosen = statement.tenant<Choice & { since: string; most: number }, { count: number }>(
  'webhooks.count_replay',
  `select count(*)::int as count from (
     select from webhooks.deliveries where ${chosen} and id >= $since limit $most::int + 1) found`,
)

const nextChosen = statement.tenant<Choice & { cursor: string; limit: number }, { id: string }>(
  'webhooks.next_of_replay',
  `select id from webhooks.deliveries where ${chosen} and id > $cursor order by id limit $limit::int`,
)

const insertReplay = statement.tenant<Choice & { id: string; total: number; cursor: string; at: Date }, object>(
  'webhooks.insert_replay',
  `insert into webhooks.replays (bucket, account_id, environment, id, endpoint_id, since, until, status, events, total,
     cursor, created_at)
   values ($bucket, $account, $environment, $id, $endpoint, $from, $to, $status, $events::text[], $total, $cursor, $at)`,
)

interface ReplayRow {
  endpoint_id: string
  since: Date
  until: Date
  status: string
  events: string[] | null
  total: number
  queued: number
  cursor: string
  clock_offset_ms: bigint
}

/** Locks a replay; no row once it is finished or its endpoint was deleted. */
const lockReplay = statement.tenant<One, ReplayRow>(
  'webhooks.lock_replay',
  `select endpoint_id, since, until, status, events, total, queued, cursor,
          accounts.clock_offset_ms(account_id, environment) as clock_offset_ms
     from webhooks.replays
    where ${mine} and id = $id and not finished and endpoint_id in (select id from webhooks.endpoints where ${mine})
      for update`,
)

const moveReplay = statement.tenant<One & { queued: number; cursor: string; finished: boolean }, object>(
  'webhooks.move_replay',
  `update webhooks.replays set queued = queued + $queued, cursor = $cursor, finished = $finished
    where ${mine} and id = $id`,
)

const latestReplay = statement.tenant<
  Tenant & { endpoint: string },
  { id: string; total: number; queued: number; finished: boolean }
>(
  'webhooks.latest_replay',
  `select id, total, queued, finished from webhooks.replays
    where ${mine} and endpoint_id = $endpoint order by id desc limit 1`,
)

const redeliverAll = statement.tenant<
  Tenant & { ids: readonly string[]; sources: readonly string[]; endpoint: string; replay: string | null; at: Date },
  { count: number }
>(
  'webhooks.redeliver',
  `select webhooks.redeliver(array(
     select row($bucket::smallint, $account::uuid, $environment::text, n.id, n.source, $endpoint::uuid,
                $replay::uuid, $at::timestamptz)::webhooks.redeliver_item
       from unnest($ids::uuid[], $sources::uuid[]) as n(id, source))) as count`,
)

/** Delivers again, as new deliveries: `sources` as `ids`. */
export async function redeliver(
  tx: Tx,
  tenant: Tenant,
  again: { ids: readonly string[]; sources: readonly string[]; endpoint: string; replay: string | null; at: Date },
): Promise<number> {
  return (await one(tx.query(redeliverAll, { ...tenant, ...again }))).count
}

const settleFirst = statement.tenant<Tenant & { endpoint: string; again: string; at: Date }, { goes_on: boolean }>(
  'webhooks.heard_again',
  `select webhooks.heard_again($bucket::smallint, $account::uuid, $environment::text, $endpoint::uuid, $again::uuid,
                               $at::timestamptz) as goes_on`,
)

/** Ends the delivery that a successful replay repeats: it is not tried any more, and nothing waits behind it. */
export async function heardAgain(
  { db, work }: Pick<App, 'db' | 'work'>,
  { tenant, id, endpoint }: { tenant: Tenant; id: string; endpoint: string | null },
  atMs: number,
): Promise<void> {
  if (endpoint === null) return
  const { goes_on } = await one(db.query(settleFirst, { ...tenant, endpoint, again: id, at: new Date(atMs) }))
  if (goes_on) work.poke()
}

const Replay = Type.Object({
  // Whether they are dates is said as INVALID_DATE_RANGE, as of a query.
  from: Type.String({ maxLength: 40, description: 'Start: a time or day, inclusive' }),
  to: Type.String({ maxLength: 40, description: 'End: a time, exclusive, or a day, inclusive' }),
  status: Type.Optional(
    OneOf(['failed', 'all'], {
      description: 'Deliveries to repeat; default: failed ones that have not succeeded since',
    }),
  ),
  events: Type.Optional(
    Type.Array(Type.String({ maxLength: 60 }), {
      minItems: 1,
      maxItems: maxEvents,
      rule: `must be a list of 1 to ${maxEvents} names`,
      description: 'Event names or patterns, such as `sms.delivered` or `sms.*`',
    }),
  ),
})

const ReplayStarted = Type.Object(
  {
    replay_id: Type.String({ description: 'Id of the replay, such as `rpl_…`' }),
    count: Type.Integer({ description: 'Number of deliveries to repeat' }),
  },
  { title: 'ReplayStarted' },
)

const replays: Allowance = { name: 'webhook-replay', perMinute: 10, what: 'replays' }

export const replayWindow = write({
  method: 'POST',
  path: '/v1/webhooks/:id/replay',
  operation: 'webhooks.replay',
  summary: 'Replay the events of a time window',
  description:
    'Repeats up to 100,000 deliveries, 50 per second, with the original bodies and event ids; the webhook shows the progress. Failed deliveries that have succeeded since do not count as failed. Refused for a disabled webhook. At most 10 replays a minute.',
  scope: 'webhooks:write',
  params: IdParam,
  body: Replay,
  reply: { status: 200, schema: ReplayStarted },
  errors: ['WEBHOOK_NOT_FOUND', 'INVALID_DATE_RANGE', 'INVALID_EVENT', 'VALIDATION_ERROR', 'CONFLICT'],
  examples: [
    {
      name: 'Failed deliveries of one hour',
      body: { from: '2026-03-01T09:00:00Z', to: '2026-03-01T10:00:00Z', status: 'failed' },
    },
  ],
  prepare: async (app, { params }, caller) => admit(app, await existing(app.db, params.id, caller), replays),
  handle: (app, tx, { params, body }, caller) => begin(app, tx, params.id, body, caller),
})

async function begin(
  app: App,
  tx: Tx,
  webhook: string,
  input: Static<typeof Replay>,
  caller: Caller,
): Promise<Static<typeof ReplayStarted>> {
  const { tenant } = caller
  const { from, to } = timeWindow(input)
  if (!from || !to) throw new AppError('INVALID_DATE_RANGE', 'from and to are both needed')
  const endpoint = await existing(tx, webhook, caller)
  requireEnabled(endpoint)
  const choice = {
    endpoint: endpoint.id,
    from,
    to,
    status: input.status ?? 'failed',
    events: namesOf(app, input.events),
  }
  const since = keptSince(caller)
  const { count } = await one(tx.query(countChosen, { ...tenant, ...choice, since, most: maxDeliveries }))
  if (count > maxDeliveries)
    throw new AppError('VALIDATION_ERROR', `the window has more than ${maxDeliveries} deliveries; choose a shorter one`)
  const { id, uuid } = newIdAndUuid('replay', caller.receivedMs)
  const at = new Date(caller.nowMs)
  await tx.query(insertReplay, { ...tenant, ...choice, id: uuid, total: count, cursor: since, at })
  await record(tx, caller, 'webhook.replay', webhook, { after: { replay_id: id, from, to, count } })
  const job = app.work.prepare(replay, tenant, { replay: id })
  await app.work.add(tx, job)
  tx.afterCommit(() => app.work.begin(job))
  return { replay_id: id, count }
}

/** The names that the words of a subscription stand for; null for all of them. */
function namesOf({ catalogue }: App, words: readonly string[] | undefined): string[] | null {
  return words ? catalogue.namesOf(subscriptionOf(catalogue, words)) : null
}

const ReplayPayload = Type.Object({ replay: Type.String() })

export const replay: Job<App, typeof ReplayPayload> = {
  lane: 'webhooks.replay',
  role: 'webhooks',
  payload: ReplayPayload,
  concurrency: 16,
  retrySeconds: [1, 5, 30, 60, 300, 300, 300],
  async handle(app, { tenant, payload }) {
    const id = uuidOf('replay', payload.replay)
    if (!tenant || id === null) throw new Error('a replay belongs to an account')
    const isOver = await app.db.tx(tenant, (tx) => step(app, tx, tenant, id))
    app.work.poke()
    return isOver ? { kind: 'done' } : { kind: 'again', afterMs: stepMs }
  },
}

/** Queues the next few; true when there are no more. */
async function step(app: App, tx: Tx, tenant: Tenant, id: string): Promise<boolean> {
  const row = await maybe(tx.query(lockReplay, { ...tenant, id }))
  if (!row) return true
  const sources = await tx.query(nextChosen, {
    ...tenant,
    endpoint: row.endpoint_id,
    from: row.since,
    to: row.until,
    status: row.status,
    events: row.events,
    cursor: row.cursor,
    limit: Math.min(perStep, row.total - row.queued),
  })
  const nowMs = app.clock.nowMs()
  const queued = await redeliver(tx, tenant, {
    ids: sources.map(() => newUuid(nowMs)),
    sources: sources.map((source) => source.id),
    endpoint: row.endpoint_id,
    replay: id,
    at: new Date(nowMs + Number(row.clock_offset_ms)),
  })
  const finished = row.queued + queued >= row.total || sources.length === 0
  await tx.query(moveReplay, { ...tenant, id, queued, cursor: sources.at(-1)?.id ?? row.cursor, finished })
  return finished
}

export const ReplayProgress = Type.Object(
  {
    replay_id: Type.String({ description: 'Id of the replay, such as `rpl_…`' }),
    state: OneOf(['running', 'done'], { description: 'State; `done` once all deliveries are queued' }),
    count: Type.Integer({ description: 'Total number of deliveries' }),
    queued: Type.Integer({ description: 'Number of deliveries queued so far' }),
  },
  { title: 'ReplayProgress' },
)

/** Progress of an endpoint's latest replay; null when it has had none. */
export async function replayProgress(
  queryable: Queryable,
  tenant: Tenant,
  endpoint: string,
): Promise<Static<typeof ReplayProgress> | null> {
  const row = await maybe(queryable.query(latestReplay, { ...tenant, endpoint }))
  if (!row) return null
  const { id, total, queued, finished } = row
  return { replay_id: idOf('replay', id), state: finished ? 'done' : 'running', count: total, queued }
}
