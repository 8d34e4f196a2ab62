// SPDX-License-Identifier: Apache-2.0
// Transfer of a call. Cold: the agent leaves as soon as the target rings. Warm: both speak while the customer hears
// music, then complete, merge or cancel.
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { isE164 } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type LegChange, type LegToRing, liveCalls } from '../../voice/area.ts'
import { agentNamed, become, becomeFree, noteLeg, offerFailed } from '../agents/presence.ts'
import type { AgentRow } from '../agents/store.ts'
import { sendOn } from '../caller/destination.ts'
import {
  type After,
  endCall,
  isRoomClosed,
  otherSpeaker,
  queueBefore,
  successor,
  waitIn,
} from '../caller/next-contact.ts'
import { tellTransferred } from '../contact/contact-events.ts'
import { tagOf } from '../contact/leg-tags.ts'
import { connected, over } from '../contact/lifecycle.ts'
import { targetOf } from '../contact/ring-target.ts'
import {
  findTransfer,
  insertTransfer,
  noteTargetLeg,
  saveTransfer,
  type TransferRow,
  transferOfCall,
} from '../contact/transfer-store.ts'
import { type ContactRow, contactOfCall, contactsOfCall, saveContact, underWay } from '../contacts.ts'
import { waitingIn } from '../queues/live.ts'
import { findQueue, type QueueRow } from '../queues/store.ts'
import { agentIdForm } from '../schema.ts'
import { atSwitchboard } from '../switchboard.ts'

interface TransferWish {
  kind: 'warm' | 'cold'
  destination: string
  message: string | null
  seconds: number
  music: string | null
}

type Target =
  | { type: 'agent'; agent: string }
  | { type: 'queue'; queue: QueueRow }
  | { type: 'line'; to: LegToRing['to'] }

/** Target of a destination: an agent, queue, number or SIP address. */
export async function transferTarget(app: App, tenant: Tenant, destination: string): Promise<Target> {
  const uuid = uuidOf('queue', destination)
  const queue = uuid === null ? null : await maybe(app.db.query(findQueue, { ...tenant, id: uuid }))
  if (queue) return { type: 'queue', queue }
  if (isE164(destination)) return { type: 'line', to: { phone: destination } }
  if (/^sips?:\S+$/.test(destination)) return { type: 'line', to: { sip: destination } }
  if (agentIdForm.test(destination)) return { type: 'agent', agent: destination }
  throw new AppError('VALIDATION_ERROR', 'destination must be an agent, a queue, a number or a SIP address')
}

/** Starts a transfer. Returns it with the commands to run after the commit. */
export async function beginTransfer(
  app: App,
  tx: Tx,
  occasion: Occasion,
  contact: ContactRow,
  target: Target,
  wish: TransferWish,
): Promise<{ transfer: TransferRow; after: After[] }> {
  const { tenant, nowMs, receivedMs } = occasion
  if (contact.state !== 'connected') throw new AppError('CALL_NOT_ACTIVE', 'no agent is on this call')
  if (await maybe(tx.query(transferOfCall, { ...tenant, call: contact.call_id })))
    throw new AppError('CONFLICT', 'this call is already being transferred; complete or cancel that transfer first')
  const agent = target.type === 'agent' ? await freeAgent(tx, occasion, target.agent) : null
  const transfer = await one(
    tx.query(insertTransfer, {
      ...tenant,
      id: newUuid(receivedMs),
      call: contact.call_id,
      kind: wish.kind,
      destination: wish.destination,
      status: 'ringing',
      fromAgent: contact.agent_id,
      toAgent: agent?.agent_id ?? null,
      message: wish.message,
      at: new Date(nowMs),
    }),
  )
  if (target.type === 'queue') return intoQueue(app, tx, occasion, contact, transfer, target.queue)
  if (agent)
    await become(app, tx, occasion, agent, 'ringing', { call_id: contact.call_id, contact_id: null, leg_id: null })
  const to = agent ? targetOf(agent) : target.type === 'line' ? target.to : null
  if (to === null) throw new AppError('AGENT_NOT_AVAILABLE', `${wish.destination} cannot be reached`)
  return { transfer, after: [() => ring(app, tenant, contact, transfer, to, wish)] }
}

