// SPDX-License-Identifier: Apache-2.0
// Distribution round of a switchboard: handle timeouts, move callers who waited too long, and assign waiting callers to
// free agents in order. Commands to calls follow after the commit.
import { idOf } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, statement, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import type { Job } from '../../../platform/work.ts'
import { isPaused } from '../agents/agent.ts'
import { become, becomeFree } from '../agents/presence.ts'
import type { AgentRow } from '../agents/store.ts'
import { type ContactRow, contactsBetween, saveContact } from '../contacts.ts'
import { queueEvents } from '../events.ts'
import { measure } from '../metrics/measure.ts'
import { candidateOf, isMember, liveOf, type Scene, type WaitingContact, waitingIn } from '../queues/live.ts'
import { choose, inOrder, type OverflowCause } from '../queues/queue.ts'
import { noteBreach, noteTurn, type QueueRow } from '../queues/store.ts'
import { readScene } from '../routing/surroundings.ts'
import { atSwitchboard } from '../switchboard.ts'
import { tick, tickLater } from '../tick.ts'
import { over, wrappedUp } from './lifecycle.ts'
import { endSession } from './login.ts'
import { type After, endCall, notTaken } from './next-contact.ts'
import { isReachable } from './reach.ts'
import { type Act, doAll, leaveQueue, offer, playAnnouncement } from './speak.ts'

/** Grace period after which a ringing offer without an outcome counts as lost, with its node. */
const lostOfferMs = 10_000
/** Time for a lost browser desk to reconnect. */
const deskLostMs = 30_000
/** Longest wait for a callback. */
const longestCallbackMs = dayMs
/** Minimum interval between service level alerts. */
const breachEveryMs = 15 * 60_000

const findNextRound = statement.tenant<Tenant, { next_look: Date | null }>(
  'callcenter.find_look',
  `select next_look from callcenter.switchboards where ${mine}`,
)

const saveNextRound = statement.tenant<Tenant & { at: Date }, object>(
  'callcenter.note_look',
  `update callcenter.switchboards set next_look = $at where ${mine}`,
)

export async function distributeCalls(app: App, tenant: Tenant): Promise<void> {
  await doAll(app, await atSwitchboard(app, tenant, (tx, occasion) => new Round(app, tx, occasion).run()))
}

export const tickJob: Job<App, typeof tick.payload> = {
  ...tick,
  role: 'timers',
  concurrency: 32,
  retrySeconds: [1, 5, 30, 120],
  async handle(app, { tenant }) {
    if (!tenant) throw new Error('a switchboard belongs to an account')
    await distributeCalls(app, tenant)
    return { kind: 'done' }
  },
}

class Round {
  private readonly app: App
  private readonly tx: Tx
  private readonly occasion: Occasion
  private readonly acts: Act[] = []
  private readonly dueMs: number[] = []

  constructor(app: App, tx: Tx, occasion: Occasion) {
    this.app = app
    this.tx = tx
    this.occasion = occasion
  }

  async run(): Promise<Act[]> {
    await this.agentsDue(await this.scene())
    await this.callersDue(await this.scene())
    await this.give(await this.scene())
    const scene = await this.scene()
    await this.announce(scene)
    for (const queue of scene.queues) await this.watchLevel(queue, scene)
    await this.scheduleNext()
    return this.acts
  }

  private scene(): Promise<Scene> {
    return readScene(this.tx, this.occasion.tenant)
  }

  private get nowMs(): number {
    return this.occasion.nowMs
  }

  /** True when the time has come; otherwise it is scheduled for the next round. */
  private isDue(atMs: number): boolean {
    if (atMs <= this.nowMs) return true
    this.dueMs.push(atMs)
    return false
  }

  // --- agents whose time is over ---

  private async agentsDue({ agents, contacts, queues }: Scene): Promise<void> {
    for (const agent of agents) {
      const isTimed = agent.status === 'wrap_up' || isPaused(agent.status)
      if (isTimed && agent.until !== null && this.isDue(agent.until.getTime())) {
        await wrappedUp(this.tx, this.occasion, agent)
        await becomeFree(this.app, this.tx, this.occasion, agent)
      }
      if (agent.status === 'ringing') await this.ringingDue(agent, contacts, queues)
      if (agent.desk_lost_at !== null && this.isDue(agent.desk_lost_at.getTime() + deskLostMs))
        await this.deskLost(agent)
    }
  }

