// SPDX-License-Identifier: Apache-2.0
// Live session: state in one node's memory, such as a call. A row says where each is; any node can send it commands,
// handled in order, and others end it when its node dies.
import { buckets, newUuid } from '../../kernel/ids.ts'
import type { App } from '../app.ts'
import { isUnavailable, maybe, statement, type Tx } from '../db.ts'
import { onePerApp } from '../program/one-per-app.ts'
import { mine, type One, type Tenant, tenantOf } from '../tenant.ts'
import type { Chore } from './maintenance.ts'
import { type Waited, waits } from './waiting.ts'
import { wakesOf } from './wakes.ts'

/** Kind of session, and the recovery of one whose node died. `lastSeen` is the node's last heartbeat. */
export interface SessionKind {
  readonly name: string
  orphaned(app: App, session: One, lastSeen: Date): Promise<void>
}

/** Command handler of a session; the result returns to the sender as JSON. */
type Obey = (command: unknown) => Promise<unknown>

interface Here {
  readonly session: One
  readonly obey: Obey
  /** Last command; the next waits for it. */
  line: Promise<unknown>
}

/** Wake topic: commands for sessions of a node. */
const commands = 'session-commands'
const commandWaitMs = 8_000
const maxCommands = 100
/** A node without heartbeats for so long counts as dead; it sends one every five seconds. */
const deadAfterSeconds = 15

const insert = statement.tenant<One & { kind: string; node: string }, object>(
  'platform.begin_session',
  `insert into platform.sessions (bucket, account_id, environment, id, kind, node)
   values ($bucket, $account, $environment, $id, $kind, $node) on conflict do nothing`,
)

const remove = statement.tenant<One, object>(
  'platform.end_session',
  `delete from platform.sessions where ${mine} and id = $id`,
)

const find = statement.tenant<One, { node: string }>(
  'platform.find_session',
  `select node from platform.sessions where ${mine} and id = $id`,
)

const ask = statement.tenant<One & { commandId: string; node: string; command: string }, object>(
  'platform.command_session',
  `insert into platform.session_commands (bucket, account_id, environment, session_id, id, node, command)
   values ($bucket, $account, $environment, $id, $commandId, $node, $command::jsonb)`,
)

const answered = statement.tenant<One & { commandId: string }, { outcome: unknown }>(
  'platform.session_outcome',
  `delete from platform.session_commands
    where ${mine} and session_id = $id and id = $commandId and outcome is not null
   returning outcome`,
)

const waiting = statement.everywhere<
  { buckets: readonly number[]; node: string; early: readonly string[]; limit: number },
  {
    bucket: number
    account_id: string
    environment: Tenant['environment']
    session_id: string
    id: string
    command: unknown
  }
>(
  'platform.waiting_commands',
  `select bucket, account_id, environment, session_id, id, command from platform.session_commands
    where bucket = any($buckets::smallint[]) and node = $node and outcome is null and session_id <> all($early::uuid[])
    order by id limit $limit`,
)

const settle = statement.tenant<One & { commandId: string; outcome: string }, object>(
  'platform.settle_command',
  `update platform.session_commands set outcome = $outcome::jsonb where ${mine} and session_id = $id and id = $commandId`,
)

/** Sessions of dead nodes, in any order: those that cannot be ended do not crowd out the others. */
const orphans = statement.everywhere<
  { buckets: readonly number[]; seconds: number; kinds: readonly string[] },
  {
    bucket: number
    account_id: string
    environment: Tenant['environment']
    id: string
    kind: string
    seen_at: Date | null
  }
>(
  'platform.orphaned_sessions',
  `select s.bucket, s.account_id, s.environment, s.id, s.kind, n.seen_at
     from platform.sessions s left join platform.nodes n on n.id = s.node
    where s.bucket = any($buckets::smallint[]) and s.kind = any($kinds::text[])
      and (n.id is null or n.seen_at < now() - $seconds::int * interval '1 second')
      and s.created_at < now() - $seconds::int * interval '1 second'
    order by random() limit 200`,
  { joinsHome: true },
)

const forgetCommands = statement.everywhere<{ buckets: readonly number[] }, object>(
  'platform.forget_commands',
  `delete from platform.session_commands
    where bucket = any($buckets::smallint[]) and created_at < now() - interval '1 minute'`,
)

const answeredAmong = statement.everywhere<{ [K in keyof Waited]: Waited[K] }, { id: string }>(
  'platform.answered_commands',
  `select id from platform.session_commands
    where bucket = any($buckets::smallint[]) and account_id = any($accounts::uuid[]) and environment in ('test', 'live')
      and id = any($ids::uuid[]) and outcome is not null`,
)

const outcomeWaits = waits({
  name: 'session-outcomes',
  most: 10_000,
  lookMs: 250,
  isTold: true,
  happened: (db, waited) => db.query(answeredAmong, { ...waited }),
})

class Sessions {
  readonly #app: App
  readonly #here = new Map<string, Here>()
  /**
   * Sessions that are registered here and not in memory yet, and since when: commands for them wait, and others are read
   * meanwhile. One that is never begun is looked at again when nobody waits for its command any more.
   */
  readonly #early = new Map<string, number>()
  #isReading = false
  /** Commands arrived while earlier ones were read. */
  #isAskedAgain = false

