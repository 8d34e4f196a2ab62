// SPDX-License-Identifier: Apache-2.0
// Sandbox routes: simulated phones call, press keys, speak, hang up, and return what they heard, all over real SIP and
// RTP.

import { Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { newUuid } from '../../../kernel/ids.ts'
import { numberInQuery } from '../../../kernel/phone.ts'
import { inMemory } from '../../../platform/api/download.ts'
import { download, list, type Route, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { atMost } from '../../../platform/concurrency/at-most.ts'
import { listQuery, Phone } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { writeWav } from '../../../protocols/audio/wav.ts'
import { expectedCalls } from '../caller/incoming-call.ts'
import { resourceOf } from '../calls/call.ts'
import { callOf, commandPhone } from '../customer/command-call.ts'
import { Call } from '../schema.ts'
import { UtteranceCutter, understand } from '../speech/recogniser.ts'
import { recognitionModelsOf } from '../speech/recognition-models.ts'
import { callsOfPhone } from '../store.ts'
import { simulatedCarrier } from '../trunks/sandbox-carrier.ts'
import { telephoneNetworkOf } from '../trunks/telephone-network.ts'

const arrivalMs = 15_000
/** Example call for the documentation. */
const aCall = { operation: 'voice.createCall', id: 'call_id' }
const CallId = Type.Object({ call_id: Type.String({ description: 'Id of the call, call_…' }) })

const inbound = write({
  method: 'POST',
  path: '/v1/sandbox/voice/inbound',
  operation: 'sandbox.voiceInbound',
  summary: 'Simulate an inbound call',
  description: 'The number must have an application: see POST /v1/voice/numbers/{number}/assign.',
  scope: 'sandbox:write',
  simulated: false,
  body: Type.Object({ from: Phone({ description: 'Calling party' }), to: Phone({ description: 'Your number' }) }),
  reply: { status: 201, schema: Call, location: ({ call_id }) => `/v1/voice/${call_id}` },
  errors: ['INVALID_PHONE', 'NOT_FOUND', 'PROVIDER_UNAVAILABLE'],
  prepare: (app, { body }, { tenant }) => bring(app, tenant, body.from, body.to),
  handle: async (app, _tx, _input, { tenant }, id) => resourceOf(await callOf(app, tenant, id)),
})

/** Makes a simulated phone call a number; returns the id of the incoming call. */
async function bring(app: App, tenant: Tenant, from: string, to: string): Promise<string> {
  const carrier = simulatedCarrier.of(app)
  const network = telephoneNetworkOf(app)
  if (!carrier || !network.isOpen)
    throw new AppError('PROVIDER_UNAVAILABLE', 'this node runs no sandbox for calls', { retryAfterSeconds: 1 })
  const { refusal } = network.media
  if (refusal !== null)
    throw new AppError('PROVIDER_UNAVAILABLE', `no capacity for the call: ${refusal}`, {
      retryAfterSeconds: 5,
    })
  const token = newUuid(app.clock.nowMs())
  const came = new Promise<string | null>((done) => expectedCalls(app).set(token, { tenant, came: done }))
  carrier.call(from, to, network.address, token)
  const id = await atMost(arrivalMs, came, 'late')
  expectedCalls(app).delete(token)
  if (id === 'late')
    throw new AppError('PROVIDER_UNAVAILABLE', 'the call did not arrive in time', { retryAfterSeconds: 5 })
  if (id === null)
    throw new AppError('NOT_FOUND', `no application answers calls to ${to}: assign one to the number first`)
  carrier.rename(token, id)
  return id
}

const Done = Type.Object(
  {
    call_id: Type.String({ description: 'Id of the call, such as `call_…`' }),
    done: Type.Boolean({ description: 'Always true' }),
  },
  { title: 'SandboxPhone' },
)

const input = write({
  method: 'POST',
  path: '/v1/sandbox/voice/:call_id/input',
  operation: 'sandbox.voiceInput',
  summary: 'Press keys or speak on the simulated phone',
  description: 'Speech is recognised exactly as written while the flow accepts speech.',
  scope: 'sandbox:write',
  simulated: false,
  params: CallId,
  needs: aCall,
  body: Type.Object({
    dtmf: Type.Optional(
      Type.String({
        pattern: '^[0-9A-D*#]{1,32}$',
        rule: 'must be 1 to 32 of 0-9, A-D, * and #',
        description: 'Keys to press',
      }),
    ),
    speech: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        rule: 'must have 1 to 500 characters',
        description: 'Text to speak on the simulated phone',
      }),
    ),
  }),
  reply: { status: 200, schema: Done },
  errors: ['NOT_FOUND', 'CALL_NOT_ACTIVE'],
  async prepare(app, { params, body }, { tenant }) {
    await callOf(app, tenant, params.call_id)
    if ((body.dtmf === undefined) === (body.speech === undefined)) throw invalid('dtmf', 'give either dtmf or speech')
    const command = body.dtmf === undefined ? { do: 'say', text: body.speech } : { do: 'press', digits: body.dtmf }
    if (!(await commandPhone(app, tenant, params.call_id, command)))
      throw new AppError('CALL_NOT_ACTIVE', 'the call has no simulated phone in the required state')
  },
  handle: async (_app, _tx, { params }) => ({ call_id: params.call_id, done: true }),
})

