// SPDX-License-Identifier: Apache-2.0
// Routes of calls.
import { Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { idOf } from '../../kernel/ids.ts'
import { numberInQuery } from '../../kernel/phone.ts'
import { inMemory } from '../../platform/api/download.ts'
import { download, list, type Route, read, write } from '../../platform/api/route.ts'
import { dayRangeQuery, listQuery, OneOf, wholeListQuery } from '../../platform/schema/fields.ts'
import { idBounds, pageOf, pageOfWhole, windowOf } from '../../platform/schema/lists.ts'
import { writeWav } from '../../protocols/audio/wav.ts'
import { conversationOf, resourceOf } from './calls/call.ts'
import { callOf, hangupCall, playInto, redirectCall, stopPlaying } from './customer/command-call.ts'
import { checkCall, createCall } from './customer/create-call.ts'
import {
  Call,
  CallCreate,
  CallCreated,
  CallEvent,
  Playing,
  PlayRequest,
  RecognitionRecord,
  RedirectRequest,
  Stopped,
  VoiceRecord,
} from './schema.ts'
import { isRecognitionInstalled, recognitionModelsOf } from './speech/recognition-models.ts'
import { locales, regionalLocales } from './speech/voices.ts'
import { listCalls, listEvents } from './store.ts'
import { telephoneNetworkOf } from './trunks/telephone-network.ts'

/** Example call for the documentation. */
const aCall = { operation: 'voice.createCall', id: 'call_id' }
const CallId = Type.Object({ call_id: Type.String({ description: 'Id of the call, call_…' }) })
const maxTrace = 5_000

const create = write({
  method: 'POST',
  path: '/v1/voice/calls',
  operation: 'voice.createCall',
  summary: 'Place a call',
  description:
    'The flow of the call is requested from `answer_url` on answer, or given as `tts` or `actions`. One minute is reserved in the wallet at first and more as the call lasts; talk time is charged by the second.',
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
      name: 'Speak a text in Swahili',
      body: {
        to: '+254711000001',
        from: '+254700000000',
        tts: { text: 'Habari. Oda yako iko tayari.', language: 'sw-KE' },
      },
    },
    {
      name: 'Collect a digit',
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
  summary: 'Get a call',
  scope: 'voice:read',
  params: CallId,
  needs: aCall,
  reply: { status: 200, schema: Call },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => resourceOf(await callOf(app, tenant, params.call_id)),
})

const listOwn = list({
  path: '/v1/voice/calls',
  operation: 'voice.listCalls',
  summary: 'List calls',
  scope: 'voice:read',
  query: Type.Object({
    ...listQuery,
    ...dayRangeQuery,
    status: Type.Optional(
      OneOf(['initiated', 'started', 'ringing', 'answered', 'completed', 'failed', 'rejected', 'busy', 'timeout'], {
        description: 'Filter by status',
      }),
    ),
    direction: Type.Optional(OneOf(['inbound', 'outbound'], { description: 'Filter by direction' })),
    number: Type.Optional(
      Type.String({ maxLength: 20, description: 'Full number of either side in E.164, such as +254711000001' }),
    ),
  }),
  row: Call,
  errors: ['INVALID_DATE_RANGE'],
  examples: [{ name: 'Completed calls', query: { status: 'completed' } }],
  handle: async (app, { query }, { tenant }) => {
    const window = windowOf(query)
    const { status = null, direction = null } = query
    const number = query.number === undefined ? null : numberInQuery(query.number)
    const asked = { ...tenant, ...idBounds(query), ...window, status, direction, number }
    return pageOf(window, await app.db.query(listCalls, asked), resourceOf)
  },
})

const hangup = write({
  method: 'POST',
  path: '/v1/voice/:call_id/hangup',
  aliases: ['/v1/voice/call/:call_id/hangup'],
  operation: 'voice.hangup',
  summary: 'Hang up a call',
  description:
    'An ended call is returned unchanged. Before the answer, `reason` sets the signal that the caller hears.',
  scope: 'voice:write',
  limit: 'voice',
  params: CallId,
  needs: aCall,
  body: Type.Object({
    reason: Type.Optional(
      OneOf(['normal', 'busy', 'rejected'], {
        description: 'Reason signalled to the other side while it rings; default normal',
      }),
    ),
  }),
  reply: { status: 200, schema: Call },
  errors: ['NOT_FOUND'],
  prepare: (app, { params, body }, { tenant }) => hangupCall(app, tenant, params.call_id, body.reason ?? 'normal'),
  handle: async (_app, _tx, _input, _caller, row) => resourceOf(row),
})

const redirect = write({
  method: 'POST',
  path: '/v1/voice/:call_id/flow',
  operation: 'voice.redirect',
  summary: 'Replace the flow of a call',
  description: 'Stops the current flow of the call and starts the new one.',
  scope: 'voice:write',
  limit: 'voice',
  params: CallId,
  needs: aCall,
  body: RedirectRequest,
  reply: { status: 200, schema: Call },
  errors: ['NOT_FOUND', 'CALL_NOT_ACTIVE', 'INVALID_URL', 'INVALID_CALL_FLOW'],
  prepare: (app, { params, body }, caller) => redirectCall(app, caller, params.call_id, body),
  handle: async (_app, _tx, _input, _caller, row) => resourceOf(row),
})

const play = write({
  method: 'POST',
  path: '/v1/voice/:call_id/play',
  operation: 'voice.play',
  summary: 'Play audio or speech in a call',
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
  summary: 'Stop playback in a call',
  description: 'Stops playback for all listeners and clears the playback queue. Prompts of the flow are not stopped.',
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
  summary: 'List the events of a call',
  scope: 'voice:read',
  params: CallId,
  needs: aCall,
  query: Type.Object({
    ...wholeListQuery,
    order: Type.Optional(OneOf(['asc', 'desc'], { description: 'Sort order; default `asc`, oldest first' })),
  }),
  row: CallEvent,
  errors: ['NOT_FOUND'],
  handle: async (app, { params, query: { order, ...query } }, { tenant }) => {
    const { id } = await callOf(app, tenant, params.call_id)
    const rows = await app.db.query(listEvents, { ...tenant, id, after: 0, limit: maxTrace })
    return pageOfWhole(query, order === 'desc' ? rows.toReversed() : rows, ({ position }) => String(position))
  },
})

const voices = list({
  path: '/v1/voice/tts/voices',
  operation: 'voice.listVoices',
  summary: 'List text-to-speech voices',
  description:
    '`approximate` voices read a language by spelling rules, with the sounds of another. `available` is false until a speech engine is installed: the program espeak-ng, or the optional package. Piper voices in the operator’s folder (`PAMOJA_VOICES`) are listed last, by file name.',
  scope: 'voice:read',
  query: Type.Object(wholeListQuery),
  row: VoiceRecord,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }) => {
    const { speaker } = telephoneNetworkOf(app)
    const [found, files] = [await speaker.engine(), await speaker.fileVoices()]
    const engine = found?.name ?? app.config.PAMOJA_SPEECH_PROGRAM
    const built = Object.entries(regionalLocales).flatMap(([language, { voices, quality }]) => {
      const isSpokenByFile = files.some(({ isDefaultFor }) => isDefaultFor(language))
      return voices.map(({ name, gender }, style) => ({
        ...{ language, voice: name, gender, engine, quality, available: found !== null },
        is_default: style === 0 && !isSpokenByFile,
      }))
    })
    const others = files.map(({ language, name, isDefaultFor }) => ({
      ...({ language, voice: name, gender: 'unknown', engine: 'piper', quality: 'native', available: true } as const),
      is_default: Object.keys(locales).some(isDefaultFor),
    }))
    const rows = [...built, ...others].map((row) => ({
      ...row,
      sample_url: `/v1/voice/tts/voices/${row.voice}/sample?language=${row.language}`,
    }))
    return pageOfWhole(query, rows, ({ language, voice }) => `${language} ${voice}`)
  },
})

