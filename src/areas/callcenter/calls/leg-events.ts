// SPDX-License-Identifier: Apache-2.0
// Leg events: an agent answers or not, a party hangs up. Handled on the call's node under the switchboard lock;
// commands to other legs follow after the commit.
import type { App } from '../../../platform/app.ts'
import type { Tx } from '../../../platform/db.ts'
import { maybe } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type LegChange, liveCalls } from '../../voice/area.ts'
import { endSession } from '../agent/login.ts'
import { completeTransfer, leaveToTarget, transferChanged } from '../agent/transfer.ts'
import { agentNamed, become, becomeFree, offerFailed } from '../agents/presence.ts'
import { type AgentRow, agentOfLeg, agentsOfContact } from '../agents/store.ts'
import { callBack } from '../caller/callback.ts'
import { whenAnswered } from '../caller/destination.ts'
import {
  type After,
  endCall,
  isRoomClosed,
  notOffered,
  notTaken,
  otherSpeaker,
  queueBefore,
  waitIn,
} from '../caller/next-contact.ts'
import { participantChanged } from '../conferences/conference.ts'
import { leftConversation } from '../conferences/conversation.ts'
import { readTag, tagOf } from '../contact/leg-tags.ts'
import { connected, contactNamed, over, queueOf } from '../contact/lifecycle.ts'
import { transferOfCall } from '../contact/transfer-store.ts'
import { type ContactRow, contactOfCall, contactsOfCall, findContact } from '../contacts.ts'
import type { QueueDocument } from '../queues/queue.ts'
import { endMonitorsOf, monitorChanged } from '../supervisor/monitor.ts'
import { atSwitchboard } from '../switchboard.ts'

/** Ring timeout in seconds of a customer called by an agent. */
const customerRingSeconds = 45

export async function legChanged(app: App, change: LegChange): Promise<void> {
  const tag = readTag(change.tag)
  const [first = '', second = ''] = tag?.words ?? []
  switch (tag?.kind) {
    case 'offer':
      return offerChanged(app, change, first, second)
    case 'customer':
      return customerChanged(app, change, first)
    case 'transfer':
      if (change.kind === 'ended' && (await givenAgentGone(app, change))) return
      return transferChanged(app, change, first)
    case 'monitor':
      return monitorChanged(app, change, first)
    case 'participant':
      return participantChanged(app, change, first, second)
    default:
      return callChanged(app, change)
  }
}

async function atOnce(
  app: App,
  change: LegChange,
  work: (tx: Tx, occasion: Occasion) => Promise<After[]>,
): Promise<void> {
  const after = await atSwitchboard(app, change.tenant, work)
  for (const act of after)
    await act().catch((error) =>
      app.log.warn(
        { error, call: change.call },
        'change not passed to a call: its session ended or its node is down; nothing to do if the call is over',
      ),
    )
}

// --- the leg of an agent ---

async function offerChanged(app: App, change: LegChange, contactId: string, agentId: string): Promise<void> {
  if (change.kind === 'answered') {
    const isThere = await isCustomerThere(app, change.tenant, contactId)
    return atOnce(app, change, (tx, occasion) => agentAnswered(app, tx, occasion, change, contactId, agentId, isThere))
  }
  if (change.kind === 'ended')
    return atOnce(app, change, (tx, occasion) => agentGone(app, tx, occasion, change, contactId, agentId))
}

/** Whether the customer of a contact is on the line, or is yet to be rung. */
async function isCustomerThere(app: App, tenant: Tenant, id: string): Promise<boolean> {
  const contact = await maybe(app.db.query(findContact, { ...tenant, id }))
  return contact !== null && (await liveCalls(app).find(tenant, contact.call_id))?.status === 'answered'
}

