// SPDX-License-Identifier: Apache-2.0
// Follower of calls: supplies flows, runs actions on queues and agents, and reacts to status changes.

import { uuidOf } from '../../../kernel/ids.ts'
import { microDecimals, parseAmount } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import type { NewEvent } from '../../../platform/events.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import {
  type CallFacts,
  type CallFollower,
  callEvents,
  type Flow,
  followCalls,
  type Refusal,
} from '../../voice/area.ts'
import { enqueue, flowTo, followerName, joinQueue, luggageOf, waiting, walkOn } from '../caller/destination.ts'
import { arrives, letGo } from '../caller/move.ts'
import { voicemailReceived } from '../caller/voicemail.ts'
import { absence } from '../checks.ts'
import { joinConversation } from '../conferences/conversation.ts'
import { addCost, type ContactRow, contactOfCall, findContact } from '../contacts.ts'
import { decide, settle } from '../routing/decide.ts'
import { readSurroundings, routedCall } from '../routing/surroundings.ts'
import { assignmentOf } from '../routing/target.ts'
import type { DestinationOf } from '../schema.ts'
import { occasionOf } from '../switchboard.ts'
import { legChanged, Order } from './leg-events.ts'
import { legLost } from './lost-legs.ts'

const orders = onePerApp(() => new Order())

type Target = Parameters<NonNullable<CallFollower['flowOf']>>[2]
type Handed = Parameters<NonNullable<CallFollower['took']>>[2]

const follower: CallFollower = {
  name: followerName,

  async flowOf(app, call, target): Promise<Flow | null> {
    const assignment = assignmentOf(target)
    if (assignment === null && target.type !== 'routing') return null
    if (await arrives(app, call)) return waiting
    const prompt = promptOf(target)
    if (prompt) return { actions: [prompt, { action: 'notify', payload: said, eventUrl: [nowhere] }], isOwn: true }
    const decision = await decideFor(app, call, assignment)
    return flowTo(app, call, decision)
  },

  async answers(app, tenant, { from, to }): Promise<boolean> {
    const { nowMs } = await occasionOf(app, tenant)
    const around = await readSurroundings(app.db, tenant, null, nowMs)
    const routed = await routedCall(app, tenant, { from, to, direction: 'inbound' }, nowMs)
    return decide(around, routed).destination !== null
  },

  async asked(app, call, body): Promise<Flow | null> {
    if (isSaid(body.payload)) return flowTo(app, call, await decideFor(app, call, null))
    return walkOn(app, call, heardIn(body))
  },

  took: (app, call, action) => took(app, call, action),

  async targetProblem(app, tenant, target): Promise<string | null | undefined> {
    if (target.type === 'routing') return null
    const destination = assignmentOf(target)
    return destination ? absence(app, tenant, destination) : undefined
  },

  letGo: (app, call) => letGo(app, call),

  recorded: (app, call, recording) => voicemailReceived(app, call, recording),

  changed: (app, change) => orders(app).add(change.room, () => legChanged(app, change)),
}

/** Payload with which a flow comes back when its first text was said, to an address that is never asked: the flow is ours. */
const said = { said: 'caller_prompt' } as const
const nowhere = 'https://callcenter.invalid/'

function isSaid(payload: unknown): boolean {
  return typeof payload === 'object' && payload !== null && 'said' in payload && payload.said === said.said
}

/** Text that is said before a call is routed. */
function promptOf({ caller_prompt: prompt }: Target): object | null {
  if (typeof prompt !== 'object' || prompt === null || !('text' in prompt) || !('language' in prompt)) return null
  return { action: 'talk', text: prompt.text, language: prompt.language }
}

async function decideFor(app: App, call: CallFacts, assignment: DestinationOf | null) {
  const { tenant, from, to, direction } = call
  const { nowMs } = await occasionOf(app, tenant)
  const around = await readSurroundings(app.db, tenant, assignment, nowMs)
  // An outbound call is routed by the number it shows.
  const ends = direction === 'inbound' ? { from, to } : { from: to, to: from }
  return decide(around, await routedCall(app, tenant, { ...ends, direction }, nowMs))
}

/** Digits or speech in the body of a flow request. */
function heardIn(body: Readonly<Record<string, unknown>>) {
  const digits = typeof body.dtmf === 'string' ? body.dtmf : ''
  const speech: string[] = []
  const said = body.speech
  if (typeof said === 'object' && said !== null && 'results' in said && Array.isArray(said.results))
    for (const result of said.results) if (typeof result?.text === 'string') speech.push(result.text)
  return { digits, speech }
}