const recognition = list({
  path: '/v1/voice/recognition',
  operation: 'voice.listRecognition',
  summary: 'List speech recognition languages',
  description:
    'Languages of speech input, transcriptions and the audio of simulated phones. The first model for the language and region is used, then the first for the language; without one, the error is `language_unavailable`.',
  scope: 'voice:read',
  query: Type.Object(wholeListQuery),
  row: RecognitionRecord,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }) => {
    const rows = (await recognitionModelsOf(app).all()).flatMap((model) =>
      model.languages.map((language) => ({
        ...{ language, model: model.name, available: isRecognitionInstalled(model) },
        source: model.folder === null ? ('package' as const) : ('folder' as const),
      })),
    )
    return pageOfWhole(query, rows, ({ language, model }) => `${language} ${model}`)
  },
})

/** Read as numbers in every language. */
const sampleText = '1, 2, 3, 4, 5.'

const sample = download({
  path: '/v1/voice/tts/voices/:voice/sample',
  operation: 'voice.sampleVoice',
  summary: 'Get a sample of a text-to-speech voice',
  description: 'WAV file with the audio quality of a call. Free of charge.',
  scope: 'voice:read',
  params: Type.Object({ voice: Type.String({ description: 'Voice listed by `GET /v1/voice/tts/voices`' }) }),
  needs: 'nothing',
  query: Type.Object({
    language: Type.Optional(
      Type.String({ maxLength: 20, description: 'Language of the voice; default American English' }),
    ),
    text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Text to speak; default: the numbers from one to five',
      }),
    ),
  }),
  types: ['audio/wav'],
  errors: ['NOT_FOUND', 'PROVIDER_UNAVAILABLE'],
  async handle(app, { params: { voice }, query: { language = 'en-US', text = sampleText } }, { tenant }) {
    const { speaker } = telephoneNetworkOf(app)
    const isFile = (await speaker.fileVoices()).some(({ name }) => name === voice)
    const isBuilt = locales[language]?.voices.some(({ name }) => name === voice)
    if (!isFile && !isBuilt) throw new AppError('NOT_FOUND', `there is no voice ${voice} for ${language}`)
    // A Piper voice may be of a language that nothing else here speaks.
    const read = locales[language] ? language : 'en-US'
    const samples = await speaker.speak({ text, language: read, voice, account: tenant.account })
    return inMemory(writeWav([samples]), { type: 'audio/wav', name: `${voice}.wav` })
  },
})

export const callRoutes: readonly Route[] = [
  voices,
  sample,
  recognition,
  create,
  listOwn,
  get,
  hangup,
  redirect,
  play,
  stop,
  trace,
]
