// SPDX-License-Identifier: Apache-2.0
// An installation whose parts can be killed: one PostgreSQL server and several nodes on it, each a process of its own.
// Nodes share a home, as on one machine behind a load balancer; a node that is started again gets another port.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { end, type NodeProcess, startNodeProcess } from '../../bench/children.ts'
import { Database } from '../../src/platform/db.ts'
import { type EmbeddedPostgres, startPostgres } from '../../src/platform/postgres.ts'
import { Client } from '../client.ts'
import { createMigratedDatabase, type TestDatabase } from '../database.ts'
import { eventually } from '../eventually.ts'

export interface InstallationOptions {
  nodes: number
  /** PostgreSQL of its own, which can be killed, unless it shares the server of the test run. */
  database?: 'own' | 'shared'
  /** Directory of PostgreSQL's data, instead of beside everything else. */
  postgresDir?: string
  postgresSettings?: Record<string, string>
  /** Settings of every node. */
  environment?: Readonly<Record<string, string>>
}

export interface Account {
  id: string
  key: string
  keyId: string
  /** Money that was put into its test wallet, in KES. */
  credited: number
}

interface AccountOptions {
  credit?: number
  limitPerSecond?: number | null
  plan?: string
}

interface Node {
  process: NodeProcess
  stranger: Client
  /** Whether it shall run; false from the moment we end it. */
  wanted: boolean
}

const orphanLookMs = 100
const maxOrphanSeconds = 120
const smallServer = { shared_buffers: '64MB', max_wal_size: '256MB' }

export async function startInstallation(options: InstallationOptions): Promise<Installation> {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-faults-'))
  // Started by root, PostgreSQL runs as another user, who has to reach its data in here.
  await chmod(dir, 0o755)
  const installation = new Installation(dir, options)
  try {
    await installation.startPostgres()
    for (let index = 0; index < options.nodes; index++) await installation.startNode(index)
    return installation
  } catch (error) {
    await installation.stop()
    throw error
  }
}

export class Installation {
  readonly #dir: string
  readonly #options: InstallationOptions
  readonly #nodes: Node[] = []
  #postgres: EmbeddedPostgres | null = null
  #shared: TestDatabase | null = null
  #pool: Database | null = null
  #operatorKey: string | null = null
  #stopped = false
  /** Processes that ended although nobody ended them. */
  readonly crashes: string[] = []
  /** Time for each killed node until all of its leased jobs were taken; null when it had none. */
  readonly resumptions: Promise<number | null>[] = []

  constructor(dir: string, options: InstallationOptions) {
    this.#dir = dir
    this.#options = options
  }

  // PostgreSQL ------------------------------------------------------------------------------------------------------

  async startPostgres(): Promise<void> {
    if (this.#options.database === 'shared') {
      this.#shared = await createMigratedDatabase()
      return
    }
    const { postgresDir: dir = join(this.#dir, 'postgres'), postgresSettings = {} } = this.#options
    this.#postgres = await startPostgres({ dir, settings: { ...smallServer, ...postgresSettings } })
  }

  /** A fast stop: sessions are cut, everything is written down. */
  async stopPostgres(): Promise<void> {
    await this.#postgres?.stop()
  }

  /** SIGKILL for the server and every process of it. */
  async killPostgres(): Promise<void> {
    if (!this.#postgres) return
    const { pid } = this.#postgres
    // Stopped first: a process that it starts while the others are killed would wait for them for ever.
    kill(pid, 'SIGSTOP')
    for (const member of [pid, ...(await childrenOf(pid))]) kill(member)
    await eventually(async () => !isAlive(pid), 'PostgreSQL to be gone')
  }

  /** Database, to look at beside the API. Survives restarts of the server. */
  get db(): Database {
    this.#pool ??= new Database(
      { url: this.databaseUrl, poolSize: 4, statementTimeoutMs: 60_000, applicationName: 'fault-run' },
      () => undefined,
    )
    return this.#pool
  }

  get databaseUrl(): string {
    const database = this.#shared ?? this.#postgres
    if (!database) throw new Error('PostgreSQL was not started')
    return database.url
  }

  /** Runs plain SQL on a connection of its own. */
  async sql<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.databaseUrl, connectionTimeoutMillis: 5_000 })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return (await client.query<Row>(text, [...values])).rows
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  // Nodes -----------------------------------------------------------------------------------------------------------

