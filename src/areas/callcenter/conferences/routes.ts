// SPDX-License-Identifier: Apache-2.0
// Routes of conferences.
import { Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { newUuid, uuidOf } from '../../../kernel/ids.ts'
import { isE164 } from '../../../kernel/phone.ts'
import { type Route, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Queryable } from '../../../platform/db.ts'
import { At, Nullable, OneOf, Phone } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { checkNumbers, firstNumber, liveCalls, requireFreeCalls } from '../../voice/area.ts'
import type { After } from '../caller/next-contact.ts'
import { agentIdForm } from '../schema.ts'
import { holdSwitchboard } from '../switchboard.ts'
import { addParticipant, all, conferenceRecord, endConference, participantRecord, save } from './conference.ts'
import { type ConferenceRow, findConference, insertConference, listParticipants } from './store.ts'

const most = 50

const ConferenceId = Type.Object({ conference_id: Type.String({ description: 'Id of the conference, conf_…' }) })
const ParticipantId = Type.Object({
  conference_id: Type.String({ description: 'Id of the conference, conf_…' }),
  participant_id: Type.String({ description: 'Id of the participant, par_…' }),
})
const Endpoint = Type.String({
  minLength: 1,
  maxLength: 64,
  rule: 'must be a number or an agent',
  description: 'Number in E.164, or an agent',
})

const Participant = Type.Object(
  {
    participant_id: Type.String({ description: 'Id of the participant, such as `par_…`' }),
    call_id: Nullable(Type.String({ description: 'Id of the participant’s leg, `call_…`; null until it rings' })),
    endpoint: Type.String({ description: 'Number in E.164, or an agent' }),
    role: OneOf(['participant', 'moderator'], { description: 'Role; participants may have to wait for the moderator' }),
    status: OneOf(['dialing', 'joined', 'held', 'left', 'failed'], {
      description: '`held`: on hold with music, and muted; `left` and `failed` are final',
    }),
    muted: Type.Boolean({ description: 'True if the participant is muted' }),
    joined_at: Nullable(At({ description: 'Time of the answer; null if there was none' })),
  },
  { title: 'ConferenceParticipant' },
)

const Conference = Type.Object(
  {
    conference_id: Type.String({ description: 'Id of the conference, such as `conf_…`' }),
    name: Type.String({ description: 'Label' }),
    status: OneOf(['initiated', 'active', 'ended'], {
      description: '`initiated` until a participant joins, `ended` once all have left',
    }),
    record: Type.Boolean({ description: 'True if the conference is recorded' }),
    recording_id: Nullable(Type.String({ description: 'Id of the recording, `rec_…`; null until it begins' })),
    participants: Type.Array(Participant, { description: 'All participants, including those who left' }),
    created_at: At({ description: 'Time of creation' }),
  },
  { title: 'Conference' },
)

const noConference = () => new AppError('NOT_FOUND', 'there is no such conference; ids of conferences begin with conf_')

function uuid(id: string): string {
  const found = uuidOf('conference', id)
  if (found === null) throw noConference()
  return found
}

/** Requires an endpoint to be a callable number or an agent. */
async function requireCallable(app: App, tenant: Tenant, from: string, endpoint: string, field: string): Promise<void> {
  if (isE164(endpoint)) return checkNumbers(app, tenant, { from, to: endpoint })
  if (endpoint.startsWith('+')) throw new AppError('INVALID_PHONE', `${field} must be E.164, such as +254711000001`)
  if (!agentIdForm.test(endpoint)) throw invalid(field, 'must be a number or an agent')
}

/** Conference of a path. */
async function conferenceNamed(queryable: Queryable, tenant: Tenant, id: string): Promise<ConferenceRow> {
  const row = await maybe(queryable.query(findConference, { ...tenant, id: uuid(id) }))
  if (!row) throw noConference()
  return row
}

/** Errors of ringing a participant. */
const ringErrors = [
  'INVALID_PHONE',
  'NUMBER_NOT_OWNED',
  'DESTINATION_NOT_ALLOWED',
  'AGENT_NOT_AVAILABLE',
  'CONFERENCE_FULL',
  'CONCURRENCY_LIMIT',
  'PROVIDER_UNAVAILABLE',
] as const

const create = write({
  method: 'POST',
  path: '/v1/voice/conference',
  operation: 'callcenter.createConference',
  summary: 'Start a conference',
  description: `Rings all participants at once, at most ${most}. The conference ends when the last one leaves.`,
  scope: 'callcenter:write',
  limit: 'voice',
  body: Type.Object({
    name: Type.String({
      minLength: 1,
      maxLength: 64,
      rule: 'must have 1 to 64 characters',
      description: 'Label',
    }),
    participants: Type.Array(Endpoint, {
      minItems: 1,
      rule: 'must be at least one number or agent',
      description: 'Participants to call: numbers in E.164 and ids of agents',
    }),
    record: Type.Optional(Type.Boolean({ description: 'True records the conference; default false' })),
    from: Type.Optional(Phone({ description: 'Caller number shown to everyone; default: the first of yours' })),
    moderator: Type.Optional(Endpoint),
    start_on_moderator: Type.Optional(
      Type.Boolean({ description: 'True keeps participants waiting until the moderator joins' }),
    ),
    mute_on_entry: Type.Optional(Type.Boolean({ description: 'Mutes participants when they join; default `false`' })),
    entry_tone: Type.Optional(Type.Boolean({ description: 'True plays a tone to everyone when a participant joins' })),
    max_participants: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: most,
        rule: `must be 1 to ${most}`,
        description: 'Maximum number of participants; default 50',
      }),
    ),
  }),
  reply: { status: 201, schema: Conference, location: ({ conference_id }) => `/v1/voice/conference/${conference_id}` },
  errors: ringErrors,
  examples: [
    {
      name: 'Two people',
      body: { name: 'Stand-up', from: '+254700000000', participants: ['+254711000041', '+254711000042'] },
    },
  ],
  async prepare(app, { body }, { tenant }) {
    const { participants, moderator, max_participants = most } = body
    if (participants.length > max_participants)
      throw new AppError('CONFERENCE_FULL', `the conference has at most ${max_participants} participants`)
    const from = body.from ?? (await firstNumber(app, tenant))
    if (from === null) throw invalid('from', 'is required: the account has no number')
    for (const [i, endpoint] of participants.entries())
      await requireCallable(app, tenant, from, endpoint, `participants[${i}]`)
    if (moderator !== undefined && !participants.includes(moderator))
      throw invalid('moderator', 'must be one of the participants')
    if (body.start_on_moderator && moderator === undefined)
      throw invalid('moderator', 'is required with start_on_moderator')
    return from
  },
  async handle(app, tx, { body }, caller, from) {
    const { tenant, receivedMs, nowMs } = caller
    await holdSwitchboard(tx, tenant)
    await requireFreeCalls(app, tx, tenant, body.participants.length)
    const options = {
      from,
      moderator: body.moderator ?? null,
      start_on_moderator: body.start_on_moderator ?? false,
      mute_on_entry: body.mute_on_entry ?? false,
      max_participants: body.max_participants ?? most,
      entry_tone: body.entry_tone ?? false,
    }
    const id = newUuid(receivedMs)
    const named = { ...tenant, id, name: body.name, record: body.record ?? false }
    const row = await one(
      tx.query(insertConference, { ...named, options: JSON.stringify(options), at: new Date(nowMs) }),
    )
    const rings: After[] = []
    for (const endpoint of body.participants)
      rings.push((await addParticipant(app, tx, { ...caller }, row, endpoint)).after)
    tx.afterCommit(() => void begin(app, tenant, row, rings))
    return conferenceRecord(row, await tx.query(listParticipants, { ...tenant, conference: id }))
  },
})

