// SPDX-License-Identifier: Apache-2.0
// Signals between nodes over LISTEN/NOTIFY, as hints: "drop this key", "slots wanted". A signal may be lost and is
// never part of a hot write (a pending NOTIFY serialises commits); caches that rely on signals must be dropped when the
// connection was cut.
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { type Database, type Queryable, statement } from '../db.ts'

const channel = 'pamoja'
const reconnectMs = 250
/** How long a proof holds, and how long one may take. */
const provenForMs = 1_000
const proofMs = 2_000

const notify = statement.home<{ message: string }, object>('platform.notify', `select pg_notify('pamoja', $message)`, {
  isAtCommit: true,
})

/** Topics of the platform: credentials, where buckets live, rate limit slots, prices, proofs that signals arrive, the node of the sandbox, wakes. */
const platformTopics: readonly string[] = ['accounts', 'cells', 'limits', 'prices', 'proofs', 'simulators', 'wakes']

export class Signals {
  readonly #db: Database
  readonly #topics: ReadonlySet<string>
  readonly #listeners: { topic: string; heard: (text: string) => void }[] = []
  readonly #gapListeners: (() => void)[] = []
  #client: pg.Client | null = null
  #timer: NodeJS.Timeout | null = null
  #stopped = false
  #proof: Promise<boolean> | null = null

  /** `topics` are those of areas. */
  constructor(db: Database, topics: readonly string[] = []) {
    this.#db = db
    this.#topics = new Set([...platformTopics, ...topics])
  }

  /** Whether signals arrive; false while the connection is down: caches that rely on them must not be used. */
  get connected(): boolean {
    return this.#client !== null
  }

  on(topic: string, heard: (text: string) => void): void {
    this.#requireDeclared(topic)
    this.#listeners.push({ topic, heard })
  }

  /** Called when the connection is lost, and when it is back. */
  onGap(listener: () => void): void {
    this.#gapListeners.push(listener)
  }

  /** Sends a signal to every node, this one included; inside a transaction, after the commit. */
  async send(queryable: Queryable, topic: string, text: string): Promise<void> {
    this.#requireDeclared(topic)
    await queryable.query(notify, { message: `${topic} ${text}` })
  }

  /** Whether a signal of this node comes back to it. Asked at most once a second, whoever wants to know. */
  arrive(): Promise<boolean> {
    if (!this.#proof) {
      this.#proof = this.#prove().catch(() => false)
      setTimeout(() => {
        this.#proof = null
      }, provenForMs).unref()
    }
    return this.#proof
  }

  async #prove(): Promise<boolean> {
    if (!this.connected) return false
    const mark = randomUUID()
    let hear: (isHeard: boolean) => void = () => undefined
    const heard = new Promise<boolean>((resolve) => {
      hear = resolve
    })
    const listener = { topic: 'proofs', heard: (text: string) => text === mark && hear(true) }
    const timer = setTimeout(() => hear(false), proofMs)
    this.#listeners.push(listener)
    try {
      await this.#db.queryBeside(notify, { message: `proofs ${mark}` })
      return await heard
    } finally {
      clearTimeout(timer)
      this.#listeners.splice(this.#listeners.indexOf(listener), 1)
    }
  }

  async start(): Promise<void> {
    const client = await this.#db.connect()
    if (this.#stopped) return void (await client.end())
    client.on('notification', ({ payload }) => this.#heard(payload ?? ''))
    client.on('end', () => this.#lost(client))
    await client.query(`listen ${channel}`)
    this.#client = client
    for (const listener of this.#gapListeners) listener()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#timer) clearTimeout(this.#timer)
    const client = this.#client
    this.#client = null
    await client?.end()
  }

  /** Throws for an undeclared topic, which no node would receive. */
  #requireDeclared(topic: string): void {
    if (!this.#topics.has(topic)) throw new Error(`no area declares the topic ${topic}`)
  }

  #heard(payload: string): void {
    const space = payload.indexOf(' ')
    for (const { topic, heard } of this.#listeners)
      if (topic === payload.slice(0, space)) heard(payload.slice(space + 1))
  }

  #lost(client: pg.Client): void {
    if (this.#stopped || this.#client !== client) return
    this.#client = null
    for (const listener of this.#gapListeners) listener()
    const retry = (): void => {
      this.#timer = setTimeout(() => this.start().catch(retry), reconnectMs)
    }
    retry()
  }
}
