// SPDX-License-Identifier: Apache-2.0
// Agent status: every change ends one interval of time, starts the next and emits an event. Callers hold the
// switchboard lock.
import { idOf, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { agentEvents } from '../events.ts'
import { tickLater } from '../tick.ts'
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
    | 'missed_offers'
    | 'offer_after'
  >
>

/** Watcher of agent changes, called after the commit; desks show them. */
type Watcher = (row: AgentRow) => void
const watchers = onePerApp(() => new Set<Watcher>())

export function watchAgents(app: App, watcher: Watcher): () => void {
  watchers(app).add(watcher)
  return () => void watchers(app).delete(watcher)
}

/** Updates an agent without a status change. */
export async function keepPresence(
  app: App,
  tx: Tx,
  { tenant, nowMs }: Occasion,
  row: AgentRow,
  change: Change & Pick<Partial<AgentRow>, 'status' | 'since' | 'idle_since'>,
): Promise<AgentRow> {
  const now = { ...row, ...change }
  const saved = await one(tx.query(saveAgent, { ...now, ...tenant, agent: row.agent_id, at: new Date(nowMs) }))
  tx.afterCommit(() => {
    for (const watcher of watchers(app)) watcher(saved)
  })
  return saved
}

/** Changes an agent's status if the transition is allowed; returns the updated row. */
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
    missed_offers: status === 'ringing' ? row.missed_offers : 0,
    offer_after: null,
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

/** Pauses before the next offer to an agent who could not be rung, in milliseconds; the last one repeats. */
const offerPausesMs = [2_000, 10_000, 30_000, 120_000, 300_000]

/**
 * Agent who was not rung because of a failure that is not the agent's: stays available, is not offered calls for a
 * pause that grows, and shows the reason.
 */
export async function offerFailed(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: AgentRow,
  cause: string,
): Promise<AgentRow> {
  const status = row.session_id === null ? 'offline' : (row.next_status ?? 'available')
  const missed = row.missed_offers + 1
  const pauseMs = offerPausesMs[Math.min(missed, offerPausesMs.length) - 1] ?? 0
  app.log.warn(
    { agent: row.agent_id, cause, missed, pause_ms: pauseMs },
    'agent not rung: the call goes to the next free agent, and this agent is offered calls again after a pause; check trunks and media processes if this repeats',
  )
  const none = { call_id: null, leg_id: null, contact_id: null, next_status: null, next_reason: null }
  const isFree = status === 'available'
  if (isFree) await tickLater(app, tx, occasion.tenant, pauseMs)
  return become(app, tx, occasion, row, status, {
    ...none,
    reason: isFree ? cause : row.next_reason,
    ...(isFree ? { missed_offers: missed, offer_after: new Date(occasion.nowMs + pauseMs) } : {}),
  })
}

/** Stores the leg that rings an agent; a browser desk then offers it. */
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