async function agentAnswered(
  app: App,
  tx: Tx,
  occasion: Occasion,
  change: LegChange,
  contactId: string,
  agentId: string,
  isThere: boolean,
): Promise<After[]> {
  const { tenant } = occasion
  const live = liveCalls(app)
  const contact = await contactNamed(tx, occasion, contactId)
  const agent = await agentNamed(tx, occasion, agentId)
  const isWanted = agent?.status === 'ringing' && agent.contact_id === contactId && contact?.state === 'offered'
  // Another agent answered first, or the caller has hung up.
  if (!agent || !contact || !isWanted) return [() => live.hangUp(tenant, change.call)]
  const queue = await queueOf(tx, occasion, contact.queue_id)
  if (contact.room_id !== contact.call_id && !isThere) {
    await become(app, tx, occasion, agent, 'on_call', { leg_id: change.call })
    return [() => ringCustomer(app, contact, occasion)]
  }
  const { stop } = await connected(app, tx, occasion, contact, agent, change.call)
  return [
    ...stop.map((leg) => () => live.hangUp(tenant, leg)),
    () => live.stopPlay(tenant, contact.call_id),
    () => live.mark(tenant, contact.call_id, { phase: 'connected', agent_id: agentId }),
    () => live.mark(tenant, change.call, { agent_id: agentId }),
    ...(queue?.document.record
      ? [() => live.record(tenant, contact.room_id, { channels: 2, call: contact.call_id })]
      : []),
    ...(queue ? promptsOf(app, tenant, queue.document, contact, change.call) : []),
  ]
}

/** The recording is announced to both, or to the customer alone while the agent hears a prompt of their own. */
function promptsOf(
  app: App,
  tenant: Tenant,
  { record, recording_prompt, agent_prompt, language }: QueueDocument,
  { call_id }: ContactRow,
  leg: string,
): After[] {
  const live = liveCalls(app)
  const own = agent_prompt ? [() => live.play(tenant, leg, { text: agent_prompt, language })] : []
  if (!record || !recording_prompt) return own
  const toRoom = own.length === 0
  return [() => live.play(tenant, call_id, { text: recording_prompt, language }, { toRoom }), ...own]
}

/** The agent answered: ring the customer. */
async function ringCustomer(app: App, contact: ContactRow, { tenant }: Occasion): Promise<void> {
  const rung = await liveCalls(app).ring(tenant, contact.room_id, {
    to: { call: contact.call_id },
    from: contact.from_number,
    timeoutSeconds: customerRingSeconds,
    tag: tagOf('customer', contact.id),
  })
  if (!('refused' in rung)) return
  await atSwitchboard(app, tenant, (tx, occasion) => over(app, tx, occasion, contact, 'failed'))
  for (const act of endCall(app, tenant, contact, 'system')) await act()
}

async function agentGone(
  app: App,
  tx: Tx,
  occasion: Occasion,
  change: LegChange,
  contactId: string,
  agentId: string,
): Promise<After[]> {
  const contact = await contactNamed(tx, occasion, contactId)
  const agent = await agentNamed(tx, occasion, agentId)
  if (!agent || !contact || agent.contact_id !== contactId) return []
  if (agent.leg_id !== null && agent.leg_id !== change.call) return []
  // The call was transferred before this leg ended, and has another contact.
  if (contact.state === 'ended' || contact.state === 'wrap_up') return []
  if (agent.status === 'ringing') return notAnswered(app, tx, occasion, change, contact, agentId)
  if (contact.agent_id !== agentId && contact.answered_at !== null) return []
  // Media timeout of a browser that crashed or lost its network.
  const isLost = agent.endpoint.type === 'webrtc' && (agent.desk_lost_at !== null || change.cause === 'media_timeout')
  return isLost ? deskLost(app, tx, occasion, contact, agent) : agentLeft(app, tx, occasion, contact)
}

