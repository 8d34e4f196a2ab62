// SPDX-License-Identifier: Apache-2.0
// Routes of calls.
import { Type } from 'typebox'
import { idOf } from '../../kernel/ids.ts'
import { list, type Route, read, write } from '../../platform/api/route.ts'
import { OneOf, wholeListQuery } from '../../platform/schema/fields.ts'
import { pageOfWhole } from '../../platform/schema/lists.ts'
import { conversationOf, resourceOf } from './calls/call.ts'
import { callOf, hangupCall, playInto, stopPlaying } from './calls/command.ts'
import { checkCall, createCall } from './calls/create.ts'
import { Call, CallCreate, CallCreated, CallEvent, Playing, PlayRequest, Stopped, VoiceRecord } from './schema.ts'
import { locales } from './speech/voices.ts'
import { listEvents } from './store.ts'
import { telephoneNetworkOf } from './trunks/telephone-network.ts'

/** Example call for the documentation. */
const aCall = { operation: 'voice.createCall', id: 'call_id' }
const CallId = Type.Object({ call_id: Type.String({ description: 'Id of the call, call_…' }) })
const mostTrace = 5_000

const create = write({
  method: 'POST',
  path: '/v1/voice/calls',
  operation: 'voice.createCall',
  summary: 'Call somebody',
  description:
    'The flow of the call comes from `answer_url` when somebody answers, or with the request as `tts` or `actions`. The first minute is set aside from the wallet, more while the call lasts; what was spoken is charged by the second.',
  scope: 'voice:write',
  limit: 'voice',
  body: CallCreate,
  bodyLimitBytes: 128 * 1_024,
  reply: { status: 201, schema: CallCreated, location: ({ call_id }) => `/v1/voice/${call_id}` },
  errors: [
    'INVALID_PHONE',
    'INVALID_URL',
    'INVALID_CALL_FLOW',
    'UNSUPPORTED_LANGUAGE',
    'NUMBER_NOT_OWNED',
    'DESTINATION_NOT_ALLOWED',
    'INSUFFICIENT_BALANCE',
    'CONCURRENCY_LIMIT',
    'PROVIDER_UNAVAILABLE',
  ],
  examples: [
    {
      name: 'Say something in Swahili',
      body: {
        to: '+254711000001',
        from: '+254700000000',
        tts: { text: 'Habari. Oda yako iko tayari.', language: 'sw-KE' },
      },
    },
    {
      name: 'Ask for a digit',
      body: {
        to: '+254711000020',
        from: '+254700000000',
        actions: [
          { action: 'talk', text: 'Press one to confirm.', language: 'en-KE', bargeIn: true },
          { action: 'input', type: ['dtmf'], maxDigits: 1, timeOut: 5 },
        ],
      },
    },
  ],
  prepare: (app, { body }, caller) => checkCall(app, body, caller),
  handle: async (app, tx, { body }, caller, plan) => {
    const row = await createCall(app, tx, body, caller, plan)
    return {
      call_id: idOf('call', row.id),
      conversation_uuid: conversationOf(row),
      status: row.status,
      direction: row.direction,
      from: row.from_number,
      to: row.to_number,
      started_at: row.started_at,
    }
  },
})

const get = read({
  method: 'GET',
  path: '/v1/voice/:call_id',
  aliases: ['/v1/voice/call/:call_id'],
  operation: 'voice.getCall',
  summary: 'Read a call',
  scope: 'voice:read',
  params: CallId,
  needs: aCall,
  reply: { status: 200, schema: Call },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => resourceOf(await callOf(app, tenant, params.call_id)),
})

const hangup = write({
  method: 'POST',
  path: '/v1/voice/:call_id/hangup',
  aliases: ['/v1/voice/call/:call_id/hangup'],
  operation: 'voice.hangup',
  summary: 'End a call',
  description:
    'A call that is over already is answered as it is. Before the answer, `reason` decides what a caller hears.',
  scope: 'voice:write',
  limit: 'voice',
  params: CallId,
  needs: aCall,
  body: Type.Object({
    reason: Type.Optional(
      OneOf(['normal', 'busy', 'rejected'], {
        description: 'What the other side is told, while it still rings; normal unless told',
      }),
    ),
  }),
  reply: { status: 200, schema: Call },
  errors: ['NOT_FOUND'],
  prepare: (app, { params, body }, { tenant }) => hangupCall(app, tenant, params.call_id, body.reason ?? 'normal'),
  handle: async (_app, _tx, _input, _caller, row) => resourceOf(row),
})

const play = write({
  method: 'POST',
  path: '/v1/voice/:call_id/play',
  operation: 'voice.play',
  summary: 'Play or say something in a call',
  scope: 'voice:write',
  limit: 'voice',
  params: CallId,
  needs: aCall,
  body: PlayRequest,
  reply: { status: 200, schema: Playing },
  errors: ['NOT_FOUND', 'CALL_NOT_ACTIVE', 'INVALID_URL', 'UNSUPPORTED_LANGUAGE', 'PROVIDER_UNAVAILABLE'],
  prepare: (app, { params, body }, caller) => playInto(app, caller, params.call_id, body),
  handle: async (_app, _tx, _input, _caller, playing) => playing,
})

const stop = write({
  method: 'DELETE',
  path: '/v1/voice/:call_id/play',
  operation: 'voice.stopPlaying',
  summary: 'Stop what is being played in a call',
  description: 'Whoever hears it; what waits to be played after it is dropped. The prompts of the flow go on.',
  scope: 'voice:write',
  limit: 'voice',
  params: CallId,
  needs: aCall,
  reply: { status: 200, schema: Stopped },
  errors: ['NOT_FOUND', 'CALL_NOT_ACTIVE'],
  prepare: (app, { params }, caller) => stopPlaying(app, caller, params.call_id),
  handle: async (_app, _tx, _input, _caller, playing) => playing,
})

const trace = list({
  path: '/v1/voice/:call_id/events',
  operation: 'voice.listEvents',
  summary: 'Read everything that happened in a call, in order',
  scope: 'voice:read',
  params: CallId,
  needs: aCall,
  query: Type.Object({
    ...wholeListQuery,
    order: Type.Optional(OneOf(['asc', 'desc'], { description: 'Oldest first (`asc`) unless asked otherwise' })),
  }),
  row: CallEvent,
  errors: ['NOT_FOUND'],
  handle: async (app, { params, query: { order, ...query } }, { tenant }) => {
    const { id } = await callOf(app, tenant, params.call_id)
    const rows = await app.db.query(listEvents, { ...tenant, id, after: 0, limit: mostTrace })
    return pageOfWhole(query, order === 'desc' ? rows.toReversed() : rows, ({ position }) => String(position))
  },
})

const voices = list({
  path: '/v1/voice/tts/voices',
  operation: 'voice.listVoices',
  summary: 'List the voices that can speak',
  description:
    '`approximate` voices read a language by rules of its spelling, with the sounds of another. `available` is false until the speech engine is installed: the package espeak-ng.',
  scope: 'voice:read',
  query: Type.Object(wholeListQuery),
  row: VoiceRecord,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }) => {
    const available = await telephoneNetworkOf(app).speaker.available()
    const engine = app.config.PAMOJA_SPEECH_PROGRAM
    const rows = Object.entries(locales).flatMap(([language, { voices, quality }]) =>
      voices.map(({ name, gender }) => ({ language, voice: name, gender, engine, quality, available })),
    )
    return pageOfWhole(query, rows, ({ language, voice }) => `${language} ${voice}`)
  },
})

export const callRoutes: readonly Route[] = [voices, create, get, hangup, play, stop, trace]
