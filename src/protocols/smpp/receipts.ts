// SPDX-License-Identifier: Apache-2.0
// Delivery receipts, which arrive as deliver_sm: in the text form of SMPP 3.4 appendix B, which every centre varies a little,
// and in optional parameters, which count for more where both are given.
import { decodeMessage, encodeGsm7 } from './charset.ts'
import { type DeliverSm, dataCodings, esmClasses } from './pdu.ts'

/** Section 5.2.28: message_state -> the seven letters that the text form has for it. */
export const messageStates = {
  1: 'ENROUTE',
  2: 'DELIVRD',
  3: 'EXPIRED',
  4: 'DELETED',
  5: 'UNDELIV',
  6: 'ACCEPTD',
  7: 'UNKNOWN',
  8: 'REJECTD',
} as const

export type ReceiptState = (typeof messageStates)[keyof typeof messageStates]

export interface DeliveryReceipt {
  /** Id from submit_sm_resp, in the form that the centre uses here; see normaliseId. */
  id: string
  state: ReceiptState
  /** The network's own code for what went wrong, as it came; null when none was given. `000` is none. */
  error: string | null
  /** YYMMDDhhmm, in the centre's own time zone; null when not given. */
  submitDate: string | null
  doneDate: string | null
}

/**
 * By its type, final or intermediate. Some centres leave the type out: then it is the parameter that names a message, which
 * no handset can write.
 */
export function isReceipt({ esmClass, tlvs }: Pick<DeliverSm, 'esmClass' | 'tlvs'>): boolean {
  const isOfType = (esmClass & (esmClasses.receipt | esmClasses.intermediate)) !== 0
  return isOfType || tlvs.receiptedMessageId !== undefined
}

/** Parses a receipt; null without a message id or a known state. */
export function parseReceipt(message: DeliverSm): DeliveryReceipt | null {
  const { tlvs } = message
  const fields = fieldsOf(textOf(message))
  const id = tlvs.receiptedMessageId || fields.get('id')
  const state = (tlvs.messageState !== undefined && stateOf(tlvs.messageState)) || namedState(fields.get('stat'))
  if (!id || !state) return null
  return {
    id,
    state,
    error: errorOf(fields.get('err') ?? networkError(tlvs.networkErrorCode)),
    submitDate: fields.get('submit date') ?? null,
    doneDate: fields.get('done date') ?? null,
  }
}

/** Fields of a deliver_sm with a receipt, in both forms. `text` is the beginning of the message. */
export function encodeReceipt(
  receipt: DeliveryReceipt & { text?: string },
): Pick<DeliverSm, 'esmClass' | 'dataCoding' | 'shortMessage' | 'tlvs'> {
  const delivered = receipt.state === 'DELIVRD' ? '001' : '000'
  const date = (value: string | null): string => value ?? '0000000000'
  const fields =
    `id:${receipt.id} sub:001 dlvrd:${delivered} submit date:${date(receipt.submitDate)} ` +
    `done date:${date(receipt.doneDate)} stat:${receipt.state} err:${receipt.error ?? '000'} text:`
  return {
    esmClass: esmClasses.receipt,
    dataCoding: dataCodings.gsm,
    shortMessage: Buffer.concat([Buffer.from(fields, 'latin1'), encodeGsm7((receipt.text ?? '').slice(0, 20))]),
    tlvs: {
      receiptedMessageId: receipt.id,
      messageState: numberOf(receipt.state),
      ...(receipt.error === null ? {} : { networkErrorCode: networkErrorOf(receipt.error) }),
    },
  }
}

/** `text`: compared without regard to case and leading zeros; the others: as a number written so. */
export type IdForm = 'exact' | 'text' | 'hex' | 'decimal'

/**
 * One form for an id, wherever it came from: many centres answer a submit in hexadecimal and write receipts in decimal, or
 * pad one of the two. What is not a number in its form is taken as text.
 */
export function normaliseId(id: string, form: IdForm): string {
  const trimmed = id.trim()
  if (form === 'exact') return trimmed
  if (form === 'hex' && /^[0-9a-f]{1,64}$/i.test(trimmed)) return BigInt(`0x${trimmed}`).toString()
  if (form === 'decimal' && /^[0-9]{1,64}$/.test(trimmed)) return BigInt(trimmed).toString()
  return trimmed.toLowerCase().replace(/^0+(?=.)/, '')
}

/** The fields are ASCII, as the ids of answers are, also where data_coding says the GSM alphabet, which has _ and @ elsewhere. */
function textOf(message: DeliverSm): string {
  const dataCoding = message.dataCoding === dataCodings.ucs2 ? dataCodings.ucs2 : dataCodings.latin1
  return decodeMessage({ ...message, dataCoding }).text
}

/**
 * Fields end at a space, or at a comma before one or before the next name: an id may hold commas and colons of its own. A field
 * may be empty, and is not to take the name of the next one for its value.
 */
const names = 'id|sub|dlvrd|submit date|done date|stat|err'
const end = ',?(?:\\s|$)|,[a-z ]+:'
const fieldPattern = new RegExp(`\\b(${names}):\\s*(?!(?:${names}):)((?:(?!${end}).)+)`, 'gis')

/**
 * The text field comes last, at times without a space before it, and holds the customer's own words, which may look like
 * fields: it is cut off first.
 */
function fieldsOf(text: string): Map<string, string> {
  const own = text.search(/text:/i)
  const found = (own < 0 ? text : text.slice(0, own)).matchAll(fieldPattern)
  return new Map([...found].map(([, name = '', value = '']) => [name.toLowerCase(), value]))
}

const states: ReadonlyMap<number, ReceiptState> = new Map(
  Object.entries(messageStates).map(([number, state]) => [Number(number), state]),
)

function stateOf(number: number): ReceiptState | undefined {
  return states.get(number)
}

/** State by name. Some centres write it in full, such as DELIVERED; the first five letters tell them apart. */
function namedState(name: string | undefined): ReceiptState | undefined {
  const start = name?.toUpperCase().slice(0, 5)
  return [...states.values()].find((state) => state.slice(0, 5) === start)
}

function numberOf(state: ReceiptState): number {
  for (const [number, name] of states) if (name === state) return number
  return 7
}

const errorOf = (code: string | null): string | null => (code === null || /^0*$/.test(code) ? null : code)

/** Section 5.3.2.31: the kind of network, then its code in two octets. */
function networkError(octets: Buffer | undefined): string | null {
  return octets?.length === 3 ? String(octets.readUInt16BE(1)) : null
}

const gsmNetwork = 3

function networkErrorOf(code: string): Buffer {
  const number = Number.parseInt(code, 10) & 0xffff
  return Buffer.from([gsmNetwork, number >> 8, number & 0xff])
}