/** An agent who was given the call by a transfer leaves it like every other; false where the leg is of none. */
async function givenAgentGone(app: App, change: LegChange): Promise<boolean> {
  let isTheirs = false
  await atOnce(app, change, async (tx, occasion) => {
    const agent = await maybe(tx.query(agentOfLeg, { ...change.tenant, leg: change.call }))
    const id = agent?.status === 'on_call' ? agent.contact_id : null
    const contact = id === null ? null : await contactNamed(tx, occasion, id)
    if (!agent || contact?.state !== 'connected') return []
    isTheirs = true
    return agentGone(app, tx, occasion, change, contact.id, agent.agent_id)
  })
  return isTheirs
}

/** An agent hung up. A second agent keeps the customer; otherwise the call ends. */
async function agentLeft(app: App, tx: Tx, occasion: Occasion, contact: ContactRow): Promise<After[]> {
  const { tenant } = occasion
  const live = liveCalls(app)
  const other = contact.state === 'connected' ? await otherSpeaker(tx, occasion, contact) : null
  const transfer = await maybe(tx.query(transferOfCall, { ...tenant, call: contact.call_id }))
  const isAsking = transfer?.status === 'consulting' && transfer.from_agent === contact.agent_id
  if (other && !isAsking) {
    await over(app, tx, occasion, contact, 'answered')
    return [() => live.mark(tenant, contact.call_id, { agent_id: other.agent_id })]
  }
  // A consultation continues without the first agent: the second gets the customer.
  if (transfer?.status === 'consulting') return completeTransfer({ app, tx, occasion, contact, transfer })
  if (transfer) return leaveToTarget({ app, tx, occasion, contact, transfer })
  await over(app, tx, occasion, contact, contact.answered_at === null ? 'failed' : 'answered')
  return endCall(app, tenant, contact)
}

/** The agent's browser crashed during a call: requeue the caller at the front and log the agent out. */
async function deskLost(app: App, tx: Tx, occasion: Occasion, contact: ContactRow, agent: AgentRow): Promise<After[]> {
  // Whoever speaks in the call as well, or is asked or rung for it, has it now.
  const transfer = await maybe(tx.query(transferOfCall, { ...occasion.tenant, call: contact.call_id }))
  const isAlone = transfer === null && (await otherSpeaker(tx, occasion, contact)) === null
  const queue = isAlone ? await queueBefore(tx, occasion, contact) : null
  const isWaiting = queue !== null && contact.state === 'connected' && contact.room_id === contact.call_id
  const after = isWaiting
    ? await waitIn(app, tx, occasion, contact, queue, { outcome: 'answered', since: contact.entered_at })
    : await agentLeft(app, tx, occasion, contact)
  const now = await agentNamed(tx, occasion, agent.agent_id)
  const left = now?.session_id ? await endSession(app, tx, occasion, now, 'desk_lost') : []
  return [...after, ...left]
}

/** The agent did not answer: requeue the call at the front. */
async function notAnswered(
  app: App,
  tx: Tx,
  occasion: Occasion,
  { cause, by }: LegChange,
  contact: ContactRow,
  agentId: string,
): Promise<After[]> {
  const agent = await agentNamed(tx, occasion, agentId)
  if (!agent) return []
  const none = { call_id: null, leg_id: null, contact_id: null, next_status: null, next_reason: null }
  if (cause === 'network_error' && agent.desk_lost_at === null) {
    await offerFailed(app, tx, occasion, agent, cause)
    return notOffered(app, tx, occasion, contact)
  }
  // The caller hung up first, which costs the agent nothing.
  if (isRoomClosed(cause)) await becomeFree(app, tx, occasion, agent)
  else
    await become(app, tx, occasion, agent, 'away', {
      ...none,
      reason: agent.desk_lost_at !== null ? 'desk_lost' : by === 'agent' ? 'rejected' : (cause ?? 'no_answer'),
    })
  return notTaken(app, tx, occasion, contact)
}

// --- the customer whom an agent calls ---

