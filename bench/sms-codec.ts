// SPDX-License-Identifier: Apache-2.0
// The SMPP codec against that of npm's `smpp`: from a text to the bytes of a submit_sm and back, and the same for a
// receipt with its optional parameters in a deliver_sm.
import { createRequire } from 'node:module'
import { decodeMessage, encodeGsm7, encodeMessage } from '../src/protocols/smpp/charset.ts'
import { addressTypes, decode, encode, esmClasses, newShortMessage } from '../src/protocols/smpp/pdu.ts'
import { encodeReceipt } from '../src/protocols/smpp/receipts.ts'
import { PduError } from '../src/protocols/smpp/status.ts'
import type { Figure } from './report.ts'

/** Parts of npm's smpp that are used; it has no types of its own. */
interface TheirPdu {
  short_message: { message: string }
  toBuffer(): Buffer
}
interface Theirs {
  PDU: { new (command: string, fields: object): TheirPdu; fromBuffer(frame: Buffer): TheirPdu }
}
const require = createRequire(import.meta.url)
const { PDU }: Theirs = require('smpp')

const turns = 20
const text = 'Your order 4512 is on its way and arrives before noon. Thank you!'
const receipt = { id: '77fc32d1f0bb00000001', state: 'DELIVRD', error: null, submitDate: null, doneDate: null } as const
const source = { ...addressTypes.alphanumeric, address: 'PAMOJA' }
const destination = { ...addressTypes.international, address: '254712345678' }
const theirAddresses = {
  source_addr_ton: source.ton,
  source_addr: source.address,
  dest_addr_ton: destination.ton,
  dest_addr_npi: destination.npi,
  destination_addr: destination.address,
}
const receiptText = decodeMessage(encodeReceipt({ ...receipt, text })).text

export async function smsCodec({ short }: { short: boolean }): Promise<Figure[]> {
  const durationMs = short ? 100 : 2_000
  const submitted = encodeSubmit()
  const received = encodeDeliver()
  if (readByUs(submitted) !== text || readByThem(submitted) !== text) throw new Error('the text was not read')
  if (readByUs(received) !== receiptText || readByThem(received) !== receiptText)
    throw new Error('the receipt was not read')
  const steps: [string, () => unknown, () => unknown][] = [
    ['encode submit_sm', encodeSubmit, encodeSubmitTheirs],
    ['decode submit_sm', () => readByUs(submitted), () => readByThem(submitted)],
    ['encode deliver_sm', encodeDeliver, encodeDeliverTheirs],
    ['decode deliver_sm', () => readByUs(received), () => readByThem(received)],
  ]
  const figures: Figure[] = []
  let [ours, theirs] = [0, 0]
  for (const [name, our, their] of steps) {
    const [ourTime, theirTime] = inTurns(our, their, durationMs)
    ours += ourTime
    theirs += theirTime
    figures.push({ name, value: ourTime, unit: `µs (npm smpp: ${theirTime.toFixed(1)} µs)` })
  }
  return [...figures, { name: 'ratio, all four', value: theirs / ours, unit: '' }]
}

function encodeSubmit(): Buffer {
  const [content] = encodeMessage(text, { reference: 1 })
  return bytes('submit_sm', newShortMessage({ source, destination, registeredDelivery: 1, ...content }))
}

function encodeSubmitTheirs(): Buffer {
  return new PDU('submit_sm', { ...theirAddresses, registered_delivery: 1, short_message: text }).toBuffer()
}

function encodeDeliver(): Buffer {
  return bytes(
    'deliver_sm',
    newShortMessage({
      source,
      destination,
      esmClass: esmClasses.receipt,
      shortMessage: encodeGsm7(receiptText),
      tlvs: { receiptedMessageId: receipt.id, messageState: 2 },
    }),
  )
}

function encodeDeliverTheirs(): Buffer {
  return new PDU('deliver_sm', {
    ...theirAddresses,
    esm_class: 4,
    short_message: receiptText,
    receipted_message_id: receipt.id,
    message_state: 2,
  }).toBuffer()
}

function readByUs(frame: Buffer): string {
  const pdu = decode(frame)
  return !(pdu instanceof PduError) && (pdu.command === 'submit_sm' || pdu.command === 'deliver_sm')
    ? decodeMessage(pdu.body).text
    : ''
}

const readByThem = (frame: Buffer): string => PDU.fromBuffer(frame).short_message.message

function bytes(command: 'submit_sm' | 'deliver_sm', body: ReturnType<typeof newShortMessage>): Buffer {
  const frame = encode({ command, status: 0, sequence: 7, body })
  if (frame instanceof PduError) throw frame
  return frame
}

/** Time of a call of each: the median of many short turns, so that other load on the machine disturbs both alike. */
function inTurns(our: () => unknown, their: () => unknown, durationMs: number): [number, number] {
  const [ours, theirs]: [number[], number[]] = [[], []]
  for (let turn = 0; turn < turns; turn++) {
    ours.push(microseconds(our, durationMs / turns))
    theirs.push(microseconds(their, durationMs / turns))
  }
  return [median(ours), median(theirs)]
}

function microseconds(call: () => unknown, durationMs: number): number {
  const startedAt = performance.now()
  let calls = 0
  while (performance.now() - startedAt < durationMs) for (let i = 0; i < 100; i++, calls++) call()
  return ((performance.now() - startedAt) / calls) * 1_000
}

const median = (times: number[]): number => times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
