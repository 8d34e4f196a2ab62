// SPDX-License-Identifier: Apache-2.0
// Sending a message: what is asked for becomes a draft, and the draft is accepted. Many recipients go the way of a bulk.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Keyed } from '../../../platform/http/idempotency.ts'
import { recipientText } from '../batches/entries.ts'
import { sendToMany } from '../batches/to-many.ts'
import { linksFor, withRoomForLink } from '../links/opt-out-links.ts'
import { shortLinksIn } from '../links/short-links.ts'
import { findPlaces } from '../ported/places.ts'
import { type MessageSend, maxRecipients, mostValiditySeconds, type SendReply } from '../schema.ts'
import { permissionOf } from '../senders/permissions.ts'
import { accept } from './accept.ts'
import { checkCallback } from './callback-urls.ts'
import { type Draft, draftOf, metadataOf, scheduledAt, textOf, type Wanted } from './draft.ts'

export async function send(
  app: App,
  input: Static<typeof MessageSend>,
  caller: Caller,
  keyed: Keyed,
): Promise<Static<typeof SendReply>> {
  const { to: given, type = 'transactional', shorten_urls = false, ...rest } = input
  const to = recipientsOf(given)
  const recipients = [to].flat()
  const short = shorten_urls ? shortLinksIn(app, caller, rest.message) : null
  const message = withRoomForLink(app, type, short?.message ?? rest.message)
  const common = commonOf(rest, type, message, caller)
  if (common.callbackUrl !== null) await checkCallback(app, caller.tenant, common.callbackUrl)
  const looking = findPlaces(app, recipients)
  if (looking) await looking
  const permission = await permissionOf(app, caller.tenant)
  const addressed = recipients.map((recipient) => ({ to: recipient, ...rest }))
  const linked = await linksFor(app, app.db, caller, type, addressed)
  const draft = (recipient: string) => {
    const text = linked(common.text, recipient, rest.from)
    return draftOf(app, caller, permission, { to: recipient, ...common, text: short?.put(text) ?? text })
  }
  if (typeof to !== 'string') return sendToMany(app, { to, common, draft, links: short }, caller, keyed)
  const one = draft(to)
  await short?.store(app.db)
  const reply = replyOf(one, caller)
  await accept(app, one, caller, keyed, reply)
  return reply
}

/** A list that is too long or empty is refused; what is wrong with one of its numbers is said of that one. */
export function recipientsOf(to: string | readonly unknown[]): string | string[] {
  if (typeof to === 'string') return to
  if (to.length < 1 || to.length > maxRecipients)
    throw new AppError('VALIDATION_ERROR', `to must be a number or a list of 1 to ${maxRecipients} numbers`)
  return to.map(recipientText)
}

/** What all of its messages have in common. */
function commonOf(
  input: Omit<Static<typeof MessageSend>, 'to' | 'type'>,
  type: Wanted['type'],
  message: string,
  caller: Caller,
): Omit<Wanted, 'to'> {
  const { encoding = 'auto' } = input
  return {
    from: input.from,
    text: textOf(message, encoding, input.max_segments),
    wantedEncoding: encoding === 'auto' ? null : encoding,
    scheduledAt: scheduledAt(input.scheduled_at, caller.nowMs),
    type,
    validity: input.validity ?? mostValiditySeconds,
    metadata: metadataOf(input.metadata),
    reference: input.reference ?? null,
    callbackUrl: input.callback_url ?? null,
  }
}

function replyOf(draft: Draft, caller: Caller): Static<typeof SendReply> {
  return {
    status: 'queued',
    message_id: idOf('sms', draft.uuid),
    to: draft.to,
    from: draft.from,
    segments: draft.text.segments,
    cost: draft.cost,
    currency: draft.currency,
    timestamp: new Date(caller.nowMs),
    encoding: draft.text.encoding,
    country: draft.place.country,
    network: draft.place.network,
    scheduled_at: draft.scheduledAt,
  }
}