async function freeAgent(tx: Tx, occasion: Occasion, id: string): Promise<AgentRow> {
  const agent = await agentNamed(tx, occasion, id)
  if (agent?.status !== 'available')
    throw new AppError('AGENT_NOT_AVAILABLE', agent ? `${id} is ${agent.status}` : `there is no agent ${id}`)
  return agent
}

async function ring(
  app: App,
  tenant: Tenant,
  contact: ContactRow,
  transfer: TransferRow,
  to: LegToRing['to'],
  { seconds, music }: TransferWish,
): Promise<void> {
  const live = liveCalls(app)
  await live.hold(tenant, contact.call_id, { music: music ?? (transfer.kind === 'cold' ? 'ringback' : 'default') })
  const from = contact.direction === 'inbound' ? contact.to_number : contact.from_number
  const tag = tagOf('transfer', transfer.id)
  const agent = transfer.to_agent === null ? {} : { agentId: transfer.to_agent }
  const rung = await live.ring(tenant, contact.room_id, { to, from, timeoutSeconds: seconds, tag, ...agent })
  if ('refused' in rung) {
    const ended = {
      tenant,
      call: contact.call_id,
      room: contact.room_id,
      tag,
      kind: 'ended' as const,
      status: 'failed',
    }
    return transferChanged(app, { ...ended, cause: rung.refused, by: 'system', digit: null, atMs: 0 }, transfer.id)
  }
  await atSwitchboard(app, tenant, async (tx, occasion) => {
    await tx.query(noteTargetLeg, { ...tenant, id: transfer.id, leg: rung.call })
    if (transfer.to_agent !== null) await noteLeg(app, tx, occasion, transfer.to_agent, rung.call)
  })
}

function save(
  tx: Tx,
  tenant: Tenant,
  transfer: TransferRow,
  status: TransferRow['status'],
  leg = transfer.leg_id,
  endedMs: number | null = null,
) {
  return one(
    tx.query(saveTransfer, {
      ...tenant,
      id: transfer.id,
      status,
      leg,
      endedAt: endedMs === null ? null : new Date(endedMs),
    }),
  )
}

/** Ends a transfer and emits its event. */
async function settle(
  app: App,
  tx: Tx,
  occasion: Occasion,
  contact: ContactRow,
  transfer: TransferRow,
  status: TransferRow['status'],
  leg: string | null = transfer.leg_id,
): Promise<TransferRow> {
  const saved = await save(tx, occasion.tenant, transfer, status, leg, occasion.nowMs)
  await tellTransferred(app, tx, occasion, contact, saved)
  return saved
}

/** Moves the call to another queue; the agent is released. */
async function intoQueue(
  app: App,
  tx: Tx,
  occasion: Occasion,
  contact: ContactRow,
  transfer: TransferRow,
  queue: QueueRow,
): Promise<{ transfer: TransferRow; after: After[] }> {
  const { tenant, nowMs } = occasion
  const { max_size, overflow } = queue.document
  const waiting = waitingIn(queue, await tx.query(underWay, tenant), nowMs)
  if (waiting.length >= max_size) {
    if (!overflow?.on.includes('full')) throw new AppError('QUEUE_FULL', `${max_size} callers wait in ${queue.name}`)
    const { legs } = await over(app, tx, occasion, contact, 'answered', { is_transferred: true })
    const done = await settle(app, tx, occasion, contact, transfer, 'completed')
    const hangUps = legs.map((leg) => () => liveCalls(app).hangUp(tenant, leg))
    return { transfer: done, after: [...hangUps, () => sendOn(app, tenant, contact, overflow.action)] }
  }
  const after = await waitIn(app, tx, occasion, contact, queue, { outcome: 'answered', isTransferred: true })
  return { transfer: await settle(app, tx, occasion, contact, transfer, 'completed'), after }
}

