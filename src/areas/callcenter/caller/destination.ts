// SPDX-License-Identifier: Apache-2.0
// Carries out a call's destination: joins a queue, starts a menu, or runs a list of actions.
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { withheldNumber } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type Flow, liveCalls } from '../../voice/area.ts'
import { tellQueued } from '../contact/contact-events.ts'
import {
  type ContactRow,
  contactOfCall,
  insertContact,
  lostPlaceOf,
  noteContinued,
  type PathStep,
  type Place,
} from '../contacts.ts'
import { compileDestination, compileMenu, compileQuestion } from '../ivr/compile.ts'
import type { IvrDocument } from '../ivr/ivr.ts'
import { agentsFor } from '../ivr/people.ts'
import { findIvr, findRun, keepRun } from '../ivr/store.ts'
import { enter, type Heard, openVariables, type WalkState, walk } from '../ivr/walk.ts'
import { liveOf } from '../queues/live.ts'
import { findQueue, type QueueRow } from '../queues/store.ts'
import { type Decision, settle } from '../routing/decide.ts'
import { readScene, readSurroundings, routedCall } from '../routing/surroundings.ts'
import type { DestinationOf, RequiredSkillOf } from '../schema.ts'
import { atSwitchboard, occasionOf } from '../switchboard.ts'
import { tickLater } from '../tick.ts'

/** Follower name in the voice area. */
export const followerName = 'callcenter'

/** Maximum wait in seconds for any destination. */
const longestWaitSeconds = 7_200

/** Time during which a caller whose call was lost may call again and regain the position in the queue. */
const placeKeptMs = 10 * 60_000

/** Call to be routed. */
interface GoingCall {
  readonly tenant: Tenant
  readonly call: string
  readonly direction: 'inbound' | 'outbound'
  readonly from: string
  readonly to: string
  readonly customData: Readonly<Record<string, unknown>>
}

/** Data a call carries along. */
interface Luggage {
  priority: number | null
  skills: readonly RequiredSkillOf[]
  data: Readonly<Record<string, unknown>>
  path: readonly PathStep[]
  /** Whether the call's own flow continues afterwards. */
  isHanded: boolean
  /** Earlier wait in the queue, which the caller goes on with. */
  place?: Place
}

/** Flow of a caller who waits. */
export const waiting: Flow = { actions: [{ action: 'wait', timeout: longestWaitSeconds }], isOwn: true }
export const goodbye: Flow = { actions: [{ action: 'hangup' }], isOwn: true }

export function luggageOf(
  call: GoingCall,
  decision: Pick<Decision, 'priority' | 'skills' | 'variables'>,
  path: readonly PathStep[] = [],
): Luggage {
  const data = { ...call.customData, ...decision.variables }
  return { priority: decision.priority, skills: decision.skills, data, path, isHanded: false }
}

/** Flow for a destination; null refuses the call. */
export async function flowTo(
  app: App,
  call: GoingCall,
  decision: Pick<Decision, 'destination' | 'priority' | 'skills' | 'variables'>,
  path: readonly PathStep[] = [],
): Promise<Flow | null> {
  const { destination } = decision
  if (!destination) return null
  const luggage = luggageOf(call, decision, path)
  switch (destination.type) {
    case 'queue':
      return (await joinQueue(app, call, destination.id ?? '', luggage)) ? waiting : goodbye
    case 'agent':
      await enqueue(app, call, null, destination.id ?? '', luggage)
      return waiting
    case 'ivr':
      return beginIvr(app, call, destination.id ?? '', decision.variables)
    default: {
      const actions = compileDestination(destination, 'en-US', { variables: luggage.data, path })
      return actions && { actions, isOwn: destination.type !== 'application' }
    }
  }
}

// --- queues ---

/** Joins a queue; false when it is full or deleted. */
export async function joinQueue(app: App, call: GoingCall, id: string, luggage: Luggage): Promise<boolean> {
  const uuid = uuidOf('queue', id)
  const queue = uuid === null ? null : await maybe(app.db.query(findQueue, { ...call.tenant, id: uuid }))
  if (!queue) return false
  const contact = await enqueue(app, call, queue, null, luggage)
  if (contact) markWaiting(app, call.tenant, contact, queue)
  return contact !== null
}

export function enqueue(
  app: App,
  call: GoingCall,
  queue: QueueRow | null,
  agent: string | null,
  luggage: Luggage,
): Promise<ContactRow | null> {
  return atSwitchboard(app, call.tenant, (tx, occasion) => takePlace(app, tx, occasion, call, queue, agent, luggage))
}

async function takePlace(
  app: App,
  tx: Tx,
  occasion: Occasion,
  call: GoingCall,
  queue: QueueRow | null,
  agent: string | null,
  luggage: Luggage,
): Promise<ContactRow | null> {
  const { tenant, receivedMs, nowMs } = occasion
  const live = queue && liveOf(queue, await readScene(tx, tenant), nowMs, null)
  const place = luggage.place ?? (queue ? await lostPlace(tx, occasion, call, queue.id) : null)
  // Who comes back has a place already, also in a queue that filled up meanwhile.
  if (queue && live && place === null && live.waiting.length >= queue.document.max_size) return null
  if (place) await tx.query(noteContinued, { ...tenant, id: place.id })
  const contact = await one(
    tx.query(insertContact, {
      ...tenant,
      id: newUuid(receivedMs),
      call_id: call.call,
      room_id: call.call,
      queue_id: queue?.id ?? null,
      agent_id: null,
      wanted_agent: agent,
      direction: call.direction,
      from_number: call.from,
      to_number: call.to,
      state: 'waiting',
      priority: luggage.priority ?? queue?.document.priority ?? 5,
      skills: JSON.stringify(luggage.skills),
      data: JSON.stringify(luggage.data),
      ivr_path: JSON.stringify(luggage.path),
      entered_at: place?.entered_at ?? new Date(nowMs),
      callback_for: null,
      attempts: 0,
      is_handed: luggage.isHanded,
    }),
  )
  if (queue && live)
    await tellQueued(app, tx, occasion, contact, {
      position: live.waiting.length + 1,
      estimatedWait: live.estimatedWait,
    })
  await tickLater(app, tx, tenant, 0)
  return contact
}

