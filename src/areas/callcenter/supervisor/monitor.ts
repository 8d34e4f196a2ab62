// SPDX-License-Identifier: Apache-2.0
// Monitoring: a supervisor listens, whispers to the agent, or speaks with both. The mode only sets who hears whom, so
// it changes with the next frame.
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type LegChange, type LegToRing, liveCalls } from '../../voice/area.ts'
import { isPaused, settableStatuses } from '../agents/agent.ts'
import { agentNamed, become, becomeFree, noteLeg } from '../agents/presence.ts'
import type { After } from '../caller/next-contact.ts'
import { tagOf } from '../contact/leg-tags.ts'
import { targetOf } from '../contact/ring-target.ts'
import { contactsOfCall } from '../contacts.ts'
import { monitorEvents } from '../events.ts'
import { atSwitchboard } from '../switchboard.ts'
import { findMonitor, type MonitorMode, type MonitorRow, monitorsOfCall, saveMonitor } from './store.ts'

const ringSeconds = 30

export function monitorRecord(row: MonitorRow) {
  return {
    monitor_id: idOf('monitor', row.id),
    call_id: idOf('call', row.call_id),
    supervisor_id: row.supervisor_id,
    mode: row.mode,
    status: row.status,
    supervisor_call_id: row.leg_id === null ? null : idOf('call', row.leg_id),
    started_at: row.started_at,
  }
}

/** Listeners of a supervisor: none, the agents, or all. */
async function heardBy(app: App, tenant: Tenant, { call_id, mode }: MonitorRow): Promise<'all' | string[]> {
  if (mode === 'barge') return 'all'
  if (mode === 'listen') return []
  const contacts = await app.db.query(contactsOfCall, { ...tenant, call: call_id })
  const own = contacts.filter(({ state, agent_id }) => state === 'connected' && agent_id !== null)
  return own.flatMap(({ leg_id }) => leg_id ?? [])
}

/** Ring target of a supervisor, who must not be on a call; one who takes no calls of queues is paused again afterwards. */
export async function supervisorTarget(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: Pick<MonitorRow, 'supervisor_id' | 'endpoint' | 'call_id'>,
): Promise<LegToRing['to']> {
  const { endpoint, supervisor_id } = row
  if (endpoint?.number !== undefined) return { phone: endpoint.number }
  if (endpoint?.uri !== undefined) return { sip: endpoint.uri }
  const agent = supervisor_id === null ? null : await agentNamed(tx, occasion, supervisor_id)
  const to = agent && targetOf(agent)
  const paused = agent && settableStatuses.find((status) => status === agent.status && isPaused(status))
  if (!agent || !to || (agent.status !== 'available' && !paused))
    throw new AppError(
      'AGENT_NOT_AVAILABLE',
      agent ? `${agent.agent_id} is ${agent.status}, or cannot be reached` : 'there is no such agent',
    )
  await become(app, tx, occasion, agent, 'ringing', {
    call_id: row.call_id,
    contact_id: null,
    leg_id: null,
    ...(paused ? { next_status: paused, next_reason: agent.reason } : {}),
  })
  return to
}

export async function ringSupervisor(
  app: App,
  tenant: Tenant,
  monitor: MonitorRow,
  room: string,
  to: LegToRing['to'],
  from: string,
): Promise<MonitorRow> {
  const tag = tagOf('monitor', monitor.id)
  const hearers = await heardBy(app, tenant, monitor)
  const rung = await liveCalls(app).ring(tenant, room, {
    to,
    from,
    timeoutSeconds: ringSeconds,
    tag,
    hears: 'all',
    heardBy: hearers,
  })
  return atSwitchboard(app, tenant, async (tx, occasion) => {
    const now = (await maybe(tx.query(findMonitor, { ...tenant, id: monitor.id }))) ?? monitor
    if ('refused' in rung) return ended(app, tx, occasion, now)
    if (now.supervisor_id !== null && now.endpoint === null)
      await noteLeg(app, tx, occasion, now.supervisor_id, rung.call)
    return save(tx, tenant, now, { leg_id: rung.call })
  })
}

function save(tx: Tx, tenant: Tenant, row: MonitorRow, change: Partial<MonitorRow>): Promise<MonitorRow> {
  const { mode, status, leg_id: leg, ended_at: endedAt } = { ...row, ...change }
  return one(tx.query(saveMonitor, { ...tenant, id: row.id, mode, status, leg, endedAt }))
}

async function ended(app: App, tx: Tx, occasion: Occasion, row: MonitorRow): Promise<MonitorRow> {
  if (row.status === 'ended') return row
  const saved = await save(tx, occasion.tenant, row, { status: 'ended', ended_at: new Date(occasion.nowMs) })
  const agent =
    row.supervisor_id === null || row.endpoint !== null ? null : await agentNamed(tx, occasion, row.supervisor_id)
  if (agent && agent.call_id === row.call_id && agent.contact_id === null) await becomeFree(app, tx, occasion, agent)
  await tell(app, tx, occasion, saved, 'ended')
  return saved
}

function tell(app: App, tx: Tx, occasion: Occasion, row: MonitorRow, what: 'started' | 'ended') {
  const account_id = idOf('account', occasion.tenant.account)
  const payload = { account_id, ...monitorRecord(row), ended_at: row.ended_at }
  return app.outbox.emit(tx, monitorEvents[what], occasion, idOf('monitor', row.id), payload)
}

export async function monitorChanged(app: App, change: LegChange, id: string): Promise<void> {
  const { tenant } = change
  if (change.kind !== 'answered' && change.kind !== 'ended') return
  await atSwitchboard(app, tenant, async (tx, occasion) => {
    const row = await maybe(tx.query(findMonitor, { ...tenant, id }))
    if (!row || row.status === 'ended') return
    if (change.kind === 'ended') return void (await ended(app, tx, occasion, row))
    const agent =
      row.supervisor_id === null || row.endpoint !== null ? null : await agentNamed(tx, occasion, row.supervisor_id)
    if (agent?.status === 'ringing' && agent.call_id === row.call_id)
      await become(app, tx, occasion, agent, 'on_call', { leg_id: change.call })
    await tell(app, tx, occasion, await save(tx, tenant, row, { status: 'active', leg_id: change.call }), 'started')
  })
}

export async function switchMode(
  app: App,
  tx: Tx,
  { tenant }: Occasion,
  row: MonitorRow,
  mode: MonitorMode,
): Promise<{ row: MonitorRow; after: After[] }> {
  if (row.status === 'ended') throw new AppError('CALL_NOT_ACTIVE', 'this call is no longer monitored')
  const saved = await save(tx, tenant, row, { mode })
  const edges = async () => {
    if (saved.leg_id !== null)
      await liveCalls(app).edges(tenant, saved.leg_id, { hears: 'all', heardBy: await heardBy(app, tenant, saved) })
  }
  return { row: saved, after: [edges] }
}

export async function stopMonitor(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: MonitorRow,
): Promise<{ row: MonitorRow; after: After[] }> {
  const leg = row.leg_id
  const saved = await ended(app, tx, occasion, row)
  return { row: saved, after: leg === null ? [] : [() => liveCalls(app).hangUp(occasion.tenant, leg)] }
}

/** Ends all monitors of a call that ended. */
export async function endMonitorsOf(app: App, tenant: Tenant, call: string): Promise<void> {
  if ((await app.db.query(monitorsOfCall, { ...tenant, call })).length === 0) return
  await atSwitchboard(app, tenant, async (tx, occasion) => {
    for (const row of await tx.query(monitorsOfCall, { ...tenant, call })) await ended(app, tx, occasion, row)
  })
}
