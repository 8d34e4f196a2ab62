// SPDX-License-Identifier: Apache-2.0
// deliver_sm for a customer: the receipt of a text in the words of SMPP, or a text from a handset.
import { encodeMessage } from '../../../protocols/smpp/charset.ts'
import type { Address } from '../../../protocols/smpp/octets.ts'
import { addressTypes, type DeliverSm, newShortMessage } from '../../../protocols/smpp/pdu.ts'
import { encodeReceipt, messageStates, type ReceiptState } from '../../../protocols/smpp/receipts.ts'
import type { Delivery } from './deliveries.ts'

/** Error code of a text that failed -> state. Others are undelivered. */
const failures: Readonly<Record<string, ReceiptState>> = {
  EXPIRED: 'EXPIRED',
  CANCELLED: 'DELETED',
  REJECTED: 'REJECTD',
  SPAM_REJECTED: 'REJECTD',
  BLOCKED: 'REJECTD',
  OPTED_OUT: 'REJECTD',
}

/** First version with optional parameters. */
const versionWithTlvs = 0x34

export function stateOf({ status, error_code }: { status: string | null; error_code: string | null }): ReceiptState {
  return status === 'delivered' ? 'DELIVRD' : (failures[error_code ?? ''] ?? 'UNDELIV')
}

export function stateNumber(state: ReceiptState): number {
  return Number(Object.entries(messageStates).find(([, name]) => name === state)?.[0] ?? 7)
}

/** Whether a receipt was asked for in this case: of each outcome, of failures, or of success. */
export function isWanted({ wants }: Pick<Delivery, 'wants'>, state: ReceiptState): boolean {
  return wants === 1 || (wants === 3) === (state === 'DELIVRD')
}

/** PDU of a receipt. */
export function receiptPdu(delivery: Delivery, state: ReceiptState, messageId: string, version: number): DeliverSm {
  const { sender, recipient, carrier_code, body, created_at, ended_at, user_reference } = delivery
  const [, digits = null] = /(\d{1,3})$/.exec(carrier_code ?? '') ?? []
  const receipt = encodeReceipt({
    id: messageId,
    state,
    error: state === 'DELIVRD' ? null : (digits?.padStart(3, '0') ?? null),
    submitDate: shortTime(created_at),
    doneDate: shortTime(ended_at ?? created_at),
    text: body ?? '',
  })
  const reference = user_reference === null ? {} : { userMessageReference: user_reference }
  const tlvs = version < versionWithTlvs ? {} : { ...receipt.tlvs, ...reference }
  return newShortMessage({ source: addressOf(recipient), destination: addressOf(sender), ...receipt, tlvs })
}

/** PDUs of a text from a handset, one for each part. */
export function textPdus({ sender, recipient, body }: Delivery, reference: number): DeliverSm[] {
  const addresses = { source: addressOf(sender), destination: addressOf(recipient) }
  return encodeMessage(body ?? '', { reference }).map((content) => newShortMessage({ ...addresses, ...content }))
}

/** Telephone numbers as international ones, short codes and names as they are. */
function addressOf(text: string): Address {
  if (/^\+\d+$/.test(text)) return { ...addressTypes.international, address: text.slice(1) }
  return { ...(/^\d+$/.test(text) ? addressTypes.network : addressTypes.alphanumeric), address: text }
}

const digitsOf = (at: Date): string => at.toISOString().replace(/\D/g, '')

/** YYMMDDhhmm in UTC. */
const shortTime = (at: Date): string => digitsOf(at).slice(2, 12)

/** YYMMDDhhmmss000+ in UTC. */
export const absoluteTime = (at: Date): string => `${digitsOf(at).slice(2, 14)}000+`