/** Makes the phone of a call do one thing, or throw. */
function gesture(
  what: { path: string; operation: string; summary: string; description?: string },
  command: 'hang_up_phone' | 'answer_phone',
  problem: string,
) {
  return write({
    method: 'POST',
    ...what,
    scope: 'sandbox:write',
    simulated: false,
    params: CallId,
    needs: aCall,
    reply: { status: 200, schema: Done },
    errors: ['NOT_FOUND', 'CALL_NOT_ACTIVE'],
    async prepare(app, { params }, { tenant }) {
      const isDone =
        (await commandPhone(app, tenant, params.call_id, { do: command })) ||
        // A leg of somebody else's call, such as the customer whom an agent calls, has no session of its own.
        simulatedCarrier.of(app)?.[command === 'answer_phone' ? 'answer' : 'hangup'](params.call_id)
      if (!isDone) throw new AppError('CALL_NOT_ACTIVE', problem)
    },
    handle: async (_app, _tx, { params }) => ({ call_id: params.call_id, done: true }),
  })
}

const hangup = gesture(
  {
    path: '/v1/sandbox/voice/:call_id/hangup',
    operation: 'sandbox.voiceHangup',
    summary: 'Hang up on the simulated phone',
  },
  'hang_up_phone',
  'the call has no phone that could hang up',
)

const answer = gesture(
  {
    path: '/v1/sandbox/voice/:call_id/answer',
    operation: 'sandbox.voiceAnswer',
    summary: 'Answer a call on the simulated phone',
    description: 'Simulated phones whose number ends with 000004 ring until this request; others answer by themselves.',
  },
  'answer_phone',
  'the call has no phone that rings',
)

const calls = list({
  path: '/v1/sandbox/voice/calls',
  operation: 'sandbox.voiceCalls',
  summary: 'List the calls of a simulated phone',
  scope: 'sandbox:read',
  simulated: false,
  query: Type.Object({
    ...listQuery,
    phone: Type.String({
      pattern: '^[ +][1-9]\\d{6,14}$',
      rule: 'must be an E.164 number such as +254711000001',
      description: 'Number of the handset',
    }),
  }),
  row: Call,
  examples: [{ name: 'Calls to Ada’s phone', query: { phone: '+254711000001' } }],
  handle: async ({ db }, { query }, { tenant }) => {
    const window = windowOf(query)
    const phone = numberInQuery(query.phone)
    return pageOf(window, await db.query(callsOfPhone, { ...tenant, ...window, phone }), resourceOf)
  },
})

const heard = download({
  path: '/v1/sandbox/voice/:call_id/heard',
  operation: 'sandbox.voiceHeard',
  summary: 'Download the audio received by the simulated phone',
  scope: 'sandbox:read',
  simulated: false,
  params: CallId,
  needs: aCall,
  types: ['audio/wav'],
  errors: ['NOT_FOUND'],
  async handle(app, { params }, { tenant }) {
    const { samples } = await soundOf(app, tenant, params.call_id)
    return inMemory(writeWav([samples]), { type: 'audio/wav', name: 'heard.wav' })
  },
})

/** Audio and digits the phone of a call heard. */
async function soundOf(app: App, tenant: Tenant, id: string): Promise<{ samples: Int16Array; digits: string }> {
  await callOf(app, tenant, id)
  const sound = simulatedCarrier.of(app)?.heard(id)
  if (!sound) throw new AppError('NOT_FOUND', 'the call no longer has a simulated phone')
  return sound
}

const Heard = Type.Object(
  {
    call_id: Type.String({ description: 'Id of the call, such as `call_…`' }),
    language: Type.String({ description: 'Recognised language' }),
    model: Type.String({ description: 'Recognition model that was used' }),
    text: Type.String({ description: 'Full text' }),
    digits: Type.String({ description: 'Keys that were pressed on the phone' }),
    segments: Type.Array(
      Type.Object({
        start: Type.Number({ description: 'Start in seconds, from the beginning of the stored audio' }),
        end: Type.Number({ description: 'Start in seconds, from the beginning of the stored audio' }),
        text: Type.String({ description: 'Recognised text' }),
        confidence: Type.Number({ description: 'Confidence, 0 to 1' }),
      }),
      { description: 'Full text in segments' },
    ),
  },
  { title: 'HeardText' },
)

const heardText = read({
  method: 'GET',
  path: '/v1/sandbox/voice/:call_id/heard/text',
  operation: 'sandbox.voiceHeardText',
  summary: 'Transcribe the audio received by the simulated phone',
  description: 'Supports the languages listed by `GET /v1/voice/recognition`; others are refused.',
  scope: 'sandbox:read',
  simulated: false,
  params: CallId,
  query: Type.Object({
    language: Type.Optional(Type.String({ minLength: 2, maxLength: 10, description: 'Language; default en-US' })),
  }),
  needs: aCall,
  reply: { status: 200, schema: Heard },
  errors: ['NOT_FOUND', 'PROVIDER_UNAVAILABLE'],
  async handle(app, { params, query }, { tenant }) {
    const { language = 'en-US' } = query
    const { samples, digits } = await soundOf(app, tenant, params.call_id)
    const model = await recognitionModelsOf(app).modelFor(language)
    if (!model) throw new AppError('INVALID_REQUEST', `language: no model here understands ${language}`)
    const segments = []
    const cutter = new UtteranceCutter()
    for (const { start, end, samples: said } of [...cutter.take(samples), ...cutter.end()]) {
      const { results, fault, message } = await understand(app, said, { language })
      if (fault !== null) throw new AppError('PROVIDER_UNAVAILABLE', message ?? fault, { retryAfterSeconds: 5 })
      if (results[0]) segments.push({ start, end, ...results[0] })
    }
    const text = segments.map((segment) => segment.text).join(' ')
    return { call_id: params.call_id, language, model: model.name, text, digits, segments }
  },
})

export const sandboxRoutes: readonly Route[] = [inbound, calls, answer, input, hangup, heard, heardText]