export async function transferChanged(app: App, change: LegChange, id: string): Promise<void> {
  const { tenant } = change
  const after = await atSwitchboard(app, tenant, async (tx, occasion) => {
    const transfer = await maybe(tx.query(findTransfer, { ...tenant, id }))
    const contact = transfer && (await contactOfTransfer(tx, tenant, transfer))
    if (!transfer || !contact) return []
    const step = { app, tx, occasion, contact, transfer, change }
    if (change.kind === 'ringing') return targetRings(step)
    if (change.kind === 'answered') return targetAnswered(step)
    return change.kind === 'ended' ? targetGone(step) : []
  })
  for (const act of after)
    await act().catch((error) =>
      app.log.warn(
        { error, call: change.call },
        'transfer not passed to the call: its session ended or its node is down; nothing to do if the call is over',
      ),
    )
}

/** Contact that a transfer is about: while it is open, that of the agent who asked for it, beside whom others may speak. */
export async function contactOfTransfer(
  tx: Tx,
  tenant: Tenant,
  { call_id: call, status, from_agent }: TransferRow,
): Promise<ContactRow | null> {
  const isOpen = from_agent !== null && (status === 'ringing' || status === 'consulting')
  const all = isOpen ? await tx.query(contactsOfCall, { ...tenant, call }) : []
  const own = all.findLast(({ agent_id, state }) => agent_id === from_agent && state === 'connected')
  return own ?? maybe(tx.query(contactOfCall, { ...tenant, call }))
}

/** Change of the target's leg, with the transfer and the contact that it is about. */
interface Step {
  app: App
  tx: Tx
  occasion: Occasion
  contact: ContactRow
  transfer: TransferRow
  change: LegChange
}

/** Agent whom a transfer is to; null where it is to no agent. */
async function targetAgent({ tx, occasion, transfer }: Pick<Step, 'tx' | 'occasion' | 'transfer'>) {
  return transfer.to_agent === null ? null : agentNamed(tx, occasion, transfer.to_agent)
}

/** Cold transfer: when the target rings, the first agent leaves and the customer hears ringing. */
async function targetRings(step: Step): Promise<After[]> {
  const { transfer, change } = step
  if (transfer.kind === 'warm' || transfer.status !== 'ringing') return []
  return (await passedOn(step, change.call)).after
}

/** Ends the first agent's contact for one of the target's leg, and hangs up the first agent. */
async function passedOn(
  { app, tx, occasion, contact, transfer }: Omit<Step, 'change'>,
  leg: string | null,
): Promise<{ next: ContactRow; after: After[] }> {
  const { legs } = await over(app, tx, occasion, contact, 'answered', { is_transferred: true })
  const next = await successor(tx, occasion, contact, { queue: null, wanted: transfer.to_agent, state: 'offered' })
  await settle(app, tx, occasion, contact, transfer, 'completed', leg)
  const others = legs.filter((one) => one !== leg)
  return { next, after: others.map((one) => () => liveCalls(app).hangUp(occasion.tenant, one)) }
}

async function targetAnswered(step: Step): Promise<After[]> {
  const { app, tx, occasion, contact, transfer, change } = step
  const { tenant } = occasion
  const live = liveCalls(app)
  // A warm one that is completed before the answer was handed over by an agent who left.
  if (transfer.kind === 'warm' && transfer.status !== 'completed') {
    if (transfer.status !== 'ringing') return [() => live.hangUp(tenant, change.call)]
    const agent = await targetAgent(step)
    if (agent)
      await become(app, tx, occasion, agent, 'on_call', {
        call_id: contact.call_id,
        contact_id: null,
        leg_id: change.call,
      })
    await save(tx, tenant, transfer, 'consulting', change.call)
    return whisper(app, tenant, transfer, change.call)
  }
  const late = transfer.status === 'ringing' ? await targetRings(step) : []
  const now = await maybe(tx.query(contactOfCall, { ...tenant, call: contact.call_id }))
  if (now?.state !== 'offered') return [() => live.hangUp(tenant, change.call)]
  return [
    ...late,
    ...(await given(app, tx, occasion, now, transfer.to_agent, change.call)),
    ...whisper(app, tenant, transfer, change.call),
  ]
}

function whisper(app: App, tenant: Tenant, { message }: TransferRow, leg: string): After[] {
  return message === null ? [] : [() => liveCalls(app).play(tenant, leg, { text: message, language: 'en-US' })]
}

