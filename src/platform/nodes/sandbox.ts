// SPDX-License-Identifier: Apache-2.0
// The sandbox of several nodes. One node with the role `sandbox` has the lease: its simulators are those that all nodes use.
// The others learn its address from the database and what its simulators share, such as keys of payment providers, from
// itself; requests for simulated phones and mailboxes are forwarded to it (platform/http/forward.ts). When it leaves or
// dies, the next one takes its place.
import { once } from 'node:events'
import { connect } from 'node:net'
import { hostname } from 'node:os'
import { errorCode } from '../../kernel/error-code.ts'
import { type Database, maybe, statement } from '../db.ts'
import type { Simulator, Simulators } from '../program/simulators.ts'
import type { Logger } from '../telemetry/log.ts'
import { Followed } from './followed.ts'
import type { Lease, Leases } from './leases.ts'
import type { Signals } from './signals.ts'

const leaseName = 'sandbox'
const leaseSeconds = 15
const lookMs = 5_000
const refusalMs = 1_000

/** Where a node is reached by other nodes. */
export interface NodeAddress {
  readonly url: string
  /** SHA-256 of its certificate, as Node prints it. */
  readonly fingerprint: string
}

type Row = NodeAddress & { owner: string; node: string | null; host: string }

const find = statement.home<{ name: string }, Row>(
  'platform.find_sandbox',
  `select l.owner, s.node, coalesce(s.host, '') as host, coalesce(s.url, '') as url, coalesce(s.fingerprint, '') as fingerprint
     from platform.leases l left join platform.sandbox s on s.node = l.owner
    where l.name = $name and l.expires_at > now()`,
)

const tell = statement.home<NodeAddress & { node: string; host: string }, object>(
  'platform.tell_sandbox',
  `with others as (delete from platform.sandbox where node <> $node)
   insert into platform.sandbox (node, host, url, fingerprint) values ($node, $host, $url, $fingerprint)
   on conflict (node) do update set url = excluded.url, fingerprint = excluded.fingerprint, told_at = now()`,
)

const free = statement.home<{ name: string; owner: string }, object>(
  'platform.free_sandbox',
  `update platform.leases set expires_at = '-infinity' where name = $name and owner = $owner`,
)

interface SandboxOptions {
  readonly db: Database
  readonly signals: Signals
  readonly leases: Leases
  readonly log: Logger
  readonly nodeId: string
  readonly simulators: Simulators
  readonly declared: readonly Simulator<unknown, unknown>[]
  /** Whether this node runs simulators. */
  readonly isRun: boolean
}

/** Asks a node what its simulators share. */
type Ask = (address: NodeAddress) => Promise<Readonly<Record<string, unknown>>>

/** Which node's simulators are used, as one node knows it. */
export class SandboxNode {
  readonly #options: SandboxOptions
  readonly #followed: Followed
  readonly #taken: (() => Promise<void>)[] = []
  #ask: Ask = async () => ({})
  #lease: Lease | null = null
  #own: NodeAddress | null = null
  /** Whether the own address is to be told. */
  #isNew = false
  #elsewhere: (NodeAddress & { readonly node: string }) | null = null
  /** Whether the node elsewhere has told what its simulators share. */
  #isAsked = false
  #isLeaving = false

  constructor(options: SandboxOptions) {
    this.#options = options
    const load = () => this.#load()
    this.#followed = new Followed(options, { topic: 'simulators', everyMs: lookMs, what: 'node of the sandbox', load })
  }

  /** Node whose simulators are used instead of this one's; null when they are this one's, or there are none. */
  get elsewhere(): NodeAddress | null {
    return this.#elsewhere
  }

  /** Whether this node runs simulators, used or not. */
  get isRun(): boolean {
    return this.#options.isRun
  }

  async start(ask: Ask): Promise<void> {
    this.#ask = ask
    await this.#followed.start()
  }

  /** Tells other nodes where this one is. */
  async announce(address: NodeAddress): Promise<void> {
    this.#own = address
    this.#isNew = true
    await this.#followed.read()
  }

