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
import { type Act, doAll, leaveQueue, offer, playAnnouncement } from '../agent/call-commands.ts'
import { endSession } from '../agent/login.ts'
import { isPaused } from '../agents/agent.ts'
import { become, becomeFree } from '../agents/presence.ts'
import type { AgentRow } from '../agents/store.ts'
import { type After, endCall, notTaken } from '../caller/next-contact.ts'
import { over, wrappedUp } from '../contact/lifecycle.ts'
import { isReachable } from '../contact/ring-target.ts'
import { type ContactRow, saveContact } from '../contacts.ts'
import { queueEvents } from '../events.ts'
import { realtime } from '../metrics/boards.ts'
import { candidateOf, isMember, liveOf, type Scene, type WaitingContact, waitingIn } from '../queues/live.ts'
import { choose, inOrder, type OverflowCause } from '../queues/queue.ts'
import { findQueue, noteBreach, noteTurn, type QueueRow } from '../queues/store.ts'
import { readScene } from '../routing/surroundings.ts'
import { atSwitchboard, occasionOf } from '../switchboard.ts'
import { tick, tickLater } from '../tick.ts'

/** Grace period after which a ringing offer without an outcome counts as lost, with its node. */
const lostOfferMs = 10_000
/** Longest ring of the target of a transfer, which has no queue. */
const longestRingSeconds = 120
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
  const { acts, late } = await atSwitchboard(app, tenant, (tx, occasion) => new Round(app, tx, occasion).run())
  await doAll(app, acts)
  for (const queue of late) await alertIfBreached(app, tenant, queue)
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

/** A queue whose first caller waits longer than its service level allows. */
interface LateQueue {
  readonly queue: QueueRow
  readonly waiting: number
  readonly longestWaitSeconds: number
}

class Round {
  readonly #app: App
  readonly #tx: Tx
  readonly #occasion: Occasion
  readonly #acts: Act[] = []
  readonly #late: LateQueue[] = []
  readonly #dueMs: number[] = []
  /** Agents, contacts and queues with the changes of this round; null where they have to be read. */
  #known: Scene | null = null

  constructor(app: App, tx: Tx, occasion: Occasion) {
    this.#app = app
    this.#tx = tx
    this.#occasion = occasion
  }

  async run(): Promise<{ acts: Act[]; late: LateQueue[] }> {
    await this.#agentsDue(await this.#scene())
    await this.#callersDue(await this.#scene())
    await this.#give(await this.#scene())
    await this.#announce(await this.#scene())
    this.#watchLevels(await this.#scene())
    await this.#scheduleNext()
    return { acts: this.#acts, late: this.#late }
  }

  async #scene(): Promise<Scene> {
    this.#known ??= await readScene(this.#tx, this.#occasion.tenant)
    return this.#known
  }

