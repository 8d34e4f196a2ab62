// SPDX-License-Identifier: Apache-2.0
// Sending a message: the request becomes a draft, and the draft is accepted. Several recipients are handled as a bulk.

import type { Static } from 'typebox'
import { invalid } from '../../kernel/errors.ts'
import { idOf } from '../../kernel/ids.ts'
import type { Keyed } from '../../platform/api/idempotency.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { checkCallback } from '../../platform/outbound/callback-url.ts'
import { type Composed, sendToMany } from './batches/to-many.ts'
import type { FallbackContent } from './fallback/fallback.ts'
import { linksFor, withRoomForLink } from './links/opt-out-links.ts'
import { shortLinksIn } from './links/short-links.ts'
import { findPlaces } from './ported/number-network.ts'
import { type MessageSend, maxValiditySeconds, type SendReply } from './schema.ts'
import { permissionOf } from './senders/permissions.ts'
import { accept } from './sending/accept.ts'
import { type Draft, draftOf, metadataOf, scheduledAt, textOf, type Wanted } from './sending/draft.ts'
import { recipientsOf } from './sending/recipients.ts'

/** Sends a message to one number, or to a list of them. */
export async function send(
  app: App,
  input: Static<typeof MessageSend>,
  caller: Caller,
  keyed: Keyed,
): Promise<Static<typeof SendReply>> {
  const to = recipientsOf(input.to)
  const fallback = fallbackIn(input.fallback, to)
  const composed = await compose(app, input, [to].flat(), caller)
  if (typeof to !== 'string') return sendToMany(app, to, composed, caller, keyed)
  const draft = composed.draftFor(to)
  await composed.shortLinks?.store(app.db)
  const reply = replyOf(draft, caller)
  await accept(app, draft, caller, keyed, reply, fallback)
  return reply
}

function fallbackIn(fallback: FallbackContent | undefined, to: string | readonly string[]): FallbackContent | null {
  if (fallback === undefined) return null
  if (typeof to !== 'string') throw invalid('fallback', 'is for a message to one number')
  if ((fallback.text === undefined) === (fallback.template === undefined))
    throw invalid('fallback', 'must have either text or template')
  return fallback
}

/** Checks the fields that all recipients share, and loads networks, permission and links once per request. */
async function compose(
  app: App,
  { to: _, type = 'transactional', shorten_urls = false, fallback: __, ...input }: Static<typeof MessageSend>,
  recipients: readonly string[],
  caller: Caller,
): Promise<Composed> {
  const shortLinks = shorten_urls ? shortLinksIn(app, caller, input.message) : null
  const message = withRoomForLink(app, type, shortLinks?.message ?? input.message)
  const common = commonOf(input, type, message, caller)
  await checkCallback(app, caller.tenant, common.callbackUrl)
  const looking = findPlaces(app, recipients)
  if (looking) await looking
  const permission = await permissionOf(app, caller.tenant)
  const addressed = recipients.map((to) => ({ to, ...input }))
  const linked = await linksFor(app, app.db, caller, type, addressed)
  const draftFor = (to: string): Draft => {
    const text = linked(common.text, to, input.from)
    return draftOf(app, caller, permission, { to, ...common, text: shortLinks?.put(text) ?? text })
  }
  return { common, shortLinks, draftFor }
}

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
    validity: input.validity ?? maxValiditySeconds,
    metadata: metadataOf(input.metadata),
    reference: input.reference ?? null,
    callbackUrl: input.callback_url ?? null,
    callbackFinal: (input.callback_events ?? caller.principal.facts.callbackEvents) === 'final',
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
