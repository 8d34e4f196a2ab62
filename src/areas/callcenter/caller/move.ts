// SPDX-License-Identifier: Apache-2.0
// Callers in queues whose node stops: their network calls the same number again, another node answers, and they wait on where they
// were. The wait here is over before the network is asked, so that nobody stands in a queue twice.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import type { CallFacts } from '../../voice/area.ts'
import { contactNamed, over } from '../contact/lifecycle.ts'
import { type ContactRow, contactOfCall, movedFrom, noteMoved } from '../contacts.ts'
import { atSwitchboard, occasionOf } from '../switchboard.ts'
import { joinQueue } from './destination.ts'

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
  if (!contact) return null
  return async () => {
    await waitOn(app, call, contact)
  }
}

/** Lets a caller who was moved here wait on; false for everybody else. */
export async function arrives(app: App, call: CallFacts): Promise<boolean> {
  if (call.direction !== 'inbound') return false
  const { tenant, from: phone, to } = call
  const { nowMs } = await occasionOf(app, tenant)
  const since = new Date(nowMs - movingMs)
  const contact = await maybe(app.db.query(movedFrom, { ...tenant, phone, to, since }))
  // A flow of the customer's own goes on after the wait: it is asked again, and comes to the queue by itself.
  return contact !== null && !contact.is_handed && waitOn(app, call, contact)
}

/** Joins the queue of an earlier wait: its place comes from that the caller was lost there. */
function waitOn(app: App, call: CallFacts, { queue_id, priority, skills, data, ivr_path, is_handed }: ContactRow) {
  const luggage = { priority, skills, data, path: ivr_path, isHanded: is_handed }
  return joinQueue(app, call, idOf('queue', queue_id ?? ''), luggage)
}
