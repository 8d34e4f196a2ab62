// SPDX-License-Identifier: Apache-2.0
// deliver_sm of a message centre in our words: receipts with our error codes, and inbound messages, whole or in parts.
import { type Alphabet, decodeMessage, isGsm } from '../../../protocols/smpp/charset.ts'
import type { Address } from '../../../protocols/smpp/octets.ts'
import { addressTypes, type DeliverSm } from '../../../protocols/smpp/pdu.ts'
import { type DeliveryReceipt, type IdForm, normaliseId, type ReceiptState } from '../../../protocols/smpp/receipts.ts'
import type { Incoming, Receipt } from '../carrier.ts'

/** State -> our error code; null: delivered. States that are not final are not listed. */
const finalStates: ReadonlyMap<ReceiptState, string | null> = new Map([
  ['DELIVRD', null],
  ['EXPIRED', 'EXPIRED'],
  ['DELETED', 'UNDELIVERABLE'],
  ['UNDELIV', 'UNDELIVERABLE'],
  ['REJECTD', 'REJECTED'],
])

/** The network's own reason, where it says more than the state: errors of 3GPP TS 29.002, as most centres give them. */
const reasons: ReadonlyMap<number, string> = new Map([
  [1, 'UNKNOWN_SUBSCRIBER'],
  [5, 'UNKNOWN_SUBSCRIBER'],
  [13, 'BLOCKED'],
  [27, 'ABSENT_SUBSCRIBER'],
])

/** Receipt in our words; null when its state is not final. */
export function receiptOf(carrier: string, idForm: IdForm, { id, state, error }: DeliveryReceipt): Receipt | null {
  const errorCode = finalStates.get(state)
  if (errorCode === undefined) return null
  return {
    carrier,
    carrierId: normaliseId(id, idForm),
    status: errorCode === null ? 'delivered' : 'failed',
    errorCode: (errorCode === 'UNDELIVERABLE' && reasons.get(Number(error))) || errorCode,
    carrierCode: errorCode === null ? null : error === null ? state : `${state} ${error}`,
  }
}

/** Inbound message. Its number has the form customers use, whichever type of number the centre sends. */
export function incomingOf(carrier: string, alphabet: Alphabet, pdu: DeliverSm): Incoming {
  const { text, concatenation } = decodeMessage(pdu, alphabet)
  return {
    carrier,
    from: numberOf(pdu.source),
    to: numberOf(pdu.destination),
    text,
    encoding: isGsm(text) ? 'gsm7' : 'ucs2',
    part: concatenation,
  }
}

/** Many centres do not say of what type a number is; one that is longer than any short code is then an international one. */
const unknownTon = 0

function numberOf({ ton, address }: Address): string {
  const isInternational =
    (ton === addressTypes.international.ton && /^[1-9]\d{6,}$/.test(address)) ||
    (ton === unknownTon && /^[1-9]\d{9,14}$/.test(address))
  return isInternational ? `+${address}` : address
}
