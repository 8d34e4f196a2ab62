// SPDX-License-Identifier: Apache-2.0
// Desks of this node: notified of changes made on any node, and refreshed every second.
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import type { Connection, Conversation, Socket } from '../../../platform/api/socket.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe } from '../../../platform/db.ts'
import { sessionsOf } from '../../../platform/nodes/live-sessions.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { iceServers, openBrowserAudio } from '../../voice/area.ts'
import { agentRow, deskAgentOf, requireSession } from '../agent/login.ts'
import { watchAgents } from '../agents/presence.ts'
import { type AgentRow, agentsOfCall, findAgent } from '../agents/store.ts'
import { openTransfers, transferOfCall } from '../contact/transfer-store.ts'
import { type ContactRow, contactsOfCall, findContact } from '../contacts.ts'
import { isMember, liveOf, type Scene } from '../queues/live.ts'
import { findQueue } from '../queues/store.ts'
import { readScene } from '../routing/surroundings.ts'
import { occasionOf } from '../switchboard.ts'
import { Desk, type DeskView } from './desk.ts'
import { deskConnected, deskDisconnected, deskSessions } from './presence.ts'

/** Signal topic: an agent whose desk is on another node has changed. */
export const deskTopic = 'callcenter-desks'

const lookEveryMs = 1_000
/** Timeout for a browser's audio to connect. */
const audioWithinMs = 20_000

class Desks {
  readonly #app: App
  readonly #open = new Set<Desk>()
  readonly #leaving = new Set<Promise<void>>()
  readonly #timer: NodeJS.Timeout
  readonly #unwatch: () => void
  #isLooking = false
  /** Number of reads of agents begun so far. */
  #snapshots = 0

