// SPDX-License-Identifier: Apache-2.0
// Routes of monitoring: a supervisor listens, whispers to the agent, or joins the call. All are audited.
import { Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { newUuid, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { type Route, read, write } from '../../../platform/api/route.ts'
import { maybe, one } from '../../../platform/db.ts'
import { At, Nullable, OneOf, Phone } from '../../../platform/schema/fields.ts'
import { liveCalls } from '../../voice/area.ts'
import { contactFor } from '../agent/named-call.ts'
import { all } from '../conferences/conference.ts'
import { AgentId, SipUri } from '../schema.ts'
import { holdSwitchboard } from '../switchboard.ts'
import { monitorRecord, ringSupervisor, stopMonitor, supervisorTarget, switchMode } from './monitor.ts'
import { findMonitor, insertMonitor } from './store.ts'

const Mode = OneOf(['listen', 'whisper', 'barge'], {
  description: 'Listening mode: not heard (`listen`), heard by the agent only (`whisper`) or by everyone (`barge`)',
})
const MonitorId = Type.Object({ monitor_id: Type.String({ description: 'Id of the monitor, mon_…' }) })

const Monitor = Type.Object(
  {
    monitor_id: Type.String({ description: 'Id of the monitor, such as `mon_…`' }),
    call_id: Type.String({ description: 'Id of the call to monitor, `call_…`' }),
    supervisor_id: Nullable(Type.String({ description: 'Id of the supervising agent; null for an endpoint' })),
    mode: Mode,
    status: OneOf(['connecting', 'active', 'ended'], {
      description: 'Status; `connecting` until the supervisor answers',
    }),
    supervisor_call_id: Nullable(Type.String({ description: 'The supervisor’s leg, `call_…`; null until it rings' })),
    started_at: At({ description: 'Time of the request' }),
  },
  { title: 'CallMonitor' },
)

const noMonitor = () => new AppError('NOT_FOUND', 'there is no such monitor; ids of monitors begin with mon_')

function uuid(id: string): string {
  const found = uuidOf('monitor', id)
  if (found === null) throw noMonitor()
  return found
}

const start = write({
  method: 'POST',
  path: '/v1/voice/monitor',
  operation: 'callcenter.startMonitor',
  summary: 'Monitor a call: listen, whisper or barge in',
  scope: 'callcenter:write',
  body: Type.Object({
    call_id: Type.String({ maxLength: 40, description: 'Id of the call to monitor, `call_…`' }),
    mode: Mode,
    supervisor_id: Type.Optional(AgentId('Id of the supervising agent')),
    endpoint: Type.Optional(
      Type.Object(
        {
          type: OneOf(['phone', 'sip'], { description: 'Kind of value; the field of this name holds it' }),
          number: Type.Optional(Phone({ description: 'Phone number' })),
          uri: Type.Optional(SipUri),
        },
        { description: 'Endpoint to ring instead of an agent' },
      ),
    ),
  }),
  reply: { status: 201, schema: Monitor, location: ({ monitor_id }) => `/v1/voice/monitor/${monitor_id}` },
  errors: ['NOT_FOUND', 'CALL_NOT_ACTIVE', 'AGENT_NOT_AVAILABLE', 'INVALID_PHONE'],
  async prepare(app, { body }, caller) {
    const { tenant } = caller
    const { endpoint, supervisor_id } = body
    if ((endpoint === undefined) === (supervisor_id === undefined))
      throw invalid('supervisor_id', 'or endpoint is missing: give one of them')
    if (endpoint && (endpoint.number === undefined) === (endpoint.uri === undefined))
      throw invalid('endpoint', 'must have either number or uri')
    const { contact, call } = await contactFor(app, caller, body.call_id)
    const customer = contact?.call_id ?? call
    const found = await liveCalls(app).find(tenant, customer)
    if (found?.status !== 'answered') throw new AppError('CALL_NOT_ACTIVE', `the call is ${found?.status ?? 'over'}`)
    const from = found.direction === 'inbound' ? found.to : found.from
    return { call: customer, room: contact?.room_id ?? found.room, from }
  },
  async handle(app, tx, { body }, caller, { call, room, from }) {
    const { tenant, receivedMs, nowMs } = caller
    await holdSwitchboard(tx, tenant)
    const supervisor = body.supervisor_id ?? null
    const endpoint = body.endpoint ?? null
    const to = await supervisorTarget(app, tx, { ...caller }, { supervisor_id: supervisor, endpoint, call_id: call })
    const row = await one(
      tx.query(insertMonitor, {
        ...tenant,
        id: newUuid(receivedMs),
        call,
        supervisor,
        endpoint: endpoint && JSON.stringify(endpoint),
        mode: body.mode,
        at: new Date(nowMs),
      }),
    )
    await record(tx, caller, 'monitor.start', monitorRecord(row).call_id, {
      after: { mode: row.mode, supervisor_id: supervisor },
    })
    tx.afterCommit(() => void all(app, [() => ringSupervisor(app, tenant, row, room, to, from)]))
    return monitorRecord(row)
  },
})

const get = read({
  method: 'GET',
  path: '/v1/voice/monitor/:monitor_id',
  operation: 'callcenter.getMonitor',
  summary: 'Get a call monitor',
  scope: 'callcenter:read',
  params: MonitorId,
  needs: 'nothing',
  reply: { status: 200, schema: Monitor },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => {
    const row = await maybe(app.db.query(findMonitor, { ...tenant, id: uuid(params.monitor_id) }))
    if (!row) throw noMonitor()
    return monitorRecord(row)
  },
})

const change = write({
  method: 'PATCH',
  path: '/v1/voice/monitor/:monitor_id',
  operation: 'callcenter.switchMonitor',
  summary: 'Update the mode of a call monitor',
  scope: 'callcenter:write',
  params: MonitorId,
  needs: 'nothing',
  body: Type.Object({ mode: Mode }),
  reply: { status: 200, schema: Monitor },
  errors: ['NOT_FOUND', 'CALL_NOT_ACTIVE'],
  async handle(app, tx, { params, body }, caller) {
    const { tenant } = caller
    await holdSwitchboard(tx, tenant)
    const row = await maybe(tx.query(findMonitor, { ...tenant, id: uuid(params.monitor_id) }))
    if (!row) throw noMonitor()
    const switched = await switchMode(app, tx, { ...caller }, row, body.mode)
    const change = { before: { mode: row.mode }, after: { mode: body.mode } }
    await record(tx, caller, 'monitor.switch', monitorRecord(row).call_id, change)
    tx.afterCommit(() => void all(app, switched.after))
    return monitorRecord(switched.row)
  },
})

const stop = write({
  method: 'DELETE',
  path: '/v1/voice/monitor/:monitor_id',
  operation: 'callcenter.stopMonitor',
  summary: 'Stop monitoring a call',
  scope: 'callcenter:write',
  params: MonitorId,
  needs: 'nothing',
  reply: { status: 200, schema: Monitor },
  errors: ['NOT_FOUND'],
  async handle(app, tx, { params }, caller) {
    const { tenant } = caller
    await holdSwitchboard(tx, tenant)
    const row = await maybe(tx.query(findMonitor, { ...tenant, id: uuid(params.monitor_id) }))
    if (!row) throw noMonitor()
    const stopped = await stopMonitor(app, tx, { ...caller }, row)
    await record(tx, caller, 'monitor.stop', monitorRecord(row).call_id)
    tx.afterCommit(() => void all(app, stopped.after))
    return monitorRecord(stopped.row)
  },
})

export const monitorRoutes: readonly Route[] = [start, get, change, stop]