/** Connects the customer with the target. */
async function given(
  app: App,
  tx: Tx,
  occasion: Occasion,
  contact: ContactRow,
  toAgent: string | null,
  leg: string,
): Promise<After[]> {
  const { tenant } = occasion
  const live = liveCalls(app)
  const agent = toAgent === null ? null : await agentNamed(tx, occasion, toAgent)
  if (agent) await connected(app, tx, occasion, contact, agent, leg)
  else await connectedOutside(tx, occasion, contact, leg)
  return [
    () => live.hold(tenant, contact.call_id, null),
    () => live.mark(tenant, contact.call_id, { phase: 'connected', agent_id: toAgent }),
  ]
}

/** The target did not answer or left: the customer returns to the first agent, or to a queue, or the call ends. */
async function targetGone(step: Step): Promise<After[]> {
  const { app, tx, occasion, contact, transfer, change } = step
  const { tenant } = occasion
  const live = liveCalls(app)
  const agent = await targetAgent(step)
  const isRinging = agent?.status === 'ringing' && agent.leg_id === null
  const isTheirs = agent?.call_id === contact.call_id && (agent.leg_id === change.call || isRinging)
  if (transfer.status === 'ringing' || transfer.status === 'consulting') {
    if (agent && isTheirs && agent.status === 'ringing' && !isRoomClosed(change.cause))
      await notAnswered(app, tx, occasion, agent, change)
    else if (agent && isTheirs) await becomeFree(app, tx, occasion, agent)
    await settle(app, tx, occasion, contact, transfer, transfer.status === 'ringing' ? 'failed' : 'cancelled')
    return [() => live.hold(tenant, contact.call_id, null)]
  }
  // The target hangs up after it was given the call.
  if (contact.state === 'connected' && (contact.leg_id === change.call || isTheirs)) {
    const { over: isOver } = await leftBehind(app, tx, occasion, contact, agent, change.call)
    if (!isOver) return []
    const other = await otherSpeaker(tx, occasion, contact)
    return other ? hasNow(app, tenant, other) : endCall(app, tenant, contact)
  }
  // The agent answered earlier, and has handed the call on.
  if (change.status === 'completed') return []
  // The customer hung up before the answer, so the agent stays available.
  const isGone = isRoomClosed(change.cause) || contact.state === 'ended'
  if (isGone && agent?.status === 'ringing' && isTheirs) await becomeFree(app, tx, occasion, agent)
  if (isGone && contact.state === 'offered') await over(app, tx, occasion, contact, 'abandoned')
  if (isGone || contact.state !== 'offered') return []
  // Cold transfer without an answer: the first agent has left, so the call returns to its queue unless another speaks in it.
  if (agent && isTheirs) await notAnswered(app, tx, occasion, agent, change)
  await save(tx, tenant, transfer, 'failed', transfer.leg_id, occasion.nowMs)
  const other = await otherSpeaker(tx, occasion, contact)
  const queue = other ? null : await queueBefore(tx, occasion, contact)
  if (queue) return waitIn(app, tx, occasion, contact, queue, { outcome: 'failed' })
  const { legs } = await over(app, tx, occasion, contact, 'failed')
  const hangUps = legs.map((leg) => () => live.hangUp(tenant, leg))
  // Whoever else spoke in the call speaks on.
  if (other) return [...hangUps, () => live.hold(tenant, contact.call_id, null), ...hasNow(app, tenant, other)]
  return [...hangUps, ...endCall(app, tenant, contact)]
}

/** The call is that of another agent who speaks in it. */
function hasNow(app: App, tenant: Tenant, { call_id, agent_id }: ContactRow): After[] {
  return [() => liveCalls(app).mark(tenant, call_id, { agent_id })]
}

/** Connects the customer with somebody who is no agent. */
function connectedOutside(tx: Tx, { tenant, nowMs }: Occasion, contact: ContactRow, leg: string): Promise<ContactRow> {
  const answered = { outcome: 'answered', answered_at: new Date(nowMs) } as const
  return saveContact(tx, tenant, contact, { state: 'connected', ...answered, leg_id: leg })
}

/** Causes for which a target was not rung at all. */
const unrung: readonly string[] = ['network_error', 'full', 'no_route', 'not_allowed', 'insufficient_funds']