  constructor(app: App) {
    this.#app = app
    this.#unwatch = watchAgents(app, (row) => this.#changed(row))
    app.signals.on(deskTopic, (text) => void this.#heard(text))
    this.#timer = setInterval(() => void this.#look(), lookEveryMs).unref()
  }

  // --- connect and disconnect ---

  async take(connection: Connection, caller: Caller): Promise<Conversation> {
    const { tenant } = caller
    const agentId = deskAgentOf(caller)
    if (agentId === null)
      throw new AppError(
        'FORBIDDEN',
        'a desk is for the token of an agent, from POST /v1/voice/agent/login, or for a member',
      )
    const agent = await agentRow(this.#app.db, tenant, agentId)
    if (agent.session_id === null) throw new AppError('AGENT_NOT_LOGGED_IN', `${agentId} is not logged in`)
    await requireSession(this.#app, caller)
    const id = newUuid(caller.receivedMs)
    const changed = (state: string) => this.#audioChanged(id, state)
    const audio = agent.endpoint.type === 'webrtc' ? await openBrowserAudio(this.#app, id, changed) : null
    const desk = new Desk(this.#app, connection, { tenant, agent, id, audio }, () => this.#left(desk))
    this.#open.add(desk)
    await this.#refresh(desk)
    if (audio) {
      connection.send({ type: 'webrtc.offer', sdp: audio.sdp, ice_servers: iceServers(this.#app) })
      setTimeout(() => this.#needsAudio(desk), audioWithinMs).unref()
    }
    return desk
  }

  readonly #registered = new WeakSet<Desk>()

  #needsAudio(desk: Desk): void {
    if (this.#open.has(desk) && !this.#registered.has(desk)) desk.close(4_002, 'no audio came up')
  }

  /** An agent can be rung once the audio is connected; a desk that lost its audio counts as lost. */
  #audioChanged(id: string, state: string): void {
    const desk = [...this.#open].find((one) => one.id === id)
    if (!desk) return
    if (state === 'failed' || state === 'closed') return desk.close(4_003, 'the audio was lost')
    if (state !== 'connected' || this.#registered.has(desk)) return
    this.#registered.add(desk)
    this.#came(desk).catch((error) => {
      this.#app.log.warn(
        { error },
        'desk not registered: its connection is closed and the browser connects again; check the error',
      )
      desk.close(4_009, error instanceof AppError ? error.code : 'INTERNAL_ERROR')
    })
  }

  async #came(desk: Desk): Promise<void> {
    const session = { ...desk.tenant, id: desk.id }
    await sessionsOf(this.#app).begin(deskSessions, session, async () => {
      desk.close(4_004, 'a desk was opened elsewhere')
      return true
    })
    await deskConnected(this.#app, desk.tenant, desk.agentId, desk.id)
    if (!this.#open.has(desk)) return this.#went(desk)
    desk.ready()
  }

  async #left(desk: Desk): Promise<void> {
    if (!this.#open.delete(desk) || !this.#registered.has(desk)) return
    const leaving = this.#went(desk)
    this.#leaving.add(leaving)
    await leaving.finally(() => this.#leaving.delete(leaving))
  }

  async #went(desk: Desk): Promise<void> {
    await deskDisconnected(this.#app, desk.tenant, desk.agentId, desk.id)
    await sessionsOf(this.#app).end({ ...desk.tenant, id: desk.id })
  }

  // --- notifications ---

  #of(account: string, environment: string, agentId: string): Desk[] {
    return [...this.#open].filter(
      ({ tenant, agentId: theirs }) =>
        theirs === agentId && tenant.account === account && tenant.environment === environment,
    )
  }

  /** An agent changed on this node: update its desk here, or signal the node that has it. */
  #changed(row: AgentRow): void {
    const here = this.#of(row.account_id, row.environment, row.agent_id)
    for (const desk of here) void this.#refresh(desk)
    if (row.desk_id === null || here.some(({ id }) => id === row.desk_id)) return
    const text = `${row.account_id} ${row.environment} ${row.agent_id}`
    this.#app.signals.send(this.#app.db, deskTopic, text).catch(() => undefined)
  }

  async #heard(text: string): Promise<void> {
    const [account = '', environment = '', agent = ''] = text.split(' ')
    for (const desk of this.#of(account, environment, agent)) await this.#refresh(desk)
  }

  async #refresh(desk: Desk): Promise<void> {
    const { tenant, agentId } = desk
    const { db, log } = this.#app
    const number = ++this.#snapshots
    try {
      const agent = await maybe(db.query(findAgent, { ...tenant, agent: agentId }))
      if (!agent) return
      const { contact_id: id, call_id: call } = agent
      const contact = id === null ? null : await maybe(db.query(findContact, { ...tenant, id }))
      const queueId = contact?.queue_id ?? null
      const queue = queueId === null ? null : await maybe(db.query(findQueue, { ...tenant, id: queueId }))
      const transfer = call === null ? null : await maybe(db.query(transferOfCall, { ...tenant, call }))
      const others =
        call === null || contact?.state !== 'connected'
          ? []
          : othersIn(contact, {
              contacts: await db.query(contactsOfCall, { ...tenant, call: contact.call_id }),
              agents: await db.query(agentsOfCall, { ...tenant, call }),
            })
      const by = transfer?.from_agent ?? null
      const from = by === null ? null : await maybe(db.query(findAgent, { ...tenant, agent: by }))
      await desk.show({ agent, contact, queue, transfer, transferredBy: from?.name ?? by, others }, number)
    } catch (error) {
      log.warn({ error }, 'desk not updated: the next poll updates it; check the database if this repeats')
    }
  }

  /** Refreshes desks, with one query per account. */
  async #look(): Promise<void> {
    if (this.#isLooking || this.#open.size === 0) return
    this.#isLooking = true
    try {
      const tenants = new Map([...this.#open].map(({ tenant }) => [`${tenant.account} ${tenant.environment}`, tenant]))
      for (const tenant of tenants.values()) await this.#lookAt(tenant)
    } catch (error) {
      this.#app.log.warn(
        { error },
        'desks not refreshed: the next poll refreshes them; check the database if this repeats',
      )
    } finally {
      this.#isLooking = false
    }
  }

  async #lookAt(tenant: Tenant): Promise<void> {
    const { db } = this.#app
    const number = ++this.#snapshots
    const scene = await readScene(db, tenant)
    const transfers = await db.query(openTransfers, tenant)
    const { nowMs, receivedMs } = await occasionOf(this.#app, tenant)
    for (const desk of this.#open) {
      if (desk.tenant.account !== tenant.account || desk.tenant.environment !== tenant.environment) continue
      desk.showClock(nowMs - receivedMs)
      const agent = scene.agents.find(({ agent_id }) => agent_id === desk.agentId)
      if (!agent) {
        await this.#refresh(desk)
        continue
      }
      const contact = scene.contacts.find(({ id }) => id === agent.contact_id) ?? null
      const queue = scene.queues.find(({ id }) => id === contact?.queue_id) ?? null
      const transfer = transfers.find(({ call_id }) => call_id === agent.call_id) ?? null
      const by = transfer?.from_agent ?? null
      const transferredBy = scene.agents.find(({ agent_id }) => agent_id === by)?.name ?? by
      const others = othersIn(contact, scene)
      await desk.show({ agent, contact, queue, transfer, transferredBy, others } satisfies DeskView, number)
      desk.showQueues(queuesOf(scene, agent, nowMs))
    }
  }

  /** Closes all desks and wait until that is stored. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#unwatch()
    for (const desk of this.#open) desk.close(1_001, 'this node is stopping; connect again')
    await Promise.allSettled([...this.#open].map((desk) => desk.closed()))
    await Promise.allSettled([...this.#leaving])
  }
}

/** Names of the other agents who speak in the call of a contact. */
function othersIn(contact: ContactRow | null, { contacts, agents }: Pick<Scene, 'contacts' | 'agents'>): string[] {
  if (contact?.state !== 'connected') return []
  return contacts
    .filter(({ id, call_id, state }) => id !== contact.id && call_id === contact.call_id && state === 'connected')
    .flatMap(({ agent_id }) => {
      const agent = agents.find((one) => one.agent_id === agent_id)
      return agent ? [agent.name ?? agent.agent_id] : []
    })
}

function queuesOf(scene: Scene, agent: AgentRow, nowMs: number) {
  return scene.queues
    .filter((queue) => isMember(queue, agent))
    .map((queue) => {
      const { waiting, longestWaitSeconds, agents } = liveOf(queue, scene, nowMs, null)
      return {
        queue_id: idOf('queue', queue.id),
        name: queue.name,
        waiting: waiting.length,
        longest_wait_seconds: longestWaitSeconds,
        agents_available: agents.available,
      }
    })
}

export const desksOf = onePerApp((app) => new Desks(app))

export const deskSocket: Socket = {
  path: '/v1/voice/desk',
  operation: 'callcenter.desk',
  scope: 'callcenter:agent',
  maxMessageBytes: 65_536,
  messagesPerSecond: 50,
  perAccount: 200,
  open: (app, connection, caller) => desksOf(app).take(connection, caller),
}
