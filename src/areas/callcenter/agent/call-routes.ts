// SPDX-License-Identifier: Apache-2.0
// Routes of agent calls: dial, hold, mute, wrap up.
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { type Route, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { At, Nullable, OneOf, Phone } from '../../../platform/schema/fields.ts'
import { CustomData, checkNumbers, liveCalls, newCall } from '../../voice/area.ts'
import { agentNamed, become } from '../agents/presence.ts'
import { all } from '../conferences/conference.ts'
import { isReachable } from '../contact/ring-target.ts'
import { type ContactRow, findContact, insertContact, saveContact } from '../contacts.ts'
import { findQueue } from '../queues/store.ts'
import { AgentId, Language, RingSeconds, Url } from '../schema.ts'
import { holdSwitchboard } from '../switchboard.ts'
import { doAll, offer } from './call-commands.ts'
import { agentOf } from './login.ts'
import { contactFor, requireOwnCall } from './named-call.ts'

const CallId = Type.Object({ call_id: Type.String({ description: 'Id of the call, call_…' }) })
const CallWish = Type.Object({
  from: Phone({ description: 'Caller number shown to the customer; one of yours' }),
  to: Phone({ description: 'Number of the customer' }),
  agent_id: Type.Optional(
    AgentId('Id of the calling agent, who is rung first; default: selected by the routing rules of `from`'),
  ),
  record: Type.Optional(Type.Boolean({ description: 'True records the call; default false' })),
  caller_prompt: Type.Optional(
    Type.Object(
      {
        text: Type.String({
          minLength: 1,
          maxLength: 500,
          rule: 'must have 1 to 500 characters',
          sensitive: true,
          description: 'Text to speak',
        }),
        language: Type.Optional(Language),
      },
      { description: 'Prompt spoken first when the customer answers, such as a recording notice' },
    ),
  ),
  custom_data: Type.Optional(CustomData),
  queue_id: Type.Optional(
    Type.String({ maxLength: 40, description: 'Id of the queue whose metrics include the call' }),
  ),
  ring_timeout: Type.Optional(RingSeconds('Maximum ringing time of the customer in seconds; default 45')),
  event_url: Type.Optional(Url('URL that receives every status of the call')),
})

const CallMade = Type.Object(
  {
    call_id: Type.String({ description: 'Id of the customer’s call, such as `call_…`' }),
    status: Type.Literal('initiated', { description: 'Always `initiated`: about to be placed' }),
    started_at: At({ description: 'Time of the request' }),
  },
  { title: 'AgentCall' },
)

const call = write({
  method: 'POST',
  path: '/v1/voice/call',
  operation: 'callcenter.call',
  summary: 'Place a call from an agent',
  description:
    'With `agent_id` the agent is rung first and then the customer. Without it the customer is rung, and the routing rules of `from` select the agent.',
  scope: 'callcenter:agent',
  limit: 'voice',
  body: CallWish,
  reply: { status: 201, schema: CallMade, location: ({ call_id }) => `/v1/voice/call/${call_id}` },
  errors: [
    'INVALID_PHONE',
    'INVALID_URL',
    'NUMBER_NOT_OWNED',
    'DESTINATION_NOT_ALLOWED',
    'INSUFFICIENT_BALANCE',
    'CONCURRENCY_LIMIT',
    'PROVIDER_UNAVAILABLE',
    'AGENT_NOT_AVAILABLE',
  ],
  examples: [{ name: 'Agent chosen by the rules', body: { from: '+254700000000', to: '+254711000020' } }],
  async prepare(app, { body }, caller) {
    const { tenant } = caller
    const own = agentOf(caller)
    if (own !== null && body.agent_id !== own)
      throw new AppError('FORBIDDEN', `this token is limited to the agent ${own}`, {
        extra: { required_scope: 'callcenter:write' },
      })
    if (body.event_url !== undefined)
      await app.outbound.checkUrl(body.event_url, 'callback', tenant.environment, 'event_url')
    const queue = body.queue_id === undefined ? null : uuidOf('queue', body.queue_id)
    if (
      body.queue_id !== undefined &&
      (queue === null || !(await maybe(app.db.query(findQueue, { ...tenant, id: queue }))))
    )
      throw invalid('queue_id', 'must be the id of a queue, que_…')
    await checkNumbers(app, tenant, body)
    return queue
  },
  handle: (app, tx, { body }, caller, queue) => beginCall(app, tx, body, caller, queue),
})

async function beginCall(app: App, tx: Tx, body: Static<typeof CallWish>, caller: Caller, queue: string | null) {
  const { tenant, receivedMs, nowMs } = caller
  await holdSwitchboard(tx, tenant)
  const { agent_id, record = false, custom_data = {}, event_url = null, ring_timeout } = body
  const agent = agent_id === undefined ? null : await agentNamed(tx, { ...caller }, agent_id)
  if (agent_id !== undefined && (agent?.status !== 'available' || !isReachable(agent)))
    throw new AppError(
      'AGENT_NOT_AVAILABLE',
      agent ? `${agent_id} is ${agent.status}, or cannot be reached` : `there is no agent ${agent_id}`,
    )
  const { text, language = 'en-US' } = body.caller_prompt ?? {}
  const caller_prompt = text === undefined ? undefined : { text, language }
  const plan = {
    ...(ring_timeout === undefined ? {} : { ring_timeout }),
    ...(caller_prompt ? { caller_prompt } : {}),
    ...(agent ? {} : { target: { type: 'routing', caller_prompt } }),
  }
  const made = await newCall(
    app,
    tx,
    { ...caller },
    {
      from: body.from,
      to: body.to,
      plan,
      customData: custom_data,
      eventUrl: event_url,
      record,
      isPlaced: agent === null,
    },
  )
  if (agent) {
    const id = newUuid(receivedMs)
    const contact = await one(
      tx.query(insertContact, {
        ...tenant,
        id,
        call_id: made.id,
        room_id: id,
        queue_id: queue,
        agent_id: null,
        wanted_agent: agent.agent_id,
        direction: 'outbound',
        from_number: body.from,
        to_number: body.to,
        state: 'offered',
        priority: 5,
        skills: '[]',
        data: JSON.stringify(custom_data),
        ivr_path: '[]',
        entered_at: new Date(nowMs),
        callback_for: null,
        attempts: 0,
        is_handed: false,
      }),
    )
    const reserved = await become(app, tx, { ...caller }, agent, 'ringing', {
      call_id: made.id,
      contact_id: id,
      leg_id: null,
    })
    tx.afterCommit(() => void doAll(app, [offer(tenant, contact, reserved, 30)]))
  }
  return { call_id: idOf('call', made.id), status: 'initiated' as const, started_at: made.started_at }
}

const Changed = Type.Object(
  {
    call_id: Type.String({ description: 'The customer’s call, `call_…`' }),
    agent_id: Nullable(Type.String({ description: 'Id of the agent of the call; null without one' })),
    on_hold: Type.Boolean({ description: 'True if the customer is on hold' }),
    disposition: Nullable(Type.String({ description: 'Outcome in a word, such as `sold`; null if none' })),
    notes: Nullable(Type.String({ description: 'Notes for the next agent; null if none' })),
    tags: Type.Array(Type.String(), { description: 'Tags of the call' }),
  },
  { title: 'CallHandling' },
)

const change = write({
  method: 'PATCH',
  path: '/v1/voice/call/:call_id',
  operation: 'callcenter.changeCall',
  summary: 'Update a call: hold, mute, recording, keys or notes',
  scope: 'callcenter:agent',
  params: CallId,
  needs: 'nothing',
  body: Type.Object({
    hold: Type.Optional(Type.Boolean({ description: 'True plays music to the customer' })),
    mute: Type.Optional(Type.Boolean({ description: 'True mutes the agent' })),
    recording: Type.Optional(
      OneOf(['pause', 'resume'], {
        description: '`pause` excludes speech from the recording until `resume`, such as a card number',
      }),
    ),
    send_dtmf: Type.Optional(
      Type.String({
        pattern: '^[0-9A-D*#]{1,32}$',
        rule: 'must be 1 to 32 of 0-9, A-D, * and #',
        description: 'Keys sent to the customer’s side',
      }),
    ),
    wrap_up: Type.Optional(
      Type.Object(
        {
          disposition: Type.Optional(
            Type.String({
              maxLength: 64,
              rule: 'must have at most 64 characters',
              description: 'Outcome in a word, such as `sold`',
            }),
          ),
          notes: Type.Optional(
            Type.String({
              maxLength: 4_000,
              rule: 'must have at most 4000 characters',
              sensitive: true,
              description: 'Notes for the next agent',
            }),
          ),
          tags: Type.Optional(
            Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
              maxItems: 20,
              description: 'Tags; replaces the previous list',
            }),
          ),
        },
        { description: 'Outcome of the call; can also be sent after its end' },
      ),
    ),
  }),
  reply: { status: 200, schema: Changed },
  errors: ['NOT_FOUND', 'CALL_NOT_ACTIVE'],
  async prepare(app, { params, body }, caller) {
    const { tenant } = caller
    const { contact, call: named } = await contactFor(app, caller, params.call_id)
    requireOwnCall(caller, contact)
    const { hold, mute, recording, send_dtmf } = body
    const live = liveCalls(app)
    const customer = contact?.call_id ?? named
    const isLive = contact ? contact.state === 'connected' : (await live.find(tenant, named))?.status === 'answered'
    const isAsked = [hold, mute, recording, send_dtmf].some((value) => value !== undefined)
    if (isAsked && !isLive) throw new AppError('CALL_NOT_ACTIVE', 'the call is not connected to an agent')
    const done: boolean[] = []
    if (hold !== undefined) done.push(await live.hold(tenant, customer, hold ? { music: 'default' } : null))
    if (mute !== undefined) done.push(await live.mute(tenant, contact?.leg_id ?? named, mute))
    if (recording !== undefined)
      done.push(await live.pauseRecording(tenant, contact?.room_id ?? named, recording === 'pause'))
    if (send_dtmf !== undefined) done.push(await live.press(tenant, customer, send_dtmf))
    if (done.includes(false))
      throw new AppError(
        'CALL_NOT_ACTIVE',
        recording === undefined ? 'the call has ended' : 'the call is over, or is not being recorded',
      )
    return { contact, customer }
  },
  async handle(app, tx, { body }, { tenant, nowMs }, { contact, customer }) {
    if (!contact)
      return {
        call_id: idOf('call', customer),
        agent_id: null,
        on_hold: body.hold ?? false,
        disposition: null,
        notes: null,
        tags: [],
      }
    await holdSwitchboard(tx, tenant)
    const now = (await maybe(tx.query(findContact, { ...tenant, id: contact.id }))) ?? contact
    const saved = await saveContact(tx, tenant, now, { ...held(now, body.hold, nowMs), ...noted(body.wrap_up) })
    const { disposition } = saved
    // The end of the call tells it, unless that is over already.
    if (body.wrap_up?.disposition !== undefined)
      tx.afterCommit(() => void all(app, [() => liveCalls(app).mark(tenant, saved.call_id, { disposition })]))
    return {
      call_id: idOf('call', saved.call_id),
      agent_id: saved.agent_id,
      on_hold: saved.held_since !== null,
      disposition,
      notes: saved.notes,
      tags: saved.tags,
    }
  },
})

/** Counts the hold time of a customer. */
function held(contact: ContactRow, hold: boolean | undefined, nowMs: number): Partial<ContactRow> {
  if (hold === true) return contact.held_since === null ? { held_since: new Date(nowMs) } : {}
  if (hold !== false || contact.held_since === null) return {}
  return { held_since: null, hold_ms: contact.hold_ms + BigInt(Math.max(0, nowMs - contact.held_since.getTime())) }
}

function noted(wrapUp: { disposition?: string; notes?: string; tags?: string[] } | undefined): Partial<ContactRow> {
  const { disposition, notes, tags } = wrapUp ?? {}
  return {
    ...(disposition === undefined ? {} : { disposition }),
    ...(notes === undefined ? {} : { notes }),
    ...(tags === undefined ? {} : { tags }),
  }
}

export const callRoutes: readonly Route[] = [call, change]
