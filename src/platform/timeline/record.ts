// SPDX-License-Identifier: Apache-2.0
// Timeline object of the API. PDUs have their fields with the position of each in the octets.
import { type Static, Type } from 'typebox'
import { At, Nullable, OneOf } from '../schema/fields.ts'
import type { Told } from '../timeline.ts'

const Pdu = Type.Object(
  {
    command: Type.String(),
    hex: Type.String(),
    fields: Type.Array(
      Type.Object({
        name: Type.String(),
        start: Type.Integer({ description: 'First octet' }),
        length: Type.Integer(),
        value: Type.String(),
      }),
    ),
  },
  { title: 'TimelinePdu' },
)

const TimelineFrame = Type.Object(
  {
    at: At(),
    kind: OneOf(['request', 'state', 'smpp', 'provider', 'callback', 'webhook']),
    direction: Nullable(OneOf(['in', 'out'], { description: '`out`: we said it; null: a state of ours' })),
    title: Type.String(),
    peer: Nullable(Type.String({ description: 'With whom: a bind, a host, an address' })),
    status: Nullable(Type.String()),
    is_ok: Nullable(Type.Boolean()),
    duration_ms: Nullable(Type.Number()),
    request: Nullable(Type.String({ description: 'What was said, redacted and cut; null for PDUs' })),
    answer: Nullable(Type.String()),
    pdus: Type.Array(Pdu),
  },
  { title: 'TimelineFrame' },
)

export const TimelineRecord = Type.Object(
  { id: Type.String(), frames: Type.Array(TimelineFrame) },
  { title: 'Timeline' },
)

type Fields = readonly { name: string; start: number; length: number; value: string }[]

/** Parse the octets of a PDU; null when malformed. */
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
