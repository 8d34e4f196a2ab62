// SPDX-License-Identifier: Apache-2.0
// Routes of queues.
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { list, type Route, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one } from '../../../platform/db.ts'
import { At, listQuery, Nullable } from '../../../platform/schema/fields.ts'
import { pageOfWhole } from '../../../platform/schema/lists.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { requireDestination, requireHours } from '../checks.ts'
import { requireFewer } from '../limits.ts'
import { realtime } from '../metrics/boards.ts'
import type { Measures } from '../metrics/measure.ts'
import { liveOf, type QueueLive } from '../queues/live.ts'
import {
  agedPriority,
  QueueChange,
  QueueCreate,
  type QueueDocument,
  queueDefaults,
  queueStatus,
} from '../queues/queue.ts'
import { findQueue, findQueueNamed, insertQueue, lockQueue, type QueueRow, saveQueue } from '../queues/store.ts'
import { readScene } from '../routing/surroundings.ts'
import { holdSwitchboard } from '../switchboard.ts'
import { tickLater } from '../tick.ts'

const maxShown = 50
const QueueId = Type.Object({ queue_id: Type.String({ description: 'Id of the queue, que_…' }) })

const settings = QueueCreate.properties

const record = {
  queue_id: Type.String({ description: 'Id of the queue, such as `que_…`' }),
  name: Type.String({ description: 'Unique name' }),
  strategy: settings.strategy,
  skills_required: settings.skills_required,
  skill_relax_seconds: Nullable(
    Type.Integer({ description: 'Seconds of waiting after which the required level drops by one; null: never' }),
  ),
  agents: settings.agents,
  max_wait_seconds: Type.Integer({ description: 'Maximum wait in seconds; 0 for no limit' }),
  max_size: Type.Integer({ description: 'Maximum number of waiting callers' }),
  music_url: Nullable(Type.String({ description: 'URL of the hold music; null: the default' })),
  announcements: settings.announcements,
  overflow: settings.overflow,
  callback: settings.callback,
  sla: settings.sla,
  offer_timeout: Type.Integer({ description: 'Seconds for which an agent is rung' }),
  wrap_up_seconds: Type.Integer({ description: 'Seconds of wrap-up after a call, without new calls' }),
  aging_seconds: Type.Integer({ description: 'Seconds of waiting that raise the priority by one' }),
  record: Type.Boolean({ description: 'True if the calls of the queue are recorded' }),
  recording_prompt: settings.recording_prompt,
  agent_prompt: settings.agent_prompt,
  language: Type.String({ description: 'Language of the announcements, such as `sw-KE`' }),
  business_hours_id: Nullable(Type.String({ description: 'Id of the business hours, `bh_…`; null: always open' })),
  priority: Type.Integer({ description: 'Default priority of its calls, 1 to 10' }),
  status: queueStatus,
  created_at: At({ description: 'Time of creation' }),
  updated_at: At({ description: 'Time of the last change' }),
}
const QueueRecord = Type.Object(record, { title: 'Queue' })

const summary = {
  waiting: Type.Integer({ description: 'Number of waiting callers' }),
  longest_wait_seconds: Type.Integer({ description: 'Longest current wait in seconds; 0 in an empty queue' }),
  estimated_wait_seconds: Nullable(
    Type.Integer({ description: 'Estimated wait of a new caller, in seconds; null while no agent is logged in' }),
  ),
  agents: Type.Object(
    {
      logged_in: Type.Integer({ description: 'Agents who are logged in' }),
      available: Type.Integer({ description: 'Agents who are free' }),
      on_call: Type.Integer({ description: 'Agents who are on a call or being rung' }),
      wrap_up: Type.Integer({ description: 'Agents who are wrapping up a call' }),
      paused: Type.Integer({ description: 'Agents on a break, away, in training or in a meeting' }),
    },
    { description: 'Number of agents by status' },
  ),
  service_level_percent: Nullable(Type.Number({ description: 'Service level today; null without calls' })),
}