/** Opens the room and ring all participants. Without media capacity all fail. */
async function begin(app: App, tenant: Tenant, row: ConferenceRow, rings: readonly After[]): Promise<void> {
  await liveCalls(app)
    .openRoom(tenant, row.id)
    .catch((error) =>
      app.log.warn(
        { error },
        'conference room not opened: its creation fails; retry it, and check the media processes if it happens again',
      ),
    )
  await Promise.all(rings.map((ring) => all(app, [ring])))
}

const get = read({
  method: 'GET',
  path: '/v1/voice/conference/:conference_id',
  operation: 'callcenter.getConference',
  summary: 'Get a conference',
  scope: 'callcenter:read',
  params: ConferenceId,
  reply: { status: 200, schema: Conference },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => {
    const row = await conferenceNamed(app.db, tenant, params.conference_id)
    return conferenceRecord(row, await app.db.query(listParticipants, { ...tenant, conference: row.id }))
  },
})

const add = write({
  method: 'POST',
  path: '/v1/voice/conference/:conference_id/participants',
  operation: 'callcenter.addParticipant',
  summary: 'Add a participant to a conference',
  scope: 'callcenter:write',
  limit: 'voice',
  params: ConferenceId,
  body: Type.Object({ endpoint: Endpoint }),
  reply: { status: 200, schema: Participant },
  errors: ['NOT_FOUND', 'CONFLICT', ...ringErrors],
  async prepare(app, { params, body }, { tenant }) {
    const row = await conferenceNamed(app.db, tenant, params.conference_id)
    await requireCallable(app, tenant, row.options.from, body.endpoint, 'endpoint')
  },
  async handle(app, tx, { params, body }, caller) {
    await holdSwitchboard(tx, caller.tenant)
    const row = await conferenceNamed(tx, caller.tenant, params.conference_id)
    if (row.status === 'ended') throw new AppError('CONFLICT', 'the conference has ended')
    await requireFreeCalls(app, tx, caller.tenant)
    const added = await addParticipant(app, tx, { ...caller }, row, body.endpoint)
    tx.afterCommit(() => void all(app, [added.after]))
    return participantRecord(added.row)
  },
})