  /** Log out an agent whose desk did not reconnect. Hanging up the leg requeues its customer. */
  private async deskLost(agent: AgentRow): Promise<void> {
    if (agent.leg_id !== null) this.acts.push({ do: 'hangup', tenant: this.occasion.tenant, call: agent.leg_id })
    else if (agent.session_id !== null)
      this.later(await endSession(this.app, this.tx, this.occasion, agent, 'desk_lost'))
  }

  private later(all: readonly After[]): void {
    for (const after of all) this.acts.push({ do: 'after', after })
  }

  /** Ring timeout, in case the node that rang the agent died. */
  private async ringingDue(
    agent: AgentRow,
    contacts: readonly ContactRow[],
    queues: readonly QueueRow[],
  ): Promise<void> {
    const contact = contacts.find(({ id }) => id === agent.contact_id)
    const seconds = queues.find(({ id }) => id === contact?.queue_id)?.document.offer_timeout ?? 60
    if (!this.isDue(agent.since.getTime() + seconds * 1_000 + lostOfferMs)) return
    await becomeFree(this.app, this.tx, this.occasion, agent)
    if (contact) this.later(await notTaken(this.app, this.tx, this.occasion, contact))
    if (agent.leg_id !== null) this.acts.push({ do: 'hangup', tenant: this.occasion.tenant, call: agent.leg_id })
  }

  // --- callers whose time is over ---

  private async callersDue(scene: Scene): Promise<void> {
    for (const queue of scene.queues)
      for (const waiting of waitingIn(queue, scene.contacts, this.nowMs)) {
        if (waiting.contact.state !== 'waiting') continue
        if (waiting.contact.callback_for !== null) {
          if (this.isDue(waiting.enteredMs + longestCallbackMs)) await this.forgetCallback(waiting.contact)
          continue
        }
        const cause = this.causeToLeave(queue, waiting, scene)
        if (cause) await this.leave(queue, waiting.contact, cause)
      }
  }

  /** Give up a callback that no agent could take in time; its hold is released with the call. */
  private async forgetCallback(contact: ContactRow): Promise<void> {
    await over(this.app, this.tx, this.occasion, contact, 'failed')
    this.later(endCall(this.app, this.occasion.tenant, contact, 'system'))
  }

  private causeToLeave(queue: QueueRow, { enteredMs }: WaitingContact, { agents }: Scene): OverflowCause | null {
    const { max_wait_seconds, overflow } = queue.document
    if (max_wait_seconds > 0 && this.isDue(enteredMs + max_wait_seconds * 1_000)) return 'max_wait'
    const isAlone = overflow?.on.includes('no_agents') && !agents.some((agent) => isMember(queue, agent))
    return isAlone ? 'no_agents' : null
  }

  private async leave(queue: QueueRow, contact: ContactRow, cause: OverflowCause): Promise<void> {
    const { overflow, language } = queue.document
    await over(this.app, this.tx, this.occasion, contact, 'overflowed')
    const action = overflow?.on.includes(cause) ? overflow.action : null
    this.acts.push(leaveQueue(this.occasion.tenant, contact, action, language))
  }

  // --- free agents ---

  /** Assign callers of all queues in one order, so that none is overtaken from another queue. */
  private async give(scene: Scene): Promise<void> {
    let free = scene.agents.filter((agent) => agent.status === 'available' && isReachable(agent))
    const queues = new Map(scene.queues.map((queue) => [queue.id, queue]))
    const lines = scene.queues.flatMap((queue) =>
      queue.status === 'paused' ? [] : waitingIn(queue, scene.contacts, this.nowMs),
    )
    const direct = scene.contacts
      .filter(({ queue_id, state, wanted_agent }) => queue_id === null && wanted_agent !== null && state === 'waiting')
      .map((contact) => ({
        contact,
        id: contact.id,
        priority: contact.priority,
        enteredMs: contact.entered_at.getTime(),
        agingSeconds: 60,
      }))
    for (const waiting of inOrder([...lines, ...direct], this.nowMs)) {
      if (free.length === 0) return
      if (waiting.contact.state !== 'waiting') continue
      const queue = waiting.contact.queue_id === null ? null : queues.get(waiting.contact.queue_id)
      const chosen = this.choose(queue ?? null, waiting, free)
      if (chosen.length === 0) continue
      free = free.filter((agent) => !chosen.includes(agent))
      await this.reserve(queue ?? null, waiting.contact, chosen)
    }
  }