const QueueListed = Type.Object(
  { ...record, live: Type.Object(summary, { description: 'Live figures' }) },
  { title: 'QueueWithSummary' },
)

const QueueStatus = Type.Object(
  {
    ...record,
    live: Type.Object(
      {
        ...summary,
        calls: Type.Array(
          Type.Object({
            call_id: Type.String({ description: 'Id of the call, such as `call_…`' }),
            from: Type.String({ description: 'Calling party' }),
            position: Type.Integer({ description: 'Position in the queue, from 1' }),
            waited_seconds: Type.Integer({ description: 'Seconds that the caller has waited' }),
            priority: Type.Integer({ description: 'Priority, with the increase for the wait' }),
          }),
          { description: 'Waiting calls in order, at most 50' },
        ),
      },
      { description: 'Live figures' },
    ),
  },
  { title: 'QueueStatus' },
)

function queueRecord({ id, name, status, document, created_at, updated_at }: QueueRow): Static<typeof QueueRecord> {
  return { queue_id: idOf('queue', id), name, ...queueDefaults, ...document, status, created_at, updated_at }
}

const noQueue = () => new AppError('NOT_FOUND', 'there is no such queue; ids of queues begin with que_')

function queueUuid(id: string): string {
  const uuid = uuidOf('queue', id)
  if (uuid === null) throw noQueue()
  return uuid
}

async function checkQueue(app: App, tenant: Tenant, wanted: Static<typeof QueueChange>): Promise<void> {
  if (wanted.music_url) await app.outbound.checkUrl(wanted.music_url, 'callback', tenant.environment, 'music_url')
  if (wanted.overflow) await requireDestination(app, tenant, 'overflow.action', wanted.overflow.action)
  await requireHours(app, tenant, 'business_hours_id', wanted.business_hours_id)
  if (wanted.callback?.enabled && wanted.callback.key === undefined)
    throw invalid('callback.key', 'is required when callback is enabled: one of 0-9, * and #')
}

/** Queue settings of a request merged over the stored ones. Lists are replaced. */
function merged(before: QueueDocument, wanted: Static<typeof QueueChange>): QueueDocument {
  const { name: _name, status: _status, ...rest } = wanted
  return { ...before, ...rest }
}

const taken = (name: string) => new AppError('DUPLICATE_REFERENCE', `there is a queue named "${name}" already`)

const create = write({
  method: 'POST',
  path: '/v1/voice/queue',
  operation: 'callcenter.createQueue',
  summary: 'Create a queue',
  scope: 'callcenter:write',
  body: QueueCreate,
  reply: { status: 201, schema: QueueRecord, location: ({ queue_id }) => `/v1/voice/queue/${queue_id}` },
  errors: ['INVALID_URL', 'INVALID_PHONE', 'UNSUPPORTED_LANGUAGE', 'DUPLICATE_REFERENCE', 'CONFLICT'],
  examples: [{ name: 'Support', body: { name: 'Support', strategy: 'longest_idle', max_wait_seconds: 300 } }],
  prepare: (app, { body }, { tenant }) => checkQueue(app, tenant, body),
  handle: async (_app, tx, { body }, { tenant, receivedMs, nowMs }) => {
    await holdSwitchboard(tx, tenant)
    const document = JSON.stringify(merged(queueDefaults, body))
    const row = { ...tenant, id: newUuid(receivedMs), name: body.name, document, at: new Date(nowMs) }
    const made = await maybe(tx.query(insertQueue, row))
    if (!made) throw taken(body.name)
    await requireFewer(tx, tenant, 'queues')
    return queueRecord(made)
  },
})

