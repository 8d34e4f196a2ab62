// SPDX-License-Identifier: Apache-2.0
// Callers in queues whose node stops: their network calls the same number again, another node answers, and they wait on where they
// were. The wait here is over before the network is asked, so that nobody stands in a queue twice.
import { idOf } from '../../../kernel/ids.ts'
import { withheldNumber } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import type { CallFacts } from '../../voice/area.ts'
import { contactNamed, over } from '../contact/lifecycle.ts'
import { type ContactRow, contactOfCall, noteMoved, takeMoved } from '../contacts.ts'
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
    await tx.query(noteMoved, { ...tenant, id: now.id, isMoved: true })
    return now
  })
  if (!contact) return null
  return async () => {
    await app.db.query(noteMoved, { ...tenant, id: contact.id, isMoved: false })
    await waitOn(app, call, contact)
  }
}

/** Lets a caller who was moved here wait on; false for everybody else. */
export async function arrives(app: App, call: CallFacts): Promise<boolean> {
  // Whoever withholds the number is not known to be the caller who was moved: routing decides anew.
  if (call.direction !== 'inbound' || call.from === withheldNumber) return false
  const { tenant, from: phone, to } = call
  const { nowMs } = await occasionOf(app, tenant)
  const since = new Date(nowMs - movingMs)
  // A flow of the customer's own is asked again instead, and comes to the queue by itself.
  const contact = await maybe(app.db.query(takeMoved, { ...tenant, phone, to, since }))
  return contact !== null && waitOn(app, call, contact)
}

/** Joins the queue of an earlier wait, at its place. */
function waitOn(app: App, call: CallFacts, contact: ContactRow): Promise<boolean> {
  const { queue_id, priority, skills, data, ivr_path, is_handed, entered_at: since } = contact
  const luggage = { priority, skills, data, path: ivr_path, isHanded: is_handed, since }
  return joinQueue(app, call, idOf('queue', queue_id ?? ''), luggage)
}
