// SPDX-License-Identifier: Apache-2.0
// Messages of a desk: JSON objects with a `type`. One with an `id` is answered by `done` or `error` with the same id.
import { Type } from 'typebox'
import { type MessageOf, messageReader } from '../../../platform/http/socket-messages.ts'
import { Moment, OneOf } from '../../../platform/schema/fields.ts'
import { settableStatuses } from '../agents/agent.ts'

const text = (most: number) => Type.String({ minLength: 1, maxLength: most, rule: `must have 1 to ${most} characters` })
const transfer = Type.Object({ transfer_id: Type.Optional(text(40)) })

const schemas = {
  ping: Type.Object({}),
  'webrtc.answer': Type.Object({ sdp: text(32_768) }),
  'webrtc.candidate': Type.Object({
    candidate: Type.String({ maxLength: 1_024 }),
    sdp_mid: Type.Optional(text(16)),
    sdp_m_line_index: Type.Optional(Type.Integer({ minimum: 0, maximum: 8 })),
  }),
  'call.accept': Type.Object({}),
  'call.reject': Type.Object({}),
  'call.hangup': Type.Object({}),
  'call.hold': Type.Object({ hold: Type.Boolean() }),
  'call.mute': Type.Object({ mute: Type.Boolean() }),
  'call.dtmf': Type.Object({ digits: text(32) }),
  colleagues: Type.Object({}),
  'status.set': Type.Object({
    status: OneOf(settableStatuses),
    reason: Type.Optional(text(64)),
    until: Type.Optional(Moment()),
  }),
  'transfer.start': Type.Object({
    destination: text(256),
    transfer_type: Type.Optional(OneOf(['warm', 'cold'])),
    message: Type.Optional(text(500)),
  }),
  'transfer.complete': transfer,
  'transfer.merge': transfer,
  'transfer.cancel': transfer,
  wrap_up: Type.Object({
    disposition: Type.Optional(text(64)),
    notes: Type.Optional(Type.String({ maxLength: 4_000 })),
    tags: Type.Optional(Type.Array(text(64), { maxItems: 20 })),
  }),
} as const

export type DeskMessage = MessageOf<typeof schemas>
export const readMessage = messageReader(schemas)