/** The agent whom a transfer rang did not answer, or could not be rung. */
async function notAnswered(app: App, tx: Tx, occasion: Occasion, agent: AgentRow, { cause }: LegChange) {
  if (cause !== null && unrung.includes(cause)) {
    await offerFailed(app, tx, occasion, agent, cause)
    return
  }
  const none = { call_id: null, leg_id: null, contact_id: null }
  await become(app, tx, occasion, agent, 'away', { ...none, reason: cause ?? 'no_answer' })
}

/** A party of the customer's call leaves; the last one ends the call. */
async function leftBehind(
  app: App,
  tx: Tx,
  occasion: Occasion,
  contact: ContactRow,
  agent: AgentRow | null,
  leg: string,
): Promise<{ over: boolean }> {
  const stays = contact.leg_id !== leg && contact.agent_id !== agent?.agent_id
  if (stays) {
    if (agent) await becomeFree(app, tx, occasion, agent)
    return { over: false }
  }
  await over(app, tx, occasion, contact, 'answered')
  return { over: true }
}

/** The agent leaves while the target is rung: the call is handed over, and is in its queue again if nobody answers. */
export async function leaveToTarget(step: Omit<Step, 'change'>): Promise<After[]> {
  return (await passedOn(step, step.transfer.leg_id)).after
}

/** Completes a warm transfer: the second agent gets the customer and the first leaves. */
export async function completeTransfer(step: Omit<Step, 'change'>): Promise<After[]> {
  const { app, tx, occasion, transfer } = step
  const leg = transfer.leg_id ?? ''
  const { next, after } = await passedOn(step, leg)
  return [...(await given(app, tx, occasion, next, transfer.to_agent, leg)), ...after]
}

/** Decides a transfer: complete, merge (all three speak) or cancel. */
export async function decideTransfer(
  app: App,
  tx: Tx,
  occasion: Occasion,
  contact: ContactRow,
  transfer: TransferRow,
  action: 'complete' | 'cancel' | 'merge',
): Promise<After[]> {
  const { tenant } = occasion
  const live = liveCalls(app)
  const isOpen =
    action === 'cancel'
      ? transfer.status === 'ringing' || transfer.status === 'consulting'
      : transfer.status === 'consulting'
  if (!isOpen)
    throw new AppError(
      'CONFLICT',
      `a transfer that is ${transfer.status} cannot be ${action === 'cancel' ? 'cancelled' : `${action}d`}`,
    )
  if (action !== 'cancel' && contact.state !== 'connected') throw new AppError('CONFLICT', 'the customer has hung up')
  if (action === 'complete') return completeTransfer({ app, tx, occasion, contact, transfer })
  const agent = await targetAgent({ tx, occasion, transfer })
  if (action === 'merge') {
    await saveContact(tx, tenant, contact, { is_transferred: true })
    // Each who speaks has a contact: agents have their own time on the call, and whoever leaves leaves it to the other.
    const place = { queue: null, wanted: transfer.to_agent, state: 'offered' } as const
    const next = await successor(tx, occasion, contact, place)
    if (agent) await connected(app, tx, occasion, next, agent, transfer.leg_id ?? '')
    else await connectedOutside(tx, occasion, next, transfer.leg_id ?? '')
    await settle(app, tx, occasion, contact, transfer, 'completed')
    return [() => live.hold(tenant, contact.call_id, null)]
  }
  if (agent) await becomeFree(app, tx, occasion, agent)
  await settle(app, tx, occasion, contact, transfer, 'cancelled')
  return [
    () => live.hold(tenant, contact.call_id, null),
    ...(transfer.leg_id === null ? [] : [() => live.hangUp(tenant, transfer.leg_id ?? '')]),
  ]
}

export function transferRecord(transfer: TransferRow) {
  return {
    transfer_id: idOf('transfer', transfer.id),
    call_id: idOf('call', transfer.call_id),
    transfer_type: transfer.kind,
    destination: transfer.destination,
    status: transfer.status,
    consult_call_id: transfer.kind === 'warm' && transfer.leg_id !== null ? idOf('call', transfer.leg_id) : null,
    started_at: transfer.started_at,
  }
}