  constructor(app: App) {
    this.#app = app
    outcomeWaits.of(app)
    wakesOf(app).on(commands, (node) => {
      if (node === app.nodeId) void this.#obeyOthers()
    })
    app.signals.onGap(() => void this.#obeyOthers())
  }

  get size(): number {
    return this.#here.size
  }

  /** Registers a session on this node. */
  async begin(kind: SessionKind, session: One, obey: Obey): Promise<void> {
    this.hold(session, obey)
    await this.#app.db.query(insert, { ...session, kind: kind.name, node: this.#app.nodeId })
  }

  /** Registers a session in the transaction that makes it this node's, so that the node cannot die between the two. */
  async register(tx: Tx, kind: SessionKind, session: One): Promise<void> {
    await tx.query(insert, { ...session, kind: kind.name, node: this.#app.nodeId })
  }

  /** Puts a registered session into this node's memory. */
  hold(session: One, obey: Obey): void {
    this.#here.set(session.id, { session, obey, line: Promise.resolve() })
    this.#obeyEarly(session)
  }

  async end(session: One): Promise<void> {
    this.#here.delete(session.id)
    await this.#app.db.query(remove, session)
    this.#obeyEarly(session)
  }

  /** Sends a command to a session on any node. Null: no such session, or timeout. */
  async command(session: One, command: unknown): Promise<unknown> {
    const here = this.#here.get(session.id)
    if (here) return this.#inTurn(here, command)
    const where = await maybe(this.#app.db.query(find, session))
    if (!where) return null
    const commandId = newUuid(this.#app.clock.nowMs())
    await this.#app.db.query(ask, { ...session, commandId, node: where.node, command: JSON.stringify(command) })
    const wait = outcomeWaits.of(this.#app).until({ ...session, id: commandId }, commandWaitMs)
    wakesOf(this.#app).ring(commands, where.node)
    await wait.over
    return (await maybe(this.#app.db.query(answered, { ...session, commandId })))?.outcome ?? null
  }

  #inTurn(here: Here, command: unknown): Promise<unknown> {
    const done = here.line.then(() => here.obey(command))
    here.line = done.catch(() => undefined)
    return done
  }

  /** Runs commands of other nodes on sessions here, in order. */
  async #obeyOthers(): Promise<void> {
    this.#isAskedAgain = true
    if (this.#isReading) return
    this.#isReading = true
    try {
      while (this.#isAskedAgain) await this.#readOnce()
    } catch (error) {
      this.#app.log.warn({ error }, 'commands of other nodes not read: tried again; check the database if this repeats')
    } finally {
      this.#isReading = false
    }
  }

  async #readOnce(): Promise<void> {
    this.#isAskedAgain = false
    const nowMs = performance.now()
    for (const [id, sinceMs] of this.#early) if (nowMs - sinceMs > commandWaitMs) this.#early.delete(id)
    const where = { buckets, node: this.#app.nodeId, early: [...this.#early.keys()], limit: maxCommands }
    const rows = await this.#app.db.query(waiting, where)
    if (rows.length === maxCommands) this.#isAskedAgain = true
    for (const row of rows) {
      const session = { ...tenantOf(row), id: row.session_id }
      if (await this.#isEarly(session)) continue
      const here = this.#here.get(row.session_id)
      const outcome = here ? await this.#inTurn(here, row.command).catch(() => null) : null
      const text = JSON.stringify(outcome ?? null)
      await this.#app.db.query(settle, { ...session, commandId: row.id, outcome: text })
      outcomeWaits.of(this.#app).happened(row.id)
    }
  }

  /** Whether a session is this node's and not in its memory yet: it was taken a moment ago. */
  async #isEarly(session: One): Promise<boolean> {
    if (this.#here.has(session.id)) return false
    if (this.#early.has(session.id)) return true
    const where = await maybe(this.#app.db.query(find, session))
    const isEarly = where?.node === this.#app.nodeId && !this.#here.has(session.id)
    if (isEarly) this.#early.set(session.id, performance.now())
    return isEarly
  }

  #obeyEarly({ id }: One): void {
    if (this.#early.delete(id)) void this.#obeyOthers()
  }
}

export const sessionsOf = onePerApp((app) => new Sessions(app))

/** Chore that ends the sessions of dead nodes. */
export function orphanChore(kinds: readonly SessionKind[]): Chore {
  return {
    name: `orphaned sessions: ${kinds.map(({ name }) => name).join(', ')}`,
    everyMs: 5_000,
    async run(app) {
      const names = kinds.map(({ name }) => name)
      for (const row of await app.db.query(orphans, { buckets, seconds: deadAfterSeconds, kinds: names })) {
        const session = { ...tenantOf(row), id: row.id }
        const kind = kinds.find(({ name }) => name === row.kind)
        try {
          await kind?.orphaned(app, session, row.seen_at ?? new Date(app.clock.nowMs()))
          await app.db.query(remove, session)
        } catch (error) {
          if (isUnavailable(error)) throw error
          // One that cannot be ended must not keep the others.
          app.log.error(
            { error, kind: row.kind, session: row.id },
            'session of a dead node not ended: tried again; check the error if this repeats',
          )
        }
      }
      await app.db.query(forgetCommands, { buckets })
    },
  }
}
