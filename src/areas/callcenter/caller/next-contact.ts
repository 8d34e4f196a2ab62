// SPDX-License-Identifier: Apache-2.0
// Next contact of a call whose contact ended: it is queued, transferred, or the call ends. Callers hold the switchboard
// lock and run the returned commands after the commit.
import { newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { liveCalls } from '../../voice/area.ts'
import { agentsOfContact } from '../agents/store.ts'
import { backToQueue, over } from '../contact/lifecycle.ts'
import { type ContactOutcome, type ContactRow, contactsOfCall, insertContact } from '../contacts.ts'
import { findQueue, type QueueRow } from '../queues/store.ts'
import { tickLater } from '../tick.ts'
import { followerName, markWaiting } from './destination.ts'

export type After = () => Promise<unknown>

/** Contact that continues the same call. */
export function successor(
  tx: Tx,
  { tenant, receivedMs, nowMs }: Occasion,
  contact: ContactRow,
  next: {
    queue: string | null
    wanted: string | null
    state: ContactRow['state']
    /** Start of an earlier wait that counts. */
    since?: Date
  },
): Promise<ContactRow> {
  return one(
    tx.query(insertContact, {
      ...contact,
      ...{ ...tenant, id: newUuid(receivedMs), queue_id: next.queue, agent_id: null, wanted_agent: next.wanted },
      ...{ state: next.state, entered_at: next.since ?? new Date(nowMs), callback_for: null, attempts: 0 },
      skills: '[]',
      data: JSON.stringify(contact.data),
      ivr_path: JSON.stringify(contact.ivr_path),
    }),
  )
}

/** Ends a contact and queues its call. */
export async function waitIn(
  app: App,
  tx: Tx,
  occasion: Occasion,
  contact: ContactRow,
  queue: QueueRow,
  how: { outcome: ContactOutcome; isTransferred?: boolean; since?: Date },
): Promise<After[]> {
  const { tenant } = occasion
  const live = liveCalls(app)
  const { legs } = await over(
    app,
    tx,
    occasion,
    contact,
    how.outcome,
    how.isTransferred ? { is_transferred: true } : {},
  )
  const place = { queue: queue.id, wanted: null, state: 'waiting' as const, ...(how.since ? { since: how.since } : {}) }
  const next = await successor(tx, occasion, contact, place)
  await tickLater(app, tx, tenant, 0)
  return [
    ...legs.map((leg) => () => live.hangUp(tenant, leg)),
    () => live.hold(tenant, contact.call_id, null),
    async () => markWaiting(app, tenant, next, queue),
  ]
}

/** Contact of another agent who speaks in the same call. */
export async function otherSpeaker(tx: Tx, { tenant }: Occasion, contact: ContactRow): Promise<ContactRow | null> {
  const all = await tx.query(contactsOfCall, { ...tenant, call: contact.call_id })
  return all.findLast(({ id, state }) => id !== contact.id && state === 'connected') ?? null
}

/** Last queue of a call. */
export async function queueBefore(tx: Tx, { tenant }: Occasion, contact: ContactRow): Promise<QueueRow | null> {
  const before = await tx.query(contactsOfCall, { ...tenant, call: contact.call_id })
  const last = before.findLast(({ queue_id }) => queue_id !== null)?.queue_id ?? null
  return last === null ? null : maybe(tx.query(findQueue, { ...tenant, id: last }))
}

/** Whether a leg stopped ringing because its call ended, and not by its own refusal. */
export function isRoomClosed(cause: string | null): boolean {
  return cause === 'normal' || cause === 'gone'
}

/** An offer without an answer: return the call to the head of its queue, or end it where it has none. */
export async function notTaken(app: App, tx: Tx, occasion: Occasion, contact: ContactRow): Promise<After[]> {
  const others = (await tx.query(agentsOfContact, { ...occasion.tenant, contact: contact.id })).length
  if (contact.state !== 'offered' || others > 0) return []
  if (contact.queue_id !== null) {
    await backToQueue(app, tx, occasion, contact)
    return []
  }
  await over(app, tx, occasion, contact, 'failed')
  return endCall(app, occasion.tenant, contact, 'system')
}

/** An offer that could not be made: the call waits for another agent, or for the next try with the one it is for. */
export async function notOffered(app: App, tx: Tx, occasion: Occasion, contact: ContactRow): Promise<After[]> {
  const isWaiting = contact.queue_id === null && contact.room_id === contact.call_id
  if (!isWaiting || contact.state !== 'offered') return notTaken(app, tx, occasion, contact)
  await backToQueue(app, tx, occasion, contact)
  return []
}

/** No agent is left: continue the call's own flow, or end the call. */
export function endCall(app: App, tenant: Tenant, contact: ContactRow, by: 'agent' | 'system' = 'agent'): After[] {
  const live = liveCalls(app)
  // A customer who was not called yet has no leg in the room: ending that call releases its hold.
  if (contact.room_id !== contact.call_id)
    return [() => live.closeRoom(tenant, contact.room_id), () => live.hangUp(tenant, contact.call_id, by)]
  if (contact.is_handed) return [() => live.resume(tenant, contact.call_id, followerName, null)]
  return [() => live.hangUp(tenant, contact.call_id, by)]
}
