// SPDX-License-Identifier: Apache-2.0
// Callback from a queue: the caller hangs up and keeps the position; in turn, an agent is rung first and then the
// caller.
import { newUuid } from '../../../kernel/ids.ts'
import { withheldNumber } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import { one } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { liveCalls, newCall } from '../../voice/area.ts'
import { contactNamed, over, queueOf } from '../contact/lifecycle.ts'
import { type ContactRow, insertContact } from '../contacts.ts'
import { sentencesIn } from '../queue-sentences.ts'
import { atSwitchboard } from '../switchboard.ts'
import { tickLater } from '../tick.ts'
import { followerName } from './destination.ts'

/** Replaces a queued caller by a callback after the key press, or retries a callback that was not answered. */
export async function callBack(
  app: App,
  tenant: Tenant,
  { id }: ContactRow,
  digit: string | null = null,
): Promise<void> {
  const old = await atSwitchboard(app, tenant, async (tx, occasion) => {
    const contact = await contactNamed(tx, occasion, id)
    const queue = contact && (await queueOf(tx, occasion, contact.queue_id))
    const wish = queue?.document.callback
    if (!contact || !queue || !wish?.enabled) return null
    const isFirst = contact.state === 'waiting' && digit !== null && digit === wish.key
    const isAgain = digit === null && contact.state === 'ended' && contact.attempts < (wish.max_attempts ?? 3)
    if ((!isFirst && !isAgain) || contact.from_number === withheldNumber) return null
    const [from, to] =
      contact.direction === 'inbound'
        ? [contact.to_number, contact.from_number]
        : [contact.from_number, contact.to_number]
    const made = await newCall(app, tx, occasion, { from, to, plan: {}, isPlaced: false })
    if (isFirst) await over(app, tx, occasion, contact, 'callback')
    const next = newUuid(occasion.receivedMs)
    await one(
      tx.query(insertContact, {
        ...tenant,
        id: next,
        call_id: made.id,
        room_id: next,
        queue_id: queue.id,
        agent_id: null,
        wanted_agent: null,
        direction: 'outbound',
        from_number: from,
        to_number: to,
        state: 'waiting',
        priority: contact.priority,
        skills: JSON.stringify(contact.skills),
        data: JSON.stringify(contact.data),
        ivr_path: JSON.stringify(contact.ivr_path),
        entered_at: contact.entered_at,
        callback_for: contact.callback_for ?? contact.id,
        attempts: contact.attempts + 1,
        is_handed: false,
      }),
    )
    await tickLater(app, tx, tenant, 0)
    return isFirst ? { call: contact.call_id, language: queue.document.language } : null
  })
  if (!old) return
  const live = liveCalls(app)
  await live.stopPlay(tenant, old.call)
  const { words, language } = sentencesIn(old.language)
  const actions = [{ action: 'talk', text: words('callback'), language }, { action: 'hangup' }]
  await live.resume(tenant, old.call, followerName, { actions, isOwn: true })
}
