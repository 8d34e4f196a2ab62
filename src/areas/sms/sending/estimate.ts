// SPDX-License-Identifier: Apache-2.0
// Estimate of a message's cost, without sending it.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { e164Rule, isE164 } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { isGsm, nonGsmCharacters, toGsm } from '../../../protocols/smpp/charset.ts'
import { withRoomForLink } from '../links/opt-out-links.ts'
import { withRoomForShortLinks } from '../links/short-links.ts'
import { segmentsOf } from '../message.ts'
import { findPlaces, placeFor } from '../ported/number-network.ts'
import { callersCurrency, segmentPrice } from '../prices/pricing.ts'
import type { EstimateReply, MessageSend } from '../schema.ts'
import { permissionOf } from '../senders/permissions.ts'
import { textOf } from './draft.ts'
import { recipientsOf } from './recipients.ts'

export async function estimate(
  app: App,
  body: Static<typeof MessageSend>,
  caller: Caller,
): Promise<Static<typeof EstimateReply>> {
  const { message, encoding, max_segments } = body
  const short = body.shorten_urls ? withRoomForShortLinks(app, message).message : message
  const text = textOf(withRoomForLink(app, body.type ?? 'transactional', short), encoding, max_segments)
  const permission = await permissionOf(app, caller.tenant)
  const numbers = [...new Set([recipientsOf(body.to)].flat())].filter(isE164)
  if (numbers.length === 0) throw new AppError('INVALID_PHONE', `to[0]: to ${e164Rule}`)
  await findPlaces(app, numbers)
  const problems = numbers.map((to) => permission.problem(body.from, placeFor(app, to).country))
  const recipients = numbers.filter((_, i) => problems[i] === null)
  const [problem] = problems
  if (problem && recipients.length === 0) throw problem
  const micros = recipients
    .map((to) => segmentPrice(app, caller, placeFor(app, to)))
    .reduce((sum, price) => sum + price, 0n)
  return {
    segments: text.segments,
    encoding: text.encoding,
    length: [...message].length,
    units_used: text.units,
    units_left: text.unitsLeft,
    non_gsm: nonGsmCharacters(text.text),
    ...suggestionFor(text.text, text.segments),
    cost: micros * BigInt(text.segments),
    currency: callersCurrency(caller),
    recipients: recipients.length,
  }
}

/** A text that needs fewer segments, if likenesses of its characters make one. */
function suggestionFor(
  text: string,
  segments: number,
): { suggestion: string | null; suggestion_segments: number | null } {
  const plain = isGsm(text) ? null : toGsm(text)
  const counted = plain === null ? null : segmentsOf(plain)
  return counted === null || counted.segments > segments
    ? { suggestion: null, suggestion_segments: null }
    : { suggestion: plain, suggestion_segments: counted.segments }
}