  /** The authority that has signed the nodes' certificates. */
  get ca(): string {
    return readFileSync(join(this.#dir, 'home/tls/ca.pem'), 'utf8')
  }

  /** Sealed bytes of a file in the nodes' storage; none where it is not there. */
  async storedBytes(id: string): Promise<number> {
    const files = join(this.#dir, 'home/files')
    for (const bucket of await readdir(files).catch(() => [])) {
      const found = await stat(join(files, bucket, id)).catch(() => null)
      if (found) return found.size
    }
    return 0
  }

  get nodeCount(): number {
    return this.#options.nodes
  }

  async startNode(index: number): Promise<void> {
    const process = await startNodeProcess({
      PAMOJA_HOME: join(this.#dir, 'home'),
      PAMOJA_LOG_LEVEL: 'warn',
      PAMOJA_LOG_FILE: this.#logFile(index),
      DATABASE_URL: this.databaseUrl,
      // The first node makes the operator's key; the others need none.
      ...(this.#operatorKey === null ? {} : { PAMOJA_TEST_WITHOUT_ACCOUNT: 'true' }),
      ...this.#options.environment,
    })
    this.#operatorKey ??= process.credentials.operator_key
    const stranger = new Client(process.url, readFileSync(process.caFile, 'utf8'), null)
    const node = { process, stranger, wanted: true }
    this.#nodes[index]?.stranger.close()
    this.#nodes[index] = node
    process.child.once('exit', (code, signal) => {
      if (node.wanted)
        this.crashes.push(`node ${index} ended with ${signal ?? code}; its last words: ${this.#lastWords(index)}`)
    })
  }

  /** SIGKILL. What the node held is watched until somebody else has taken it. */
  async killNode(index: number): Promise<void> {
    const node = this.#node(index)
    const { child, nodeId } = node.process
    node.wanted = false
    const killedAt = performance.now()
    await end(child, 'SIGKILL')
    const resumption = this.#watchOrphans(nodeId, killedAt)
    // Whoever asks for it hears of a failure; nobody has to ask at once.
    resumption.catch(() => undefined)
    this.resumptions.push(resumption)
  }

  /** SIGTERM; gives the exit code. */
  async stopNode(index: number): Promise<number | null> {
    const node = this.#node(index)
    node.wanted = false
    const { child } = node.process
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    await exited
    return child.exitCode
  }

  /** The nodes that have not ended. */
  runningNodes(): number[] {
    return [...this.#nodes.keys()].filter((index) => {
      const { exitCode, signalCode } = this.#node(index).process.child
      return exitCode === null && signalCode === null
    })
  }

  /** Where phones call a node. */
  sipPort(index: number): number {
    const { sip = '' } = this.#node(index).process.credentials.listeners
    return Number(new URL(sip.replace('sip:', 'http:')).port)
  }

  nodeId(index: number): string {
    return this.#node(index).process.nodeId
  }

  /** Address at which a node listens. */
  origin(index: number): string {
    return this.#node(index).process.url
  }

  client(index: number, key: string | null): Client {
    return this.#node(index).stranger.as(key)
  }

  /** Figure that a node gives to Prometheus. */
  async figure(index: number, name: string): Promise<number> {
    const text = await (await fetch(`${this.#node(index).process.adminUrl}/metrics`)).text()
    const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `))
    if (!line) throw new Error(`node ${index} gives no ${name}`)
    return Number(line.slice(name.length))
  }

  operator(index = 0): Client {
    return this.client(index, this.#operatorKey)
  }

  #node(index: number): Node {
    const node = this.#nodes[index]
    if (!node) throw new Error(`node ${index} was never started`)
    return node
  }

  /** Looks at the jobs leased to a dead node until none is: they change owner when another node takes them. */
  async #watchOrphans(nodeId: string, killedAt: number): Promise<number | null> {
    let seen = false
    while (!this.#stopped && performance.now() - killedAt < maxOrphanSeconds * 1000) {
      const rows = await this.sql<{ left: number }>('select count(*)::int as left from work.jobs where owner = $1', [
        nodeId,
      ]).catch(() => [])
      const left = rows[0]?.left
      if (left === 0) return seen ? performance.now() - killedAt : null
      seen ||= left !== undefined
      await pause(orphanLookMs)
    }
    throw new Error(`the jobs of a killed node are still its own after ${maxOrphanSeconds} s`)
  }

  // Customers -------------------------------------------------------------------------------------------------------

  /**
   * Opens an account with money in its test wallet. Its key may ask as often as it likes unless a limit is given; null is
   * the limit that every key has.
   */
  async account({
    credit = 1_000_000,
    limitPerSecond = 1_000_000,
    plan = 'enterprise',
  }: AccountOptions = {}): Promise<Account> {
    const operator = this.operator()
    const wanted = { name: 'Ada', country: 'KE', currency: 'KES', plan, play_money: 0 }
    const opened = await operator.post('/v1/operator/accounts', wanted)
    const { id, test_api_key: key } = opened.body
    if (opened.status !== 201) throw new Error(`the account was not opened: ${opened.text}`)
    const { body: me } = await this.client(0, key).get('/v1/auth/whoami')
    await operator.patch(`/v1/operator/api-keys/${me.key_id}`, { rate_limit_per_second: limitPerSecond })
    const paid = await operator.post(`/v1/operator/accounts/${id}/credit`, {
      amount: credit,
      currency: 'KES',
      environment: 'test',
      reference: 'first',
    })
    if (paid.status !== 200) throw new Error(`the account was not credited: ${paid.text}`)
    return { id, key, keyId: me.key_id, credited: credit }
  }

  /** Balance of the account's test wallet, in KES. */
  async balance({ id }: Account): Promise<number> {
    const { body } = await this.operator().get(`/v1/operator/accounts/${id}`)
    return Number(body.wallets.find((wallet: { environment: string }) => wallet.environment === 'test').balance)
  }

  /** Ends everything and leaves nothing behind. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const node of this.#nodes) {
      node.wanted = false
      node.stranger.close()
    }
    await Promise.all(this.#nodes.map(({ process }) => end(process.child, 'SIGKILL')))
    await Promise.allSettled(this.resumptions)
    await this.#pool?.close()
    await this.#postgres?.stop()
    await this.#shared?.drop()
    await rm(this.#dir, { recursive: true, force: true })
  }

  #logFile(index: number): string {
    return join(this.#dir, `node-${index}.log`)
  }

  #lastWords(index: number): string {
    return readFileSync(this.#logFile(index), 'utf8').slice(-2_000)
  }
}

/** Numbers from 0 to 1 that are the same again for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The seed of this run: PAMOJA_TEST_SEED repeats an earlier one. */
export function chooseSeed(): number {
  return Number(process.env.PAMOJA_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
}

/** Children of a process; none where there is no /proc. Those of a dead server end by themselves, a little later. */
async function childrenOf(parent: number): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    // The command stands in parentheses and may hold anything; the state and the parent follow it.
    const [, owner] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(owner) === parent) found.push(Number(name))
  }
  return found
}

function kill(pid: number, signal: 'SIGKILL' | 'SIGSTOP' = 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
