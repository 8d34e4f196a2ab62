// SPDX-License-Identifier: Apache-2.0
// Routes of agent calls: dial, hold, mute, transfer.
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { type Route, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { At, Nullable, OneOf, Phone } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { checkNumbers, liveCalls, newCall } from '../../voice/area.ts'
import { agentNamed, become } from '../agents/presence.ts'
import { type ContactRow, contactOfCall, insertContact, saveContact } from '../contacts.ts'
import { findQueue } from '../queues/store.ts'
import { AgentId, CustomData, Language, Url } from '../schema.ts'
import { holdSwitchboard } from '../switchboard.ts'
import { all } from './conference.ts'
import { agentOf } from './login.ts'
import { isReachable } from './reach.ts'
import { doAll, offer } from './speak.ts'
import { beginTransfer, decideTransfer, transferRecord, transferTarget } from './transfer.ts'
import { findTransfer } from './transfers.ts'

const CallId = Type.Object({ call_id: Type.String({ description: 'Id of the call, call_…' }) })
const seconds = (least: number, most: number, description: string) =>
  Type.Optional(
    Type.Integer({ minimum: least, maximum: most, rule: `must be ${least} to ${most} seconds`, description }),
  )

const noCall = () => new AppError('NOT_FOUND', 'there is no such call; ids of calls begin with call_')

/** Find a contact by the id of the customer's call or of the agent's. */
export async function contactFor(
  app: App,
  tenant: Tenant,
  id: string,
): Promise<{ contact: ContactRow | null; call: string }> {
  const call = uuidOf('call', id)
  if (call === null) throw noCall()
  const live = await liveCalls(app).find(tenant, call)
  const direct = await maybe(app.db.query(contactOfCall, { ...tenant, call }))
  const contact =
    direct ?? (live?.parent ? await maybe(app.db.query(contactOfCall, { ...tenant, call: live.parent })) : null)
  if (!contact && !live) throw noCall()
  return { contact, call }
}

/** Require an agent's token to act on the agent's own call. */
function requireOwnCall(caller: Caller, contact: ContactRow | null): void {
  const own = agentOf(caller)
  if (own !== null && contact?.agent_id !== own)
    throw new AppError('FORBIDDEN', 'this token is for calls of its agent only', {
      extra: { required_scope: 'callcenter:write' },
    })
}

const CallWish = Type.Object({
  from: Phone({ description: 'The number that the customer sees; one of yours' }),
  to: Phone({ description: 'The customer' }),
  agent_id: Type.Optional(
    AgentId('Who calls; is rung first. Without one the routing rules of `from` decide who speaks'),
  ),
  record: Type.Optional(Type.Boolean({ description: 'False unless told' })),
  caller_prompt: Type.Optional(
    Type.Object(
      {
        text: Type.String({
          minLength: 1,
          maxLength: 500,
          rule: 'must have 1 to 500 characters',
          sensitive: true,
          description: 'What is said',
        }),
        language: Type.Optional(Language),
      },
      { description: 'Said first when the customer answers, such as that the call is recorded' },
    ),
  ),
  custom_data: Type.Optional(CustomData),
  queue_id: Type.Optional(Type.String({ maxLength: 40, description: 'The queue that the call counts for' })),
  ring_timeout: seconds(5, 120, 'How long the customer may be rung; 45 unless told'),
  event_url: Type.Optional(Url('Told of every status of the call')),
})

const CallMade = Type.Object(
  {
    call_id: Type.String({ description: 'Id of the customer’s call, such as `call_…`' }),
    status: Type.Literal('initiated', { description: 'It is about to be placed' }),
    started_at: At({ description: 'When it was asked for' }),
  },
  { title: 'AgentCall' },
)

const call = write({
  method: 'POST',
  path: '/v1/voice/call',
  operation: 'callcenter.call',
  summary: 'Call a customer',
  description:
    'With `agent_id` the agent is rung first and then the customer. Without, the customer is rung, and the routing rules of `from` say who speaks.',
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
  examples: [{ name: 'The rules decide who speaks', body: { from: '+254700000000', to: '+254711000020' } }],
  async prepare(app, { body }, caller) {
    const { tenant } = caller
    const own = agentOf(caller)
    if (own !== null && body.agent_id !== own)
      throw new AppError('FORBIDDEN', `this token calls for the agent ${own} only`, {
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
        call: made.id,
        room: id,
        queue,
        agent: null,
        wanted: agent.agent_id,
        direction: 'outbound',
        from: body.from,
        to: body.to,
        state: 'offered',
        priority: 5,
        skills: '[]',
        data: JSON.stringify(custom_data),
        path: '[]',
        enteredAt: new Date(nowMs),
        callbackFor: null,
        attempts: 0,
        isHanded: false,
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
    agent_id: Nullable(Type.String({ description: 'The agent of the call; null without one' })),
    on_hold: Type.Boolean({ description: 'Whether the customer hears music' }),
    disposition: Nullable(Type.String({ description: 'The outcome in a word, such as `sold`; null if not noted' })),
    notes: Nullable(Type.String({ description: 'What the next agent should know; null if not noted' })),
    tags: Type.Array(Type.String(), { description: 'Tags that the call was given' }),
  },
  { title: 'CallHandling' },
)

const change = write({
  method: 'PATCH',
  path: '/v1/voice/call/:call_id',
  operation: 'callcenter.changeCall',
  summary: 'Hold, mute, pause the recording, press keys, or note what a call was about',
  scope: 'callcenter:agent',
  params: CallId,
  needs: 'nothing',
  body: Type.Object({
    hold: Type.Optional(Type.Boolean({ description: 'The customer hears music' })),
    mute: Type.Optional(Type.Boolean({ description: 'The agent is not heard' })),
    recording: Type.Optional(
      OneOf(['pause', 'resume'], {
        description: 'Leaves out of the recording what is said until `resume`, such as a card number',
      }),
    ),
    send_dtmf: Type.Optional(
      Type.String({
        pattern: '^[0-9A-D*#]{1,32}$',
        rule: 'must be 1 to 32 of 0-9, A-D, * and #',
        description: 'Keys that are pressed for the customer’s side to hear',
      }),
    ),
    wrap_up: Type.Optional(
      Type.Object(
        {
          disposition: Type.Optional(
            Type.String({
              maxLength: 64,
              rule: 'must have at most 64 characters',
              description: 'The outcome in a word, such as `sold`',
            }),
          ),
          notes: Type.Optional(
            Type.String({
              maxLength: 4_000,
              rule: 'must have at most 4000 characters',
              sensitive: true,
              description: 'What the next agent should know',
            }),
          ),
          tags: Type.Optional(
            Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
              maxItems: 20,
              description: 'A list replaces the one before',
            }),
          ),
        },
        { description: 'What the call was about; can be sent until long after it' },
      ),
    ),
  }),
  reply: { status: 200, schema: Changed },
  errors: ['NOT_FOUND', 'CALL_NOT_ACTIVE'],
  async prepare(app, { params, body }, caller) {
    const { tenant } = caller
    const { contact, call: named } = await contactFor(app, tenant, params.call_id)
    requireOwnCall(caller, contact)
    const { hold, mute, recording, send_dtmf } = body
    const live = liveCalls(app)
    const customer = contact?.call_id ?? named
    const isLive = contact ? contact.state === 'connected' : (await live.find(tenant, named))?.status === 'answered'
    const isAsked = [hold, mute, recording, send_dtmf].some((value) => value !== undefined)
    if (isAsked && !isLive) throw new AppError('CALL_NOT_ACTIVE', 'nobody speaks in this call')
    const done: boolean[] = []
    if (hold !== undefined) done.push(await live.hold(tenant, customer, hold ? { music: 'default' } : null))
    if (mute !== undefined) done.push(await live.mute(tenant, contact?.leg_id ?? named, mute))
    if (recording !== undefined)
      done.push(await live.pauseRecording(tenant, contact?.room_id ?? named, recording === 'pause'))
    if (send_dtmf !== undefined) done.push(await live.press(tenant, customer, send_dtmf))
    if (done.includes(false))
      throw new AppError(
        'CALL_NOT_ACTIVE',
        recording === undefined ? 'the call is over' : 'the call is over, or is not being recorded',
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
    const now = (await maybe(tx.query(contactOfCall, { ...tenant, call: contact.call_id }))) ?? contact
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

/** Count the hold time of a customer. */
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

const Transfer = Type.Object(
  {
    transfer_id: Type.String({ description: 'Id of the transfer, such as `trf_…`' }),
    call_id: Type.String({ description: 'The call that goes on elsewhere, `call_…`' }),
    transfer_type: OneOf(['warm', 'cold'], { description: '`warm` speaks with the other first, `cold` goes at once' }),
    destination: Type.String({ description: 'An agent, `que_…`, E.164 or a SIP URI, as it was given' }),
    status: OneOf(['ringing', 'consulting', 'completed', 'failed', 'cancelled'], {
      description: '`consulting` while the agent speaks with the other; the last three are final',
    }),
    consult_call_id: Nullable(Type.String({ description: 'The leg of whom the agent speaks to first; warm only' })),
    started_at: At({ description: 'When it was asked for' }),
  },
  { title: 'CallTransfer' },
)

const transfer = write({
  method: 'POST',
  path: '/v1/voice/transfer',
  operation: 'callcenter.transfer',
  summary: 'Hand a call to somebody else',
  description:
    'Cold: the agent leaves as soon as the other rings. Warm: the customer hears music while the agents speak; then complete, merge or cancel it.',
  scope: 'callcenter:agent',
  body: Type.Object({
    call_id: Type.String({ maxLength: 40, description: 'The call that goes on elsewhere, `call_…`' }),
    transfer_type: OneOf(['warm', 'cold'], { description: '`warm` speaks with the other first, `cold` goes at once' }),
    destination: Type.String({
      minLength: 1,
      maxLength: 256,
      rule: 'must be an agent, a queue, a number or a SIP address',
      description: 'An agent; also que_…, E.164 or a SIP URI',
    }),
    message: Type.Optional(
      Type.String({ minLength: 1, maxLength: 500, description: 'Said to the other alone', sensitive: true }),
    ),
    timeout: seconds(5, 120, 'How long the other is rung; 30 unless told'),
    hold_music_url: Type.Optional(Url('What the customer hears')),
  }),
  reply: { status: 200, schema: Transfer },
  errors: ['NOT_FOUND', 'CALL_NOT_ACTIVE', 'AGENT_NOT_AVAILABLE', 'QUEUE_FULL', 'CONFLICT', 'INVALID_URL'],
  async prepare(app, { body }, caller) {
    const { tenant } = caller
    if (body.hold_music_url !== undefined)
      await app.outbound.checkUrl(body.hold_music_url, 'callback', tenant.environment, 'hold_music_url')
    const { contact } = await contactFor(app, tenant, body.call_id)
    requireOwnCall(caller, contact)
    if (contact?.state !== 'connected') throw new AppError('CALL_NOT_ACTIVE', 'no agent speaks in this call')
    const target = await transferTarget(app, tenant, body.destination)
    if (target.type === 'queue' && body.transfer_type === 'warm')
      throw invalid('destination', 'must be somebody who answers: a queue takes cold transfers only')
    if (target.type === 'line' && 'phone' in target.to)
      await checkNumbers(app, tenant, {
        from: contact.direction === 'inbound' ? contact.to_number : contact.from_number,
        to: target.to.phone,
      })
    return { call: contact.call_id, target }
  },
  async handle(app, tx, { body }, caller, { call: id, target }) {
    const { tenant } = caller
    await holdSwitchboard(tx, tenant)
    const contact = await maybe(tx.query(contactOfCall, { ...tenant, call: id }))
    if (!contact) throw noCall()
    const wish = {
      kind: body.transfer_type,
      destination: body.destination,
      message: body.message ?? null,
      seconds: body.timeout ?? 30,
      music: body.hold_music_url ?? null,
    }
    const { transfer: begun, after } = await beginTransfer(app, tx, { ...caller }, contact, target, wish)
    tx.afterCommit(() => void all(app, after))
    return transferRecord(begun)
  },
})

const TransferId = Type.Object({ transfer_id: Type.String({ description: 'Id of the transfer, trf_…' }) })

const decide = write({
  method: 'PATCH',
  path: '/v1/voice/transfer/:transfer_id',
  operation: 'callcenter.decideTransfer',
  summary: 'Complete, merge or cancel a transfer',
  scope: 'callcenter:agent',
  params: TransferId,
  needs: 'nothing',
  body: Type.Object({ action: OneOf(['complete', 'cancel', 'merge'], { description: 'merge: all three speak' }) }),
  reply: { status: 200, schema: Transfer },
  errors: ['NOT_FOUND', 'CONFLICT'],
  async handle(app, tx, { params, body }, caller) {
    const { tenant } = caller
    const id = uuidOf('transfer', params.transfer_id)
    await holdSwitchboard(tx, tenant)
    const row = id === null ? null : await maybe(tx.query(findTransfer, { ...tenant, id }))
    const contact = row && (await maybe(tx.query(contactOfCall, { ...tenant, call: row.call_id })))
    if (!row || !contact) throw new AppError('NOT_FOUND', 'there is no such transfer; ids of transfers begin with trf_')
    requireOwnCall(caller, contact)
    const after = await decideTransfer(app, tx, { ...caller }, contact, row, body.action)
    tx.afterCommit(() => void all(app, after))
    return transferRecord((await maybe(tx.query(findTransfer, { ...tenant, id: row.id }))) ?? row)
  },
})

export const callRoutes: readonly Route[] = [call, change, transfer, decide]
