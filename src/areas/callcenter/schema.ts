// SPDX-License-Identifier: Apache-2.0
// Schemas shared by the call centre: agent ids, skills, languages, destinations.
import { type Static, Type } from 'typebox'
import { OneOf, Phone } from '../../platform/schema/fields.ts'
import { spokenLanguages } from '../voice/area.ts'

export const agentIdForm = /^[A-Za-z0-9_.-]{1,64}$/

export const AgentId = (description: string) =>
  Type.String({
    pattern: agentIdForm.source,
    rule: 'must have 1 to 64 letters, digits, dots, dashes and underscores',
    description,
  })

export const RingSeconds = (description: string) =>
  Type.Integer({ minimum: 5, maximum: 120, rule: 'must be 5 to 120 seconds', description })

export const SipUri = Type.String({
  pattern: '^sips?:\\S+$',
  maxLength: 256,
  rule: 'must be a SIP URI, such as sip:ada@example.org',
  description: 'Address of a SIP phone',
})

export const Url = (description: string) => Type.String({ minLength: 1, maxLength: 2_048, description })

export const Language = Type.Unsafe<string>({
  type: 'string',
  enum: Object.keys(spokenLanguages),
  rule: 'must be a language that GET /v1/voice/tts/voices lists, such as sw-KE, or one without its region, such as sw',
  errorCode: 'UNSUPPORTED_LANGUAGE',
  description: 'Language spoken and recognised, such as `sw-KE`; inherited by default, or else `en-US`',
})

const skillName = Type.String({
  minLength: 1,
  maxLength: 64,
  rule: 'must have 1 to 64 characters',
  description: 'Name of the skill, such as `billing`; shared by agents and queues',
})

export const Skill = Type.Object({
  name: skillName,
  level: Type.Integer({ minimum: 1, maximum: 5, rule: 'must be 1 to 5', description: 'Skill level; 5 is the highest' }),
})

export const RequiredSkill = Type.Object({
  name: skillName,
  min_level: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 5,
      rule: 'must be 1 to 5; default 1',
      description: 'Minimum skill level required',
    }),
  ),
})

export type SkillOf = Static<typeof Skill>
export type RequiredSkillOf = Static<typeof RequiredSkill>

const destinationTypes = [
  'queue',
  'ivr',
  'agent',
  'phone',
  'sip',
  'application',
  'voicemail',
  'message',
  'hangup',
] as const

export const agentStatuses = [
  'offline',
  'available',
  'ringing',
  'on_call',
  'wrap_up',
  'break',
  'away',
  'training',
  'meeting',
] as const

export const Destination = Type.Object(
  {
    type: OneOf(destinationTypes, {
      description: 'Kind of destination; determines which of the fields below is required',
    }),
    id: Type.Optional(Type.String({ maxLength: 80, description: 'Id of the queue, IVR or agent' })),
    number: Type.Optional(Phone({ description: 'Phone number' })),
    uri: Type.Optional(SipUri),
    answer_url: Type.Optional(Url('URL of an application that returns the call flow')),
    text: Type.Optional(
      Type.String({ minLength: 1, maxLength: 3_000, description: 'Text spoken as the message or before a voicemail' }),
    ),
    language: Type.Optional(Language),
  },
  { title: 'CallDestination', description: 'Destination of a call' },
)

export type DestinationOf = Static<typeof Destination>

/** Destination without the other fields of a rule or an action. */
export function plainDestination(given: DestinationOf): DestinationOf {
  const { type, id, number, uri, answer_url, text, language } = given
  return {
    type,
    ...(id === undefined ? {} : { id }),
    ...(number === undefined ? {} : { number }),
    ...(uri === undefined ? {} : { uri }),
    ...(answer_url === undefined ? {} : { answer_url }),
    ...(text === undefined ? {} : { text }),
    ...(language === undefined ? {} : { language }),
  }
}

/** Why a destination is incomplete, as a phrase after its name; null when complete. */
export function destinationProblem({ type, id, number, uri, answer_url, text }: DestinationOf): string | null {
  if ((type === 'queue' || type === 'ivr' || type === 'agent') && id === undefined)
    return `of type ${type} must have an id`
  if (type === 'phone' && number === undefined) return 'of type phone must have a number'
  if (type === 'sip' && uri === undefined) return 'of type sip must have a uri'
  if (type === 'application' && answer_url === undefined) return 'of type application must have an answer_url'
  if (type === 'message' && text === undefined) return 'of type message must have a text'
  return null
}