async function customerChanged(app: App, change: LegChange, contactId: string): Promise<void> {
  const { tenant } = change
  const live = liveCalls(app)
  if (change.kind === 'answered')
    return atOnce(app, change, async (tx, occasion) => {
      const contact = await contactNamed(tx, occasion, contactId)
      const agent = contact?.agent_id ?? contact?.wanted_agent ?? null
      const row = agent === null ? await agentOfContact(tx, occasion, contactId) : await agentNamed(tx, occasion, agent)
      if (!contact || !row || contact.state !== 'offered') return [() => live.hangUp(tenant, change.call)]
      await connected(app, tx, occasion, contact, row, row.leg_id ?? change.call)
      const queue = await queueOf(tx, occasion, contact.queue_id)
      return [
        () => live.mark(tenant, change.call, { phase: 'connected', agent_id: row.agent_id }),
        async () => {
          const customer = await live.find(tenant, change.call)
          // Both hear it, so that the agent knows when to speak.
          if (customer?.callerPrompt)
            await live.play(tenant, contact.room_id, customer.callerPrompt, { toRoom: true, interrupt: false })
          if (queue?.document.record || customer?.isRecorded)
            await live.record(tenant, contact.room_id, { channels: 2, call: change.call })
        },
      ]
    })
  if (change.kind === 'ended')
    return atOnce(app, change, async (tx, occasion) => {
      const contact = await contactNamed(tx, occasion, contactId)
      if (!contact) return []
      // A call that was handed on, or has two agents, has more contacts than the one that rang the customer.
      const all = await tx.query(contactsOfCall, { ...tenant, call: contact.call_id })
      for (const one of all) if (one.ended_at === null) await over(app, tx, occasion, one, 'failed')
      const again = contact.ended_at === null && contact.answered_at === null && contact.callback_for !== null
      return [
        () => endMonitorsOf(app, tenant, contact.call_id),
        () => live.closeRoom(tenant, contact.room_id),
        ...(again ? [() => callBack(app, tenant, contact)] : []),
      ]
    })
}

async function agentOfContact(tx: Tx, { tenant }: Occasion, contact: string) {
  const [agent] = await tx.query(agentsOfContact, { ...tenant, contact })
  return agent ?? null
}

// --- the call of the customer ---

async function callChanged(app: App, change: LegChange): Promise<void> {
  const { tenant, call } = change
  if (change.kind === 'answered') return whenAnswered(app, tenant, call)
  if (change.kind === 'digit') return digitPressed(app, change)
  if (change.kind === 'left') return leftConversation(app, change)
  if (change.kind !== 'ended') return
  await atOnce(app, change, async (tx, occasion) => {
    const contacts = (await tx.query(contactsOfCall, { ...tenant, call })).filter(({ ended_at }) => ended_at === null)
    if (contacts.length === 0) return []
    const legs: string[] = []
    for (const contact of contacts) {
      const ended = await over(app, tx, occasion, contact, change.cause === 'network_error' ? 'failed' : 'abandoned')
      legs.push(...ended.legs)
    }
    const live = liveCalls(app)
    return [() => endMonitorsOf(app, tenant, call), ...legs.map((leg) => () => live.hangUp(tenant, leg))]
  })
}

/** Callback key pressed by a waiting caller. */
async function digitPressed(app: App, { tenant, call, digit }: LegChange): Promise<void> {
  const contact = await maybe(app.db.query(contactOfCall, { ...tenant, call }))
  if (contact?.state !== 'waiting' || contact.queue_id === null || digit === null) return
  await callBack(app, tenant, contact, digit)
}

/** Serial queue per call: leg events must be handled in order. */
export class Order {
  readonly #lines = new Map<string, Promise<void>>()

  add(key: string, work: () => Promise<void>): Promise<void> {
    const next = (this.#lines.get(key) ?? Promise.resolve()).then(work, work)
    this.#lines.set(key, next)
    const forget = () => {
      if (this.#lines.get(key) === next) this.#lines.delete(key)
    }
    next.then(forget, forget)
    return next
  }
}