const noParticipant = () => new AppError('NOT_FOUND', 'there is no such participant in the conference')

const change = write({
  method: 'PATCH',
  path: '/v1/voice/conference/:conference_id/participants/:participant_id',
  operation: 'callcenter.changeParticipant',
  summary: 'Mute or hold a participant',
  scope: 'callcenter:write',
  params: ParticipantId,
  needs: { operation: 'callcenter.createConference', id: 'conference_id' },
  body: Type.Object({
    muted: Type.Optional(Type.Boolean({ description: 'True mutes the participant' })),
    held: Type.Optional(
      Type.Boolean({ description: 'True puts the participant on hold, with music and without being heard' }),
    ),
  }),
  reply: { status: 200, schema: Participant },
  errors: ['NOT_FOUND', 'CALL_NOT_ACTIVE'],
  async handle(app, tx, { params, body }, { tenant }) {
    await holdSwitchboard(tx, tenant)
    const id = uuidOf('participant', params.participant_id)
    const rows = await tx.query(listParticipants, { ...tenant, conference: uuid(params.conference_id) })
    const row = rows.find((each) => each.id === id)
    if (!row) throw noParticipant()
    const leg = row.call_id
    if (leg === null || (row.status !== 'joined' && row.status !== 'held'))
      throw new AppError('CALL_NOT_ACTIVE', `this participant is ${row.status}`)
    const live = liveCalls(app)
    const { muted = row.muted, held = row.status === 'held' } = body
    tx.afterCommit(
      () =>
        void all(app, [
          ...(muted === row.muted ? [] : [() => live.mute(tenant, leg, muted)]),
          ...(held === (row.status === 'held')
            ? []
            : [() => live.hold(tenant, leg, held ? { music: 'default' } : null)]),
        ]),
    )
    return participantRecord(await save(tx, tenant, row, { muted, status: held ? 'held' : 'joined' }))
  },
})

const remove = write({
  method: 'DELETE',
  path: '/v1/voice/conference/:conference_id/participants/:participant_id',
  operation: 'callcenter.removeParticipant',
  summary: 'Remove a participant',
  scope: 'callcenter:write',
  params: ParticipantId,
  needs: { operation: 'callcenter.createConference', id: 'conference_id' },
  reply: { status: 200, schema: Participant },
  errors: ['NOT_FOUND'],
  async handle(app, tx, { params }, { tenant, nowMs }) {
    await holdSwitchboard(tx, tenant)
    const id = uuidOf('participant', params.participant_id)
    const rows = await tx.query(listParticipants, { ...tenant, conference: uuid(params.conference_id) })
    const row = rows.find((each) => each.id === id)
    if (!row) throw noParticipant()
    const leg = row.call_id
    // The end of the leg arrives as its own event and frees the agent.
    if (leg !== null) tx.afterCommit(() => void all(app, [() => liveCalls(app).hangUp(tenant, leg)]))
    return participantRecord({ ...row, status: 'left', left_at: new Date(nowMs) })
  },
})

const end = write({
  method: 'DELETE',
  path: '/v1/voice/conference/:conference_id',
  operation: 'callcenter.endConference',
  summary: 'End a conference',
  scope: 'callcenter:write',
  params: ConferenceId,
  reply: { status: 200, schema: Conference },
  errors: ['NOT_FOUND'],
  async handle(app, tx, { params }, caller) {
    const { tenant } = caller
    await holdSwitchboard(tx, tenant)
    const row = await conferenceNamed(tx, tenant, params.conference_id)
    const after = await endConference(app, tx, { ...caller }, row)
    tx.afterCommit(() => void all(app, after))
    const now = await conferenceNamed(tx, tenant, params.conference_id)
    return conferenceRecord(now, await tx.query(listParticipants, { ...tenant, conference: row.id }))
  },
})

export const conferenceRoutes: readonly Route[] = [create, get, add, change, remove, end]
