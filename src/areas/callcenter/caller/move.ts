// SPDX-License-Identifier: Apache-2.0
// Callers in queues whose node stops: their network calls the same number again, another node answers, and they wait on where they
// were. The wait here is over before the network is asked, so that nobody stands in a queue twice. Who arrives is known by the two
// numbers alone: of several with the same, each takes one of the places, the longest wait first.
import { idOf } from '../../../kernel/ids.ts'
import { withheldNumber } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import { type CallFacts, liveCalls } from '../../voice/area.ts'
import { contactNamed, over } from '../contact/lifecycle.ts'
import { type ContactRow, contactOfCall, endMove, noteMoved } from '../contacts.ts'
import { atSwitchboard, occasionOf } from '../switchboard.ts'
import { followerName, goodbye, joinQueue } from './destination.ts'

/** Time that a caller has to arrive at the other node. */
const movingMs = 60_000

/** Ends the wait of a caller, who keeps the place; gives how to wait on here, or null when the call does not just wait. */
export async function letGo(app: App, call: CallFacts): Promise<(() => Promise<void>) | null> {
  const { tenant } = call
  const known = await maybe(app.db.query(contactOfCall, { ...tenant, call: call.call }))
  if (known?.state !== 'waiting' || known.queue_id === null || known.room_id !== call.call) return null
  const contact = await atSwitchboard(app, tenant, async (tx, occasion) => {
    const now = await contactNamed(tx, occasion, known.id)
    // An agent may have been rung meanwhile.
    if (now?.state !== 'waiting') return null
    await over(app, tx, occasion, now, 'failed')
    await tx.query(noteMoved, { ...tenant, id: now.id })
    return now
  })
  return contact && (() => stays(app, call, contact))
}

/** Lets a caller who was not moved wait on. One whose place somebody took who arrived under the same numbers has that one's. */
async function stays(app: App, call: CallFacts, contact: ContactRow): Promise<void> {
  const own = (await moved(app, call, contact.id)) ?? (await moved(app, call, null)) ?? contact
  if (await waitOn(app, call, own)) return
  await liveCalls(app).resume(call.tenant, call.call, followerName, contact.is_handed ? null : goodbye)
}

/** Lets a caller who was moved here wait on; false for everybody else. */
export async function arrives(app: App, call: CallFacts): Promise<boolean> {
  if (call.direction !== 'inbound') return false
  const contact = await moved(app, call, null)
  // A flow of the customer's own goes on after the wait: it is asked again, and comes to the queue by itself.
  return contact !== null && !contact.is_handed && waitOn(app, call, contact)
}

/** Place of a caller who is on the way, which is nobody else's then. */
async function moved(app: App, { tenant, from: phone, to }: CallFacts, id: string | null): Promise<ContactRow | null> {
  const { nowMs } = await occasionOf(app, tenant)
  return maybe(app.db.query(endMove, { ...tenant, id, phone, to, since: new Date(nowMs - movingMs) }))
}

/** Joins the queue of an earlier wait at its place, which was left free, however many wait. */
function waitOn(app: App, call: CallFacts, contact: ContactRow): Promise<boolean> {
  const { queue_id, priority, skills, ivr_path, is_handed } = contact
  // What is known of a caller who shows no number may be known of another one.
  const known =
    call.from === withheldNumber ? { data: call.customData, path: [] } : { data: contact.data, path: ivr_path }
  const luggage = { priority, skills, ...known, isHanded: is_handed, place: contact }
  return joinQueue(app, call, idOf('queue', queue_id ?? ''), luggage)
}
