// SPDX-License-Identifier: Apache-2.0
// State changes of a contact and its agent: answered, requeued, ended, wrapped up. Callers hold the switchboard lock;
// nothing here commands the call.
import type { App } from '../../../platform/app.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { become, becomeFree } from '../agents/presence.ts'
import { type AgentRow, agentsOfCall } from '../agents/store.ts'
import { type ContactOutcome, type ContactRow, findContact, saveContact, underWay } from '../contacts.ts'
import { waitingIn } from '../queues/live.ts'
import { findQueue, type QueueRow } from '../queues/store.ts'
import { tickLater } from '../tick.ts'
import { tellAbandoned } from './contact-events.ts'

/** Callers who hang up earlier count as short abandons. */
const shortMs = 5_000
/** Wrap-up time in seconds of calls without a queue. */
const usualWrapUpSeconds = 30

export async function queueOf(tx: Tx, { tenant }: Occasion, id: string | null): Promise<QueueRow | null> {
  return id === null ? null : maybe(tx.query(findQueue, { ...tenant, id }))
}

export function contactNamed(tx: Tx, { tenant }: Occasion, id: string): Promise<ContactRow | null> {
  return maybe(tx.query(findContact, { ...tenant, id }))
}

/** Connects customer and agent; other ringing agents become free. Returns the legs to hang up. */
export async function connected(
  app: App,
  tx: Tx,
  occasion: Occasion,
  contact: ContactRow,
  agent: AgentRow,
  leg: string,
): Promise<{ contact: ContactRow; stop: string[] }> {
  const { tenant, nowMs } = occasion
  const queue = await queueOf(tx, occasion, contact.queue_id)
  const waitedMs = nowMs - contact.entered_at.getTime()
  const stop: string[] = []
  for (const other of await tx.query(agentsOfCall, { ...tenant, call: contact.call_id })) {
    if (other.agent_id === agent.agent_id || other.contact_id !== contact.id || other.status !== 'ringing') continue
    if (other.leg_id !== null) stop.push(other.leg_id)
    await becomeFree(app, tx, occasion, other)
  }
  await become(app, tx, occasion, agent, 'on_call', {
    call_id: contact.call_id,
    contact_id: contact.id,
    leg_id: leg,
    calls_taken: agent.calls_taken + 1,
  })
  const next = await saveContact(tx, tenant, contact, {
    state: 'connected',
    outcome: 'answered',
    agent_id: agent.agent_id,
    leg_id: leg,
    answered_at: contact.answered_at ?? new Date(nowMs),
    in_threshold: queue !== null && waitedMs <= queue.document.sla.threshold_seconds * 1_000,
  })
  return { contact: next, stop }
}

/** Requeues an unanswered contact, at the position of its original wait. */
export async function backToQueue(
  app: App,
  tx: Tx,
  { tenant }: Occasion,
  contact: ContactRow,
  change: Partial<ContactRow> = {},
): Promise<ContactRow> {
  await tickLater(app, tx, tenant, 0)
  return saveContact(tx, tenant, contact, { state: 'waiting', leg_id: null, ...change })
}

/** Ends a contact. Returns the agent legs to hang up. */
export async function over(
  app: App,
  tx: Tx,
  occasion: Occasion,
  contact: ContactRow,
  outcome: ContactOutcome,
  change: Partial<ContactRow> = {},
): Promise<{ contact: ContactRow; legs: string[] }> {
  const { tenant, nowMs } = occasion
  if (contact.state === 'ended' || contact.state === 'wrap_up') return { contact, legs: [] }
  const wasAnswered = contact.answered_at !== null
  if (!wasAnswered && outcome === 'abandoned') await tellLost(app, tx, occasion, contact)
  const legs: string[] = []
  let isWrapping = false
  for (const agent of await tx.query(agentsOfCall, { ...tenant, call: contact.call_id })) {
    if (agent.contact_id !== contact.id) continue
    if (agent.leg_id !== null) legs.push(agent.leg_id)
    if (agent.status === 'on_call' && wasAnswered)
      isWrapping = (await wrapUp(app, tx, occasion, contact, agent)) || isWrapping
    else if (agent.status !== 'wrap_up') await becomeFree(app, tx, occasion, agent)
  }
  await tickLater(app, tx, tenant, 0)
  const held = contact.held_since === null ? 0 : nowMs - contact.held_since.getTime()
  const ended = await saveContact(tx, tenant, contact, {
    state: isWrapping ? 'wrap_up' : 'ended',
    outcome: wasAnswered ? 'answered' : outcome,
    ended_at: new Date(nowMs),
    held_since: null,
    hold_ms: contact.hold_ms + BigInt(Math.max(0, held)),
    is_short: !wasAnswered && outcome === 'abandoned' && nowMs - contact.entered_at.getTime() < shortMs,
    ...change,
  })
  return { contact: ended, legs }
}

async function tellLost(app: App, tx: Tx, occasion: Occasion, contact: ContactRow): Promise<void> {
  const queue = await queueOf(tx, occasion, contact.queue_id)
  const waiting = queue ? waitingIn(queue, await tx.query(underWay, occasion.tenant), occasion.nowMs) : []
  await tellAbandoned(app, tx, occasion, contact, Math.max(1, waiting.findIndex(({ id }) => id === contact.id) + 1))
}

/** Starts an agent's wrap-up time; false when the queue has none. */
async function wrapUp(app: App, tx: Tx, occasion: Occasion, contact: ContactRow, agent: AgentRow): Promise<boolean> {
  const queue = await queueOf(tx, occasion, contact.queue_id)
  const seconds = queue?.document.wrap_up_seconds ?? usualWrapUpSeconds
  if (seconds === 0 || agent.session_id === null) {
    await becomeFree(app, tx, occasion, agent)
    return false
  }
  await become(app, tx, occasion, agent, 'wrap_up', { until: new Date(occasion.nowMs + seconds * 1_000), leg_id: null })
  await tickLater(app, tx, occasion.tenant, seconds * 1_000)
  return true
}

/** Ends an agent's wrap-up, by request or timeout; returns the contact that is over with it. */
export async function wrappedUp(tx: Tx, occasion: Occasion, agent: AgentRow): Promise<ContactRow | null> {
  if (agent.status !== 'wrap_up' || agent.contact_id === null) return null
  const contact = await contactNamed(tx, occasion, agent.contact_id)
  if (contact?.state !== 'wrap_up') return null
  return saveContact(tx, occasion.tenant, contact, { state: 'ended', wrapped_at: new Date(occasion.nowMs) })
}
