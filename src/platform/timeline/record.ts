// SPDX-License-Identifier: Apache-2.0
// Timeline object of the API. PDUs have their fields with the position of each in the octets.
import { type Static, Type } from 'typebox'
import { At, Nullable, OneOf } from '../schema/fields.ts'
import type { Told } from '../timeline.ts'

const Pdu = Type.Object(
  {
    command: Type.String({ description: 'Name of the PDU, such as `submit_sm`' }),
    hex: Type.String({ description: 'Octets in hex; a text that only the recipient may read is masked' }),
    fields: Type.Array(
      Type.Object({
        name: Type.String({ description: 'Name of the field in SMPP' }),
        start: Type.Integer({ description: 'Index of the first octet' }),
        length: Type.Integer({ description: 'Number of octets' }),
        value: Type.String({ description: 'Value in words' }),
      }),
      { description: 'Fields of the PDU, in the order of the octets' },
    ),
  },
  { title: 'TimelinePdu' },
)

const TimelineFrame = Type.Object(
  {
    at: At({ description: 'Start time' }),
    kind: OneOf(['request', 'state', 'smpp', 'provider', 'callback', 'webhook'], {
      description: '`request`: your request; `state`: a status of ours; the others are network traffic',
    }),
    direction: Nullable(OneOf(['in', 'out'], { description: '`out`: sent by us; null: a state of ours' })),
    title: Type.String({ description: 'Title, such as `submit_sm`, a method and path, or the status' }),
    peer: Nullable(Type.String({ description: 'Other side: a bind, a host, an address' })),
    status: Nullable(Type.String({ description: 'Status of the answer, such as 200; for a state, a note; or null' })),
    is_ok: Nullable(Type.Boolean({ description: 'True on success, false on failure; null where it is not known' })),
    duration_ms: Nullable(Type.Number({ description: 'Milliseconds until the answer; null where none was expected' })),
    request: Nullable(Type.String({ description: 'Content that was sent, redacted and cut; null for PDUs' })),
    answer: Nullable(
      Type.String({ description: 'Content of the answer, redacted and cut; null for PDUs or without one' }),
    ),
    pdus: Type.Array(Pdu, { description: 'PDUs of the request and the answer over SMPP; empty for other kinds' }),
  },
  { title: 'TimelineFrame' },
)

export const TimelineRecord = Type.Object(
  {
    id: Type.String({ description: 'Id of the object of the timeline' }),
    frames: Type.Array(TimelineFrame, {
      description:
        'Frames, oldest first. Network traffic is recorded for up to 10 resources a second of an account (300 at once), and for a sample beyond; requests and states are always here',
    }),
  },
  { title: 'Timeline' },
)

type Fields = readonly { name: string; start: number; length: number; value: string }[]

/** Parses the octets of a PDU; null when malformed. */
type ReadPdu = (octets: Buffer) => { readonly command: string; readonly fields: Fields } | null

export function timelineRecord(
  id: string,
  told: readonly Told[],
  readPdu: ReadPdu = () => null,
): Static<typeof TimelineRecord> {
  return { id, frames: told.map((frame) => frameOf(frame, readPdu)) }
}

function frameOf({ isOk, durationMs, request, answer, ...rest }: Told, readPdu: ReadPdu): Static<typeof TimelineFrame> {
  const isOctets = rest.kind === 'smpp'
  return {
    ...rest,
    is_ok: isOk,
    duration_ms: durationMs,
    request: isOctets ? null : request,
    answer: isOctets ? null : answer,
    pdus: isOctets ? [request, answer].flatMap((hex) => pduOf(hex, readPdu)) : [],
  }
}

function pduOf(hex: string | null, readPdu: ReadPdu): Static<typeof Pdu>[] {
  const read = hex === null ? null : readPdu(Buffer.from(hex, 'hex'))
  return read && hex !== null ? [{ command: read.command, hex, fields: [...read.fields] }] : []
}