  /** Takes a change of this round over into the scene. */
  #changed(row: AgentRow | ContactRow): void {
    const scene = this.#known
    if (!scene) return
    this.#known =
      'endpoint' in row
        ? { ...scene, agents: scene.agents.map((one) => (one.agent_id === row.agent_id ? row : one)) }
        : { ...scene, contacts: scene.contacts.map((one) => (one.id === row.id ? row : one)) }
  }

  /** A rare change that concerns several rows: the scene is read again. */
  #changedMuch(): void {
    this.#known = null
  }

  get #nowMs(): number {
    return this.#occasion.nowMs
  }

  /** True when the time has come; otherwise it is scheduled for the next round. */
  #isDue(atMs: number): boolean {
    if (atMs <= this.#nowMs) return true
    this.#dueMs.push(atMs)
    return false
  }

  // --- agents whose time is over ---

  async #agentsDue({ agents, contacts, queues }: Scene): Promise<void> {
    for (const agent of agents) {
      const isTimed = agent.status === 'wrap_up' || isPaused(agent.status)
      if (isTimed && agent.until !== null && this.#isDue(agent.until.getTime())) {
        const wrapped = await wrappedUp(this.#tx, this.#occasion, agent)
        if (wrapped) this.#changed(wrapped)
        this.#changed(await becomeFree(this.#app, this.#tx, this.#occasion, agent))
      }
      if (agent.status === 'ringing') await this.#ringingDue(agent, contacts, queues)
      if (agent.desk_lost_at !== null && this.#isDue(agent.desk_lost_at.getTime() + deskLostMs))
        await this.#deskLost(agent)
    }
  }

  /** Logs out an agent whose desk did not reconnect. Hanging up the leg requeues its customer. */
  async #deskLost(agent: AgentRow): Promise<void> {
    if (agent.leg_id !== null) this.#acts.push({ do: 'hangup', tenant: this.#occasion.tenant, call: agent.leg_id })
    else if (agent.session_id !== null) {
      this.#changedMuch()
      this.#later(await endSession(this.#app, this.#tx, this.#occasion, agent, 'desk_lost'))
    }
  }

  #later(all: readonly After[]): void {
    for (const after of all) this.#acts.push({ do: 'after', after })
  }

  /** Ring timeout, in case the node that rang the agent died. */
  async #ringingDue(agent: AgentRow, contacts: readonly ContactRow[], queues: readonly QueueRow[]): Promise<void> {
    const contact = contacts.find(({ id }) => id === agent.contact_id)
    const seconds = queues.find(({ id }) => id === contact?.queue_id)?.document.offer_timeout ?? longestRingSeconds
    if (!this.#isDue(agent.since.getTime() + seconds * 1_000 + lostOfferMs)) return
    this.#changedMuch()
    await becomeFree(this.#app, this.#tx, this.#occasion, agent)
    if (contact) this.#later(await notTaken(this.#app, this.#tx, this.#occasion, contact))
    if (agent.leg_id !== null) this.#acts.push({ do: 'hangup', tenant: this.#occasion.tenant, call: agent.leg_id })
  }

  // --- callers whose time is over ---

  async #callersDue(scene: Scene): Promise<void> {
    for (const queue of scene.queues)
      for (const waiting of waitingIn(queue, scene.contacts, this.#nowMs)) {
        if (waiting.contact.state !== 'waiting') continue
        if (waiting.contact.callback_for !== null) {
          if (this.#isDue(waiting.enteredMs + longestCallbackMs)) await this.#forgetCallback(waiting.contact)
          continue
        }
        const cause = this.#causeToLeave(queue, waiting, scene)
        if (cause) await this.#leave(queue, waiting.contact, cause)
      }
  }

  /** Gives up a callback that no agent could take in time; its hold is released with the call. */
  async #forgetCallback(contact: ContactRow): Promise<void> {
    this.#changedMuch()
    await over(this.#app, this.#tx, this.#occasion, contact, 'failed')
    this.#later(endCall(this.#app, this.#occasion.tenant, contact, 'system'))
  }

  #causeToLeave(queue: QueueRow, { enteredMs }: WaitingContact, { agents }: Scene): OverflowCause | null {
    const { max_wait_seconds, overflow } = queue.document
    if (max_wait_seconds > 0 && this.#isDue(enteredMs + max_wait_seconds * 1_000)) return 'max_wait'
    const isAlone = overflow?.on.includes('no_agents') && !agents.some((agent) => isMember(queue, agent))
    return isAlone ? 'no_agents' : null
  }

  async #leave(queue: QueueRow, contact: ContactRow, cause: OverflowCause): Promise<void> {
    const { overflow, language } = queue.document
    this.#changedMuch()
    await over(this.#app, this.#tx, this.#occasion, contact, 'overflowed')
    const action = overflow?.on.includes(cause) ? overflow.action : null
    this.#acts.push(leaveQueue(this.#occasion.tenant, contact, action, language))
  }

  // --- free agents ---

  /** Assigns callers of all queues in one order, so that none is overtaken from another queue. */
  async #give(scene: Scene): Promise<void> {
    let free = scene.agents.filter(
      (agent) =>
        agent.status === 'available' &&
        isReachable(agent) &&
        (agent.offer_after === null || this.#isDue(agent.offer_after.getTime())),
    )
    const queues = new Map(scene.queues.map((queue) => [queue.id, queue]))
    const lines = scene.queues.flatMap((queue) =>
      queue.status === 'paused' ? [] : waitingIn(queue, scene.contacts, this.#nowMs),
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
    for (const waiting of inOrder([...lines, ...direct], this.#nowMs)) {
      if (free.length === 0) return
      if (waiting.contact.state !== 'waiting') continue
      const queue = waiting.contact.queue_id === null ? null : queues.get(waiting.contact.queue_id)
      const chosen = this.#choose(queue ?? null, waiting, free)
      if (chosen.length === 0) continue
      free = free.filter((agent) => !chosen.includes(agent))
      await this.#reserve(queue ?? null, waiting.contact, chosen)
    }
  }

  #choose(queue: QueueRow | null, { contact, enteredMs }: WaitingContact, free: readonly AgentRow[]): AgentRow[] {
    const waitedSeconds = (this.#nowMs - enteredMs) / 1_000
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
    if (relax !== null) this.#isDue(enteredMs + (Math.floor(waitedSeconds / relax) + 1) * relax * 1_000)
    return choose(choosing, call, free.map(candidateOf)).map(({ row }) => row)
  }

  async #reserve(queue: QueueRow | null, contact: ContactRow, agents: readonly AgentRow[]): Promise<void> {
    const app = this.#app
    const tx = this.#tx
    const occasion = this.#occasion
    this.#changed(await saveContact(tx, occasion.tenant, contact, { state: 'offered' }))
    for (const agent of agents) {
      const change = { call_id: contact.call_id, contact_id: contact.id, leg_id: null }
      const reserved = await become(app, tx, occasion, agent, 'ringing', change)
      this.#changed(reserved)
      this.#acts.push(offer(occasion.tenant, contact, reserved, queue?.document.offer_timeout ?? 30))
    }
    const [first] = agents
    if (queue && first) await tx.query(noteTurn, { ...occasion.tenant, id: queue.id, agent: first.agent_id })
    await tickLater(app, tx, occasion.tenant, (queue?.document.offer_timeout ?? 30) * 1_000 + lostOfferMs)
  }

  // --- those who go on waiting ---

  async #announce(scene: Scene): Promise<void> {
    for (const queue of scene.queues) {
      const { announcements } = queue.document
      if (!announcements) continue
      const live = liveOf(queue, scene, this.#nowMs, null)
      for (const [i, { contact }] of live.waiting.entries()) {
        const everyMs = (announcements.every_seconds ?? 30) * 1_000
        const last = (contact.announced_at ?? contact.entered_at).getTime()
        if (contact.callback_for !== null || !this.#isDue(last + everyMs)) continue
        const announced = { announced_at: new Date(this.#nowMs) }
        this.#changed(await saveContact(this.#tx, this.#occasion.tenant, contact, announced))
        this.#isDue(this.#nowMs + everyMs)
        this.#acts.push(playAnnouncement(this.#occasion.tenant, contact, queue, i + 1, live.estimatedWait))
      }
    }
  }

  /** Queues whose callers wait longer than the service level, unless that was told lately. */
  #watchLevels(scene: Scene): void {
    for (const queue of scene.queues) {
      const { waiting, longestWaitSeconds } = liveOf(queue, scene, this.#nowMs, null)
      const [first] = waiting
      if (!first || !this.#isDue(first.enteredMs + queue.document.sla.threshold_seconds * 1_000 + 1)) continue
      if (!isToldLately(queue, this.#nowMs)) this.#late.push({ queue, waiting: waiting.length, longestWaitSeconds })
    }
  }

  /**
   * Schedules the next round, unless an earlier one is scheduled: at most one per round, so that jobs do not multiply.
   */
  async #scheduleNext(): Promise<void> {
    if (this.#dueMs.length === 0) return
    const { tenant } = this.#occasion
    const dueMs = Math.min(...this.#dueMs)
    const next = (await maybe(this.#tx.query(findNextRound, tenant)))?.next_look?.getTime() ?? 0
    if (next > this.#nowMs && next <= dueMs) return
    await this.#tx.query(saveNextRound, { ...tenant, at: new Date(dueMs) })
    await tickLater(this.#app, this.#tx, tenant, dueMs - this.#nowMs)
  }
}

function isToldLately({ breached_at }: QueueRow, nowMs: number): boolean {
  return breached_at !== null && nowMs - breached_at.getTime() < breachEveryMs
}

/** Alert when too few callers of a late queue were answered in time today. */
async function alertIfBreached(app: App, tenant: Tenant, { queue, ...wait }: LateQueue): Promise<void> {
  const { nowMs } = await occasionOf(app, tenant)
  const { totals } = await realtime(app, tenant, { window: 'today', queue: queue.id, nowMs })
  const level = totals.service_level_percent ?? 0
  const { target_percent, threshold_seconds } = queue.document.sla
  if (level >= target_percent) return
  await atSwitchboard(app, tenant, async (tx, occasion) => {
    const now = await maybe(tx.query(findQueue, { ...tenant, id: queue.id }))
    if (!now || isToldLately(now, occasion.nowMs)) return
    await tx.query(noteBreach, { ...tenant, id: queue.id, at: new Date(occasion.nowMs) })
    await app.outbox.emit(tx, queueEvents.slaBreached, occasion, idOf('queue', queue.id), {
      account_id: idOf('account', tenant.account),
      queue_id: idOf('queue', queue.id),
      name: queue.name,
      service_level_percent: level,
      target_percent,
      threshold_seconds,
      waiting: wait.waiting,
      longest_wait_seconds: wait.longestWaitSeconds,
    })
  })
}