const change = write({
  method: 'PATCH',
  path: '/v1/voice/queue/:queue_id',
  operation: 'callcenter.changeQueue',
  summary: 'Update or pause a queue',
  scope: 'callcenter:write',
  params: QueueId,
  body: QueueChange,
  reply: { status: 200, schema: QueueRecord },
  errors: ['NOT_FOUND', 'INVALID_URL', 'INVALID_PHONE', 'UNSUPPORTED_LANGUAGE', 'DUPLICATE_REFERENCE'],
  prepare: async (app, { params, body }, { tenant }) => {
    queueUuid(params.queue_id)
    await checkQueue(app, tenant, body)
  },
  handle: async (app, tx, { params, body }, { tenant, nowMs }) => {
    const queue = { ...tenant, id: queueUuid(params.queue_id) }
    await holdSwitchboard(tx, tenant)
    const row = await maybe(tx.query(lockQueue, queue))
    if (!row) throw noQueue()
    const name = body.name ?? row.name
    const other = name === row.name ? null : await maybe(tx.query(findQueueNamed, { ...tenant, name }))
    if (other) throw taken(name)
    const document = JSON.stringify(merged(row.document, body))
    await tickLater(app, tx, tenant, 0)
    const saved = { ...queue, name, status: body.status ?? row.status, document, at: new Date(nowMs) }
    return queueRecord(await one(tx.query(saveQueue, saved)))
  },
})

type Figures = Pick<Measures, 'service_level_percent' | 'aht_seconds'>

/** Figures of today, by the account's clock and by queue. */
async function today(app: App, { tenant, nowMs }: Caller, queue: string | null): Promise<(id: string) => Figures> {
  const { queues } = await realtime(app, tenant, { window: 'today', queue, nowMs })
  const known = new Map(queues.map((one) => [one.queue_id, one]))
  return (id) => known.get(idOf('queue', id)) ?? { service_level_percent: null, aht_seconds: null }
}

function summaryOf(live: QueueLive, { service_level_percent }: Figures) {
  return {
    waiting: live.waiting.length,
    longest_wait_seconds: live.longestWaitSeconds,
    estimated_wait_seconds: live.estimatedWait,
    agents: live.agents,
    service_level_percent,
  }
}

const listOwn = list({
  path: '/v1/voice/queue',
  operation: 'callcenter.listQueues',
  summary: 'List queues and their current state',
  scope: 'callcenter:read',
  query: Type.Object(listQuery),
  row: QueueListed,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }, caller) => {
    const figuresOf = await today(app, caller, null)
    const scene = await readScene(app.db, caller.tenant)
    const shown = scene.queues.map((row) => {
      const figures = figuresOf(row.id)
      const live = liveOf(row, scene, caller.nowMs, figures.aht_seconds)
      return { ...queueRecord(row), live: summaryOf(live, figures) }
    })
    return pageOfWhole({ limit: 50, ...query }, shown, ({ queue_id }) => queue_id)
  },
})

const get = read({
  method: 'GET',
  path: '/v1/voice/queue/:queue_id',
  operation: 'callcenter.getQueue',
  summary: 'Get a queue and its waiting callers',
  scope: 'callcenter:read',
  params: QueueId,
  reply: { status: 200, schema: QueueStatus },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, caller) => {
    const { tenant, nowMs } = caller
    const row = await maybe(app.db.query(findQueue, { ...tenant, id: queueUuid(params.queue_id) }))
    if (!row) throw noQueue()
    const figures = (await today(app, caller, row.id))(row.id)
    const live = liveOf(row, await readScene(app.db, tenant), nowMs, figures.aht_seconds)
    const calls = live.waiting.slice(0, maxShown).map((waiting, i) => ({
      call_id: idOf('call', waiting.contact.call_id),
      from: waiting.contact.from_number,
      position: i + 1,
      waited_seconds: Math.max(0, Math.round((nowMs - waiting.enteredMs) / 1_000)),
      priority: agedPriority(waiting, nowMs),
    }))
    return { ...queueRecord(row), live: { ...summaryOf(live, figures), calls } }
  },
})

export const queueRoutes: readonly Route[] = [create, listOwn, get, change]
