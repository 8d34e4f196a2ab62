// SPDX-License-Identifier: Apache-2.0
// Commands to a call or room, from this node or another: JSON, validated before use.
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'

const Uuid = Type.String({ pattern: '^[0-9a-f-]{36}$' })
const Circle = Type.Union([Type.Literal('all'), Type.Array(Uuid, { maxItems: 60 })])
const Audio = Type.Object({ host: Type.String({ maxLength: 64 }), port: Type.Integer({ minimum: 1, maximum: 65_535 }) })
const Flow = Type.Object({ actions: Type.Array(Type.Unknown()), isOwn: Type.Optional(Type.Boolean()) })
const OptionalText = Type.Optional(Type.Union([Type.String(), Type.Null()]))

const Commands = {
  hangup: Type.Object({
    do: Type.Literal('hangup'),
    reason: Type.Optional(Type.Enum(['normal', 'busy', 'rejected'])),
    by: Type.Optional(Type.Enum(['api', 'agent', 'system'])),
  }),
  play: Type.Object({
    do: Type.Literal('play'),
    play: Type.Object({
      id: Type.String(),
      text: Type.Optional(Type.String()),
      language: Type.Optional(Type.String()),
      voice: Type.Optional(Type.String()),
      url: Type.Optional(Type.String()),
      music: Type.Optional(Type.String()),
      loop: Type.Integer(),
      interrupt: Type.Boolean(),
      target: Type.Enum(['all', 'caller', 'agent']),
    }),
  }),
  stop_play: Type.Object({
    do: Type.Literal('stop_play'),
    target: Type.Enum(['all', 'caller', 'agent']),
  }),
  /** Stops all sounds; answered with the id of one that was playing, if any was. */
  stop_all_plays: Type.Object({ do: Type.Literal('stop_all_plays') }),
  ring: Type.Object({
    do: Type.Literal('ring'),
    to: Type.Union([
      Type.Object({ phone: Type.String() }),
      Type.Object({ sip: Type.String() }),
      Type.Object({ media: Type.Literal(true) }),
      Type.Object({ call: Uuid }),
    ]),
    from: Type.String(),
    timeoutSeconds: Type.Number({ minimum: 1, maximum: 600 }),
    tag: Type.Union([Type.String({ maxLength: 200 }), Type.Null()]),
    edges: Type.Optional(Type.Object({ hears: Circle, heardBy: Circle })),
    customData: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    agentId: Type.Optional(Type.String({ maxLength: 64 })),
  }),
  connect_media: Type.Object({ do: Type.Literal('connect_media'), audio: Audio }),
  hold: Type.Object({ do: Type.Literal('hold'), music: Type.Union([Type.String({ maxLength: 2_048 }), Type.Null()]) }),
  mute: Type.Object({ do: Type.Literal('mute'), isMuted: Type.Boolean() }),
  edges: Type.Object({ do: Type.Literal('edges'), hears: Circle, heardBy: Circle }),
  send_digits: Type.Object({ do: Type.Literal('send_digits'), digits: Type.String({ pattern: '^[0-9A-D*#]{1,64}$' }) }),
  record: Type.Object({
    do: Type.Literal('record'),
    channels: Type.Integer({ minimum: 1, maximum: 2 }),
    /** Leg of the room whose call the recording belongs to. */
    call: Type.Optional(Type.String()),
  }),
  pause_recording: Type.Object({ do: Type.Literal('pause_recording'), isPaused: Type.Boolean() }),
  stop_recording: Type.Object({ do: Type.Literal('stop_recording') }),
  mark: Type.Object({
    do: Type.Literal('mark'),
    phase: OptionalText,
    agent_id: OptionalText,
    queue_id: OptionalText,
    ivr_id: OptionalText,
    conference_id: OptionalText,
    disposition: OptionalText,
  }),
  resume: Type.Object({
    do: Type.Literal('resume'),
    flow: Type.Union([Flow, Type.Null()]),
    /** Area that supplies the flow. */
    by: Type.String(),
  }),
  /** Opens a link in a room for a call on another node, and connects it once the call has joined. */
  open_link: Type.Object({ do: Type.Literal('open_link'), call: Uuid }),
  connect_link: Type.Object({ do: Type.Literal('connect_link'), call: Uuid, audio: Audio }),
  close_link: Type.Object({ do: Type.Literal('close_link'), call: Uuid }),
  /** Joins the link opened in another room. */
  join: Type.Object({ do: Type.Literal('join'), room: Uuid, audio: Audio }),
  leave: Type.Object({ do: Type.Literal('leave') }),
  link_edges: Type.Object({ do: Type.Literal('link_edges'), call: Uuid, hears: Circle, heardBy: Circle }),
  close_room: Type.Object({ do: Type.Literal('close_room') }),
  press: Type.Object({ do: Type.Literal('press'), digits: Type.String() }),
  say: Type.Object({ do: Type.Literal('say'), text: Type.String() }),
  hang_up_phone: Type.Object({ do: Type.Literal('hang_up_phone') }),
  answer_phone: Type.Object({ do: Type.Literal('answer_phone') }),
} as const

type Commands = { [Name in keyof typeof Commands]: Static<(typeof Commands)[Name]> }
export type SessionCommand = Commands[keyof Commands]
export type CommandOf<Name extends keyof Commands> = Commands[Name]

/** Parses a command; null when invalid. */
export function readCommand(given: unknown): SessionCommand | null {
  for (const schema of Object.values(Commands)) if (Value.Check(schema, given)) return given
  return null
}
