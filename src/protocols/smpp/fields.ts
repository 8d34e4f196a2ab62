// SPDX-License-Identifier: Apache-2.0
// A PDU for people: its fields in the order of its octets, each with where it lies. For looking at what went over the wire;
// sessions read PDUs by pdu.ts. What cannot be named is one field of octets at the end.
import { headerBytes } from './octets.ts'
import { statusName } from './status.ts'
import { tlvNameOf } from './tlvs.ts'

interface PduField {
  readonly name: string
  readonly start: number
  readonly length: number
  readonly value: string
}

export interface ReadPdu {
  readonly command: string
  readonly fields: readonly PduField[]
}

const commands: ReadonlyMap<number, string> = new Map([
  [0x80000000, 'generic_nack'],
  [0x00000004, 'submit_sm'],
  [0x80000004, 'submit_sm_resp'],
  [0x00000005, 'deliver_sm'],
  [0x80000005, 'deliver_sm_resp'],
  [0x00000103, 'data_sm'],
  [0x80000103, 'data_sm_resp'],
])

type FieldKind = 'text' | 'octet' | 'message'

const address = (of: string): readonly [string, FieldKind][] => [
  [`${of}_addr_ton`, 'octet'],
  [`${of}_addr_npi`, 'octet'],
  [of === 'source' ? 'source_addr' : 'destination_addr', 'text'],
]

const shortMessage: readonly (readonly [string, FieldKind])[] = [
  ['service_type', 'text'],
  ...address('source'),
  ...address('dest'),
  ['esm_class', 'octet'],
  ['protocol_id', 'octet'],
  ['priority_flag', 'octet'],
  ['schedule_delivery_time', 'text'],
  ['validity_period', 'text'],
  ['registered_delivery', 'octet'],
  ['replace_if_present_flag', 'octet'],
  ['data_coding', 'octet'],
  ['sm_default_msg_id', 'octet'],
  ['sm_length', 'octet'],
  ['short_message', 'message'],
]

const bodies: Readonly<Record<string, readonly (readonly [string, FieldKind])[]>> = {
  submit_sm: shortMessage,
  deliver_sm: shortMessage,
  submit_sm_resp: [['message_id', 'text']],
  deliver_sm_resp: [['message_id', 'text']],
  data_sm: [
    ['service_type', 'text'],
    ...address('source'),
    ...address('dest'),
    ['esm_class', 'octet'],
    ['registered_delivery', 'octet'],
    ['data_coding', 'octet'],
  ],
  data_sm_resp: [['message_id', 'text']],
}

/** Fields of a frame; null when it is too short to be a PDU. */
export function readFields(frame: Buffer): ReadPdu | null {
  if (frame.length < headerBytes) return null
  const command = commands.get(frame.readUInt32BE(4)) ?? hex(frame.readUInt32BE(4), 8)
  const fields = headerOf(frame, command)
  let at = headerBytes
  let coding = 0
  let messageLength = 0
  for (const [name, kind] of bodies[command] ?? []) {
    if (at >= frame.length && kind !== 'message') break
    const length = kind === 'octet' ? 1 : kind === 'message' ? messageLength : textLength(frame, at)
    const octets = frame.subarray(at, at + length)
    if (name === 'data_coding') coding = octets[0] ?? 0
    if (name === 'sm_length') messageLength = octets[0] ?? 0
    if (length > 0) fields.push({ name, start: at, length: octets.length, value: wordsOf(kind, octets, coding) })
    at += length
  }
  return { command, fields: [...fields, ...optionalOf(frame, at, coding)] }
}

function headerOf(frame: Buffer, command: string): PduField[] {
  const status = frame.readUInt32BE(8)
  return [
    { name: 'command_length', start: 0, length: 4, value: String(frame.readUInt32BE(0)) },
    { name: 'command_id', start: 4, length: 4, value: `${hex(frame.readUInt32BE(4), 8)} ${command}` },
    { name: 'command_status', start: 8, length: 4, value: `${hex(status, 8)} ${statusName(status)}` },
    { name: 'sequence_number', start: 12, length: 4, value: String(frame.readUInt32BE(12)) },
  ]
}

function* optionalOf(frame: Buffer, from: number, coding: number): Generator<PduField> {
  let at = from
  while (at + 4 <= frame.length) {
    const [tag, length] = [frame.readUInt16BE(at), frame.readUInt16BE(at + 2)]
    const octets = frame.subarray(at + 4, at + 4 + length)
    const name = tlvNameOf(tag)
    const value = name === 'message_payload' ? decoded(octets, coding) : shown(octets)
    yield { name: name ?? `tag ${hex(tag, 4)}`, start: at, length: 4 + octets.length, value }
    at += 4 + length
  }
  if (at < frame.length)
    yield { name: 'octets', start: at, length: frame.length - at, value: frame.subarray(at).toString('hex') }
}

function wordsOf(kind: FieldKind, octets: Buffer, coding: number): string {
  if (kind === 'octet') return hex(octets[0] ?? 0, 2)
  return kind === 'text' ? octets.toString('latin1').replace('\0', '') : decoded(octets, coding)
}

function decoded(octets: Buffer, coding: number): string {
  if (coding !== 0x08 || octets.length % 2 === 1) return octets.toString('latin1')
  return Buffer.from(octets).swap16().toString('utf16le')
}

/** Small numbers as such; what else is there as letters where it is readable. */
function shown(octets: Buffer): string {
  const text = octets.toString('latin1').replace(/\0$/, '')
  if (octets.length > 4 && /^[\x20-\x7e]+$/.test(text)) return text
  return octets.length > 0 && octets.length <= 4 ? String(octets.readUIntBE(0, octets.length)) : octets.toString('hex')
}

/** Length of a text with its closing zero. */
function textLength(frame: Buffer, at: number): number {
  const end = frame.indexOf(0, at)
  return (end < 0 ? frame.length : end + 1) - at
}

function hex(value: number, digits: number): string {
  return `0x${value.toString(16).padStart(digits, '0')}`
}