/** Wait of a caller whose call was lost with its node and who calls again soon. */
async function lostPlace(
  tx: Tx,
  { tenant, nowMs }: Occasion,
  { direction, from: phone }: GoingCall,
  queue: string,
): Promise<Place | null> {
  // Callers who withhold their numbers are not told from each other.
  if (direction !== 'inbound' || phone === withheldNumber) return null
  const since = new Date(nowMs - placeKeptMs)
  return maybe(tx.query(lostPlaceOf, { ...tenant, phone, queue, since }))
}

/** Marks a call as waiting and play music. Not awaited: the call may be waiting for this. */
export function markWaiting(app: App, tenant: Tenant, contact: ContactRow, queue: QueueRow | null): void {
  const live = liveCalls(app)
  const queueId = queue && idOf('queue', queue.id)
  live
    .mark(tenant, contact.call_id, { phase: 'queued', ...(queueId ? { queue_id: queueId } : {}) })
    .then(() => live.play(tenant, contact.call_id, { music: queue?.document.music_url ?? 'default' }, { loop: 0 }))
    .catch((error) =>
      app.log.warn(
        { error },
        'hold music not started: the caller waits in silence; check the queue’s music_url and the media processes',
      ),
    )
}

// --- menus ---

async function beginIvr(app: App, call: GoingCall, id: string, variables: WalkState['variables']): Promise<Flow> {
  const uuid = uuidOf('ivr', id)
  const row = uuid === null ? null : await maybe(app.db.query(findIvr, { ...call.tenant, id: uuid }))
  if (!row) return goodbye
  const state = enter(row.document, variables)
  await keep(app, call, row.id, row.document, state)
  liveCalls(app)
    .mark(call.tenant, call.call, { phase: 'ivr', ivr_id: id })
    .catch((error) =>
      app.log.warn(
        { error },
        'menu not started on a call: its session ended or its node is down; nothing to do if the call is over',
      ),
    )
  const agents = await agentsFor(app.db, call.tenant, [row.document])
  return { actions: compileMenu(row.document, state, null, agents), isOwn: true }
}

async function keep(app: App, call: GoingCall, ivr: string, document: IvrDocument, state: WalkState): Promise<void> {
  await app.db.query(keepRun, {
    ...call.tenant,
    call: call.call,
    ivr,
    document: JSON.stringify(document),
    state: JSON.stringify(state),
    at: new Date(app.clock.nowMs()),
  })
}

/** Next step after a menu input; null when the call is not in a menu. */
export async function walkOn(app: App, call: GoingCall, heard: Heard): Promise<Flow | null> {
  const run = await maybe(app.db.query(findRun, { ...call.tenant, call: call.call }))
  if (!run) return null
  const agents = await agentsFor(app.db, call.tenant, [run.document])
  const step = walk(run.document, run.state, heard, agents)
  await keep(app, call, run.ivr_id, run.document, step.state)
  if (step.kind === 'menu') return { actions: compileMenu(run.document, step.state, step.prompt, agents), isOwn: true }
  const { variables, path } = step.state
  if (step.kind === 'webhook') return { actions: compileQuestion(step.url, { variables, path }), isOwn: false }
  // A server of the customer's is told what was typed; nobody else is, if it was masked.
  const isTold = step.destination.type === 'application'
  return follow(app, call, step.destination, isTold ? variables : openVariables(run.document, variables), path)
}

/** Resolves a destination at this moment: a queue may be closed or full by now. */
async function follow(
  app: App,
  call: GoingCall,
  destination: DestinationOf,
  variables: WalkState['variables'],
  path: readonly PathStep[],
): Promise<Flow> {
  const { nowMs } = await occasionOf(app, call.tenant)
  const around = await readSurroundings(app.db, call.tenant, null, nowMs)
  const routed = await routedCall(app, call.tenant, { ...call, variables }, nowMs)
  const decided = settle(around, routed, destination)
  return (await flowTo(app, call, { ...decided, variables: { ...variables, ...decided.variables } }, path)) ?? goodbye
}

/** Routes a caller who leaves a queue. */
export async function sendOn(app: App, tenant: Tenant, contact: ContactRow, destination: DestinationOf): Promise<void> {
  const { direction, from_number: from, to_number: to, data, call_id: call } = contact
  const going: GoingCall = { tenant, call, direction, from, to, customData: data }
  const flow = await follow(app, going, destination, {}, contact.ivr_path)
  await liveCalls(app).resume(tenant, call, followerName, flow)
}

/** Shows the state of a call answered after it was routed, and play music if it waits. */
export async function whenAnswered(app: App, tenant: Tenant, call: string): Promise<void> {
  const contact = await maybe(app.db.query(contactOfCall, { ...tenant, call }))
  if (contact?.state === 'waiting' || contact?.state === 'offered') {
    const id = contact.queue_id
    const queue = id === null ? null : await maybe(app.db.query(findQueue, { ...tenant, id }))
    return markWaiting(app, tenant, contact, queue)
  }
  const run = contact ? null : await maybe(app.db.query(findRun, { ...tenant, call }))
  if (run) await liveCalls(app).mark(tenant, call, { phase: 'ivr', ivr_id: idOf('ivr', run.ivr_id) })
}