  /** Runs when this node's simulators become those of all nodes. */
  onTaken(taken: () => Promise<void>): void {
    this.#taken.push(taken)
  }

  /** Looks again who it is, after the one that was known did not answer. */
  look(): void {
    this.#followed.read().catch(() => undefined)
  }

  /** What the simulators of this node share, by name. */
  shared(): Readonly<Record<string, unknown>> {
    const { declared, simulators } = this.#options
    return Object.fromEntries(declared.map((one) => [one.name, one.share({ simulators })]))
  }

  /** Leaves the simulators to another node, before this one stops. */
  async leave(): Promise<void> {
    this.#isLeaving = true
    if (this.#lease === null) return this.#followed.stop()
    await this.#lease.release()
    this.#lease = null
    const { signals, db } = this.#options
    await signals.send(db, 'simulators', 'left').catch(() => undefined)
    await this.#followed.stop()
  }

  async #load(): Promise<void> {
    const row = (await this.#isTaken()) ? null : await this.#other()
    if (row === null || row.node === null) return this.#use(null, null)
    const { node, url, fingerprint } = row
    const known = this.#elsewhere
    const isSame = known?.node === node && known.url === url && known.fingerprint === fingerprint
    if (isSame && this.#isAsked) return
    const address = { node, url, fingerprint }
    this.#isAsked = false
    this.#use(address, {})
    try {
      this.#use(address, await this.#ask(address))
      this.#isAsked = true
    } catch (error) {
      // It may be gone, which its lease says within seconds; a node starts all the same.
      this.#options.log.warn(
        { error },
        'node of the sandbox does not answer: test keys get 503 until it does, or another one takes its place',
      )
    }
  }

  #use(address: (NodeAddress & { node: string }) | null, shared: Readonly<Record<string, unknown>> | null): void {
    this.#elsewhere = address
    this.#options.simulators.elsewhere = shared
  }

  /** Whether this node has the lease, or just took it. */
  async #isTaken(): Promise<boolean> {
    const { isRun, leases, db, nodeId, signals } = this.#options
    if (!isRun || this.#isLeaving) return false
    if (this.#lease === null || this.#lease.signal.aborted) {
      this.#lease = await leases.tryAcquire(leaseName, leaseSeconds)
      this.#lease?.signal.addEventListener('abort', () => this.look(), { once: true })
      this.#isNew = this.#lease !== null
      const wasElsewhere = this.#elsewhere !== null
      if (this.#lease && wasElsewhere) for (const taken of this.#taken) await taken()
    }
    if (this.#lease === null) return false
    if (this.#isNew && this.#own !== null) {
      await db.query(tell, { ...this.#own, node: nodeId, host: hostname() })
      await signals.send(db, 'simulators', 'told')
      this.#isNew = false
    }
    return true
  }

  /**
   * The node that has the lease, unless it is this one, which may have lost it or be leaving while its row still stands. One
   * on this machine whose port is closed was killed: its lease is free.
   */
  async #other(): Promise<Row | null> {
    const { db, isRun, log, nodeId } = this.#options
    const row = await maybe(db.query(find, { name: leaseName }))
    if (row?.node === nodeId) return null
    if (!row || row.node === null || !isRun || this.#isLeaving || row.host !== hostname()) return row
    if (!(await isClosed(row.url))) return row
    log.info({ node: row.node }, 'node of the sandbox is gone: another takes its place')
    await db.query(free, { name: leaseName, owner: row.owner })
    return (await this.#isTaken()) ? null : maybe(db.query(find, { name: leaseName }))
  }
}

/** Whether nothing listens at an address. */
async function isClosed(url: string): Promise<boolean> {
  const { hostname: host, port } = new URL(url)
  const socket = connect({ host: host.replace(/^\[|\]$/g, ''), port: Number(port), timeout: refusalMs })
  socket.on('timeout', () => socket.destroy())
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(refusalMs) })
    return false
  } catch (error) {
    return errorCode(error) === 'ECONNREFUSED'
  } finally {
    socket.destroy()
  }
}