  private choose(
    queue: QueueRow | null,
    { contact, enteredMs }: WaitingContact,
    free: readonly AgentRow[],
  ): AgentRow[] {
    const waitedSeconds = (this.nowMs - enteredMs) / 1_000
    const call = {
      skills: contact.skills,
      waitedSeconds,
      refusedBy: contact.refused_by,
      wantedAgent: contact.wanted_agent,
    }
    const choosing = {
      id: queue?.id ?? '',
      document: queue?.document ?? {
        strategy: 'longest_idle' as const,
        skills_required: [],
        skill_relax_seconds: null,
        agents: [],
      },
      lastAgent: queue?.last_agent ?? null,
    }
    const relax = queue?.document.skill_relax_seconds ?? null
    if (relax !== null) this.isDue(enteredMs + (Math.floor(waitedSeconds / relax) + 1) * relax * 1_000)
    return choose(choosing, call, free.map(candidateOf)).map(({ row }) => row)
  }

  private async reserve(queue: QueueRow | null, contact: ContactRow, agents: readonly AgentRow[]): Promise<void> {
    const { app, tx, occasion } = this
    await saveContact(tx, occasion.tenant, contact, { state: 'offered' })
    for (const agent of agents) {
      const change = { call_id: contact.call_id, contact_id: contact.id, leg_id: null }
      const reserved = await become(app, tx, occasion, agent, 'ringing', change)
      this.acts.push(offer(occasion.tenant, contact, reserved, queue?.document.offer_timeout ?? 30))
    }
    const [first] = agents
    if (queue && first) await tx.query(noteTurn, { ...occasion.tenant, id: queue.id, agent: first.agent_id })
    await tickLater(app, tx, occasion.tenant, (queue?.document.offer_timeout ?? 30) * 1_000 + lostOfferMs)
  }

  // --- those who go on waiting ---

  private async announce(scene: Scene): Promise<void> {
    for (const queue of scene.queues) {
      const { announcements } = queue.document
      if (!announcements) continue
      const live = liveOf(queue, scene, this.nowMs, null)
      for (const [i, { contact }] of live.waiting.entries()) {
        const everyMs = (announcements.every_seconds ?? 30) * 1_000
        const last = (contact.announced_at ?? contact.entered_at).getTime()
        if (contact.callback_for !== null || !this.isDue(last + everyMs)) continue
        await saveContact(this.tx, this.occasion.tenant, contact, { announced_at: new Date(this.nowMs) })
        this.isDue(this.nowMs + everyMs)
        this.acts.push(playAnnouncement(this.occasion.tenant, contact, queue, i + 1, live.estimatedWait))
      }
    }
  }

  /** Alert when a queue's callers wait longer than its service level and too few were answered in time today. */
  private async watchLevel(queue: QueueRow, scene: Scene): Promise<void> {
    const { sla } = queue.document
    const live = liveOf(queue, scene, this.nowMs, null)
    const [first] = live.waiting
    if (!first) return
    if (!this.isDue(first.enteredMs + sla.threshold_seconds * 1_000 + 1)) return
    if (queue.breached_at && this.nowMs - queue.breached_at.getTime() < breachEveryMs) return
    const { tenant } = this.occasion
    const since = new Date(this.nowMs)
    since.setUTCHours(0, 0, 0, 0)
    const today = { ...tenant, since, until: new Date(this.nowMs), queue: queue.id, agent: null }
    const level = measure(await this.tx.query(contactsBetween, today), this.nowMs).service_level_percent ?? 0
    if (level >= sla.target_percent) return
    await this.tx.query(noteBreach, { ...tenant, id: queue.id, at: new Date(this.nowMs) })
    await this.app.outbox.emit(this.tx, queueEvents.slaBreached, this.occasion, idOf('queue', queue.id), {
      account_id: idOf('account', tenant.account),
      queue_id: idOf('queue', queue.id),
      name: queue.name,
      service_level_percent: level,
      target_percent: sla.target_percent,
      threshold_seconds: sla.threshold_seconds,
      waiting: live.waiting.length,
      longest_wait_seconds: live.longestWaitSeconds,
    })
  }

  /**
   * Schedule the next round, unless an earlier one is scheduled: at most one per round, so that jobs do not multiply.
   */
  private async scheduleNext(): Promise<void> {
    if (this.dueMs.length === 0) return
    const { tenant } = this.occasion
    const dueMs = Math.min(...this.dueMs)
    const next = (await maybe(this.tx.query(findNextRound, tenant)))?.next_look?.getTime() ?? 0
    if (next > this.nowMs && next <= dueMs) return
    await this.tx.query(saveNextRound, { ...tenant, at: new Date(dueMs) })
    await tickLater(this.app, this.tx, tenant, dueMs - this.nowMs)
  }
}