/** Takes over actions of a customer's flow on queues and agents; the flow continues after them. */
async function took(app: App, call: CallFacts, action: Handed): Promise<boolean | Refusal> {
  if (action.action === 'conversation') return joinConversation(app, call, action)
  const destination = destinationIn(action)
  if (!destination) return false
  const { nowMs } = await occasionOf(app, call.tenant)
  const around = await readSurroundings(app.db, call.tenant, null, nowMs)
  const decided = settle(around, await routedCall(app, call.tenant, call, nowMs), destination)
  const data = action.action === 'enqueue' ? { ...call.customData, ...action.data } : call.customData
  const skills = action.action === 'enqueue' ? (action.skills ?? []) : []
  const priority = action.action === 'enqueue' ? (action.priority ?? null) : null
  const luggage = { ...luggageOf(call, decided), data, skills, priority, isHanded: true }
  const full = { code: 'QUEUE_FULL', message: `as many callers wait in ${destination.id} as it takes` }
  if (decided.destination?.type === 'queue')
    return (await joinQueue(app, call, decided.destination.id ?? '', luggage)) || full
  const isFull = decided.trace.some(({ kind, reason }) => kind === 'queue' && reason === 'full')
  if (decided.destination?.type === 'hangup' && isFull) return full
  if (decided.destination?.type !== 'agent') return false
  return (await enqueue(app, call, null, decided.destination.id ?? '', luggage)) !== null
}

function destinationIn(action: Handed): DestinationOf | null {
  if (action.action === 'enqueue') return { type: 'queue', id: action.queue_id }
  if (action.action !== 'connect') return null
  for (const endpoint of action.endpoint) {
    if (endpoint.type === 'queue') return { type: 'queue', id: endpoint.queue_id }
    if (endpoint.type === 'agent') return { type: 'agent', id: endpoint.agent_id }
  }
  return null
}

/** Calls that ended elsewhere, for instance because their node died, arrive as events; so does the cost. */
function heardOf(app: App, tenant: Tenant, { row, nowMs }: NewEvent): void {
  if (row.type !== callEvents.completed.name) return
  const call = uuidOf('call', row.resource_id)
  if (call === null) return
  const { cost, hangup_cause, hangup_by, conversation_uuid } = JSON.parse(row.body)
  const micros = typeof cost === 'number' ? parseAmount(cost, microDecimals) : 0n
  const none = {
    tag: null,
    kind: 'ended' as const,
    status: 'completed',
    cause: typeof hangup_cause === 'string' ? hangup_cause : null,
    by: null,
    digit: null,
    atMs: nowMs,
  }
  orders(app)
    .add(call, async () => {
      const contact = await maybe(app.db.query(contactOfCall, { ...tenant, call }))
      const paidFor = contact ?? (await contactWithin(app, tenant, String(conversation_uuid)))
      if (paidFor && typeof micros === 'bigint' && micros > 0n)
        await app.db.query(addCost, { ...tenant, id: paidFor.id, cost: micros })
      if (!contact && hangup_cause === 'network_error' && hangup_by === 'system') await legLost(app, tenant, call)
      if (!contact) return
      const isOwn = contact.room_id === contact.call_id
      if (contact.ended_at === null)
        await legChanged(app, {
          ...none,
          tenant,
          call,
          room: contact.room_id,
          tag: isOwn ? null : `customer ${contact.id}`,
        })
    })
    .catch((error) =>
      app.log.warn(
        { error, call: row.resource_id },
        'end of a call not stored: the next sweep of the call center ends it; check the database if this repeats',
      ),
    )
}

/** Contact of a leg: its conversation has the id of the customer's call, or of the contact of an outgoing call. */
async function contactWithin(app: App, tenant: Tenant, conversation: string): Promise<ContactRow | null> {
  const id = uuidOf('call', `call_${conversation.replace(/^CON-/, '')}`)
  if (id === null) return null
  return (
    (await maybe(app.db.query(contactOfCall, { ...tenant, call: id }))) ??
    (await maybe(app.db.query(findContact, { ...tenant, id })))
  )
}

/** Follows the calls of this node; returns the function that stops it. */
export function follow(app: App): () => void {
  followCalls(app, follower)
  return app.outbox.onCommitted((tenant, event) => heardOf(app, tenant, event))
}
