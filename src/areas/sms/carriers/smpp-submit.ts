// SPDX-License-Identifier: Apache-2.0
// A message as a message centre is given it, and what its answers mean.
import { encodeMessage } from '../../../protocols/smpp/charset.ts'
import { addressTypes, newShortMessage, type SubmitSm } from '../../../protocols/smpp/pdu.ts'
import { commandStatus } from '../../../protocols/smpp/status.ts'
import { encodeWish } from '../../../protocols/smpp/wish.ts'
import type { OutboundMessage } from '../carrier.ts'
import type { SmppBind } from './smpp-settings.ts'

/** Most digits of a short code. */
const shortCodeDigits = 8

/** submit_sm requests of a message, one per part. */
export function pdusOf(
  { to, from, text, encoding, reference, validitySeconds, wish }: OutboundMessage,
  { serviceType, concatenation: joining, alphabet, shortCodes }: SmppBind,
): SubmitSm[] {
  return encodeMessage(text, { encoding, reference, joining, alphabet }).map((content) =>
    newShortMessage({
      serviceType,
      source: sourceOf(from, shortCodes),
      destination: { address: to.replace('+', ''), ...addressTypes.international },
      validityPeriod: validityPeriod(validitySeconds),
      registeredDelivery: 1,
      ...content,
      ...(wish ? { tlvs: { ...content.tlvs, ...encodeWish(wish) } } : {}),
    }),
  )
}

function sourceOf(from: string, shortCodes: SmppBind['shortCodes']): SubmitSm['source'] {
  if (!/^\+?\d+$/.test(from)) return { address: from, ...addressTypes.alphanumeric }
  if (!from.startsWith('+') && from.length <= shortCodeDigits) return { address: from, ...shortCodes }
  return { address: from.replace('+', ''), ...addressTypes.international }
}

/** Validity as SMPP writes it: days, hours, minutes and seconds from now. */
function validityPeriod(seconds: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  return `0000${two(seconds / 86_400)}${two((seconds / 3_600) % 24)}${two((seconds / 60) % 60)}${two(seconds % 60)}000R`
}

type Class =
  | { kind: 'rejected'; code: string }
  | { kind: 'reroute'; code: string }
  /** Too much at once: the same part again, later, and everything slower. */
  | { kind: 'throttled' }

const rejected = (code: string): Class => ({ kind: 'rejected', code })
const reroute: Class = { kind: 'reroute', code: 'CARRIER_ERROR' }
const throttled: Class = { kind: 'throttled' }

/** command_status -> what to do. What is not listed is a refusal of the message. */
const classes: ReadonlyMap<number, Class> = new Map([
  [commandStatus.ESME_RTHROTTLED, throttled],
  [commandStatus.ESME_RMSGQFUL, throttled],
  [commandStatus.ESME_RINVDSTADR, rejected('INVALID_NUMBER')],
  [commandStatus.ESME_RINVDSTTON, rejected('INVALID_NUMBER')],
  [commandStatus.ESME_RINVDSTNPI, rejected('INVALID_NUMBER')],
  [commandStatus.ESME_RINVSRCADR, rejected('INVALID_SENDER')],
  [commandStatus.ESME_RINVSRCTON, rejected('INVALID_SENDER')],
  [commandStatus.ESME_RINVSRCNPI, rejected('INVALID_SENDER')],
  [commandStatus.ESME_RINVEXPIRY, rejected('CARRIER_ERROR')],
  [commandStatus.ESME_RSYSERR, reroute],
  [commandStatus.ESME_RINVBNDSTS, reroute],
  [commandStatus.ESME_RINVSYSID, reroute],
  [commandStatus.ESME_RINVSYSTYP, reroute],
  [commandStatus.ESME_RINVSERTYP, reroute],
  [commandStatus.ESME_RINVCMDID, reroute],
  [commandStatus.ESME_RX_T_APPN, reroute],
  [commandStatus.ESME_RUNKNOWNERR, reroute],
])

export function classOf(status: number): Class {
  return classes.get(status) ?? rejected('REJECTED')
}
