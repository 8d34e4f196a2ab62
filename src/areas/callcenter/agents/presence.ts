// SPDX-License-Identifier: Apache-2.0
// Agent status: every change ends one interval of time, starts the next and emits an event. Callers hold the
// switchboard lock.
import { idOf, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { agentEvents } from '../events.ts'
import { type AgentStatus, mayBecome } from './agent.ts'
import { type AgentRow, beginState, endState, findAgent, saveAgent } from './store.ts'

/** Fields that change beside the status. */
type Change = Partial<
  Pick<
    AgentRow,
    | 'reason'
    | 'until'
    | 'next_status'
    | 'next_reason'
    | 'call_id'
    | 'leg_id'
    | 'contact_id'
    | 'calls_taken'
    | 'session_id'
    | 'logged_in_at'
    | 'desk_id'
    | 'desk_lost_at'
  >
>

/** Watcher of agent changes, called after the commit; desks show them. */
type Watcher = (row: AgentRow) => void
const watchers = onePerApp(() => new Set<Watcher>())

export function watchAgents(app: App, watcher: Watcher): () => void {
  watchers(app).add(watcher)
  return () => void watchers(app).delete(watcher)
}

/** Update an agent without a status change. */
export async function keepPresence(
  app: App,
  tx: Tx,
  { tenant, nowMs }: Occasion,
  row: AgentRow,
  change: Change & Pick<Partial<AgentRow>, 'status' | 'since' | 'idle_since'>,
): Promise<AgentRow> {
  const now = { ...row, ...change }
  const saved = await one(
    tx.query(saveAgent, {
      ...tenant,
      agent: row.agent_id,
      status: now.status,
      reason: now.reason,
      since: now.since,
      until: now.until,
      nextStatus: now.next_status,
      nextReason: now.next_reason,
      session: now.session_id,
      loggedInAt: now.logged_in_at,
      call: now.call_id,
      leg: now.leg_id,
      contact: now.contact_id,
      desk: now.desk_id,
      deskLostAt: now.desk_lost_at,
      idleSince: now.idle_since,
      callsTaken: now.calls_taken,
      at: new Date(nowMs),
    }),
  )
  tx.afterCommit(() => {
    for (const watcher of watchers(app)) watcher(saved)
  })
  return saved
}

/** Change an agent's status if the transition is allowed; returns the updated row. */
export async function become(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: AgentRow,
  status: AgentStatus,
  change: Change = {},
): Promise<AgentRow> {
  if (row.status === status) return keepPresence(app, tx, occasion, row, change)
  if (!mayBecome(row.status, status)) return row
  const { tenant, nowMs, receivedMs } = occasion
  const at = new Date(nowMs)
  const idle = status === 'available' ? { idle_since: at } : {}
  const next = await keepPresence(app, tx, occasion, row, {
    reason: null,
    until: null,
    ...change,
    status,
    since: at,
    ...idle,
  })
  const agent = { ...tenant, agent: row.agent_id }
  await tx.query(endState, { ...agent, at })
  if (status !== 'offline')
    await tx.query(beginState, { ...agent, id: newUuid(receivedMs), status, call: next.call_id, at })
  await app.outbox.emit(tx, agentEvents.statusChanged, occasion, row.agent_id, {
    account_id: idOf('account', tenant.account),
    agent_id: row.agent_id,
    status,
    previous_status: row.status,
    reason: next.reason,
    since: at,
    previous_seconds: secondsSince(row.since, nowMs),
    call_id: next.call_id === null ? null : idOf('call', next.call_id),
  })
  return next
}

/** Agent after a call: the status chosen meanwhile, or available. */
export function becomeFree(app: App, tx: Tx, occasion: Occasion, row: AgentRow): Promise<AgentRow> {
  const status = row.session_id === null ? 'offline' : (row.next_status ?? 'available')
  return become(app, tx, occasion, row, status, {
    reason: row.next_reason,
    next_status: null,
    next_reason: null,
    call_id: null,
    leg_id: null,
    contact_id: null,
  })
}

/** Store the leg that rings an agent; a browser desk then offers it. */
export async function noteLeg(app: App, tx: Tx, occasion: Occasion, agent: string, leg: string): Promise<void> {
  const now = await agentNamed(tx, occasion, agent)
  if (now?.status === 'ringing' && now.leg_id === null) await keepPresence(app, tx, occasion, now, { leg_id: leg })
}

export function agentNamed(tx: Tx, { tenant }: Occasion, agent: string): Promise<AgentRow | null> {
  return maybe(tx.query(findAgent, { ...tenant, agent }))
}

export function secondsSince(since: Date, nowMs: number): number {
  return Math.max(0, Math.round((nowMs - since.getTime()) / 1_000))
}
