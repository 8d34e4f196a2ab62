// SPDX-License-Identifier: Apache-2.0
// Leases: what only one node may do at a time (hold an SMPP bind, run maintenance). A lease is a row with an owner, an
// expiry, and an epoch that grows with each owner. The owner stops by its own clock a little before the row expires. A
// node may sleep past that moment (a paused machine, a blocked process): a transaction that two nodes must not run at
// once also checks the epoch, with `fence`.
import { performance } from 'node:perf_hooks'
import { type Database, statement, type Tx } from '../db.ts'
import type { Logger } from '../telemetry/log.ts'

export interface Lease {
  readonly name: string
  readonly epoch: bigint
  /** Aborted when the lease is lost or released. */
  readonly signal: AbortSignal
  /** Whether it lasts at this moment. A process that stood still finds out here before its signal is aborted. */
  readonly isHeld: boolean
  /** Releases the lease at once. Never throws: a lease that cannot be released expires. */
  release(): Promise<void>
}

/** Lease and epoch, compared by `fence`. */
export type Term = Pick<Lease, 'name' | 'epoch'>

export interface LeasesOptions {
  db: Database
  /** UUID created by each process. */
  nodeId: string
  log: Pick<Logger, 'warn'>
}

/** Reason of an aborted signal or a refused fenced write. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
}

const maxTtlSeconds = 3_600
/** Fractions of the time to live: when to renew, when to retry a failed renewal, and how early the owner stops. */
const renewAfter = 1 / 3
const retryAfter = 1 / 12
const stopEarly = 1 / 10

interface Named {
  name: string
  owner: string
}

const create = statement.home<Named & { ttlSeconds: number }, { epoch: bigint }>(
  'platform.create_lease',
  `insert into platform.leases (name, owner, epoch, expires_at)
   values ($name, $owner, 1, now() + $ttlSeconds::float8 * interval '1 second')
   on conflict (name) do nothing
   returning epoch`,
)

/** FOR UPDATE waits for fenced transactions; an update alone would not (see `fence`). */
const takeOver = statement.home<Named & { ttlSeconds: number }, { epoch: bigint }>(
  'platform.take_over_lease',
  `with free as (select name from platform.leases where name = $name and expires_at <= now() for update)
   update platform.leases l
      set owner = $owner, epoch = l.epoch + 1, expires_at = now() + $ttlSeconds::float8 * interval '1 second'
     from free where l.name = free.name
   returning l.epoch`,
)

/** An expired or released lease stays so, even if a late renewal arrives. */
const renew = statement.home<Named & { epoch: bigint; ttlSeconds: number }, { name: string }>(
  'platform.renew_lease',
  `update platform.leases set expires_at = now() + $ttlSeconds::float8 * interval '1 second'
    where name = $name and owner = $owner and epoch = $epoch and expires_at > now()
   returning name`,
)

/** The row stays, for its epoch. */
const giveBack = statement.home<Named & { epoch: bigint }, object>(
  'platform.give_back_lease',
  `update platform.leases set expires_at = '-infinity' where name = $name and owner = $owner and epoch = $epoch`,
)

const selectOwners = statement.home<{ names: readonly string[] }, Named>(
  'platform.lease_owners',
  `select name, owner from platform.leases where name = any($names::text[]) and expires_at > now()`,
)

/** KEY SHARE blocks new owners until the transaction ends, and lets renewals pass. */
const guard = statement.home<{ name: string; epoch: bigint }, { name: string }>(
  'platform.guard_lease',
  `select name from platform.leases where name = $name and epoch = $epoch for key share`,
)

export class Leases {
  readonly #options: LeasesOptions
  readonly #held = new Set<HeldLease>()
  readonly #acquiring = new Set<Promise<Lease | null>>()
  #stopped = false

  constructor(options: LeasesOptions) {
    this.#options = options
  }

  /** Acquires a free or expired lease and keeps it until released or lost. Null: another node has it. */
  async tryAcquire(name: string, ttlSeconds: number): Promise<Lease | null> {
    if (!(ttlSeconds > 0 && ttlSeconds <= maxTtlSeconds)) throw new Error(`a lease cannot last ${ttlSeconds} seconds`)
    if (this.#stopped) return null
    const acquiring = this.#acquire(name, ttlSeconds)
    this.#acquiring.add(acquiring)
    try {
      return await acquiring
    } finally {
      this.#acquiring.delete(acquiring)
    }
  }

  /** Owners of these leases; free ones are not included. */
  async owners(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#options.db.queryBeside(selectOwners, { names })
    return new Map(rows.map(({ name, owner }) => [name, owner]))
  }

  /** Releases all leases of this node and acquire no more. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.allSettled(this.#acquiring)
    await Promise.all([...this.#held].map((lease) => lease.release()))
  }

  async #acquire(name: string, ttlSeconds: number): Promise<Lease | null> {
    for (const take of [takeOver, create]) {
      const sentAtMs = performance.now()
      const [row] = await this.#options.db.query(take, { name, owner: this.#options.nodeId, ttlSeconds })
      if (!row) continue
      const lease = new HeldLease(this.#options, name, row.epoch, ttlSeconds, () => this.#held.delete(lease))
      this.#held.add(lease)
      lease.keep(sentAtMs)
      if (this.#stopped) await lease.release()
      return lease.signal.aborted ? null : lease
    }
    return null
  }
}

/** Throws when the epoch is outdated: call it inside the transaction the lease guards. */
export async function fence(tx: Tx, { name, epoch }: Term): Promise<void> {
  const rows = await tx.query(guard, { name, epoch })
  if (rows.length === 0) throw new LeaseLostError(`another node has taken over ${name}`)
}

class HeldLease implements Lease {
  readonly name: string
  readonly epoch: bigint
  readonly #options: LeasesOptions
  readonly #ttlSeconds: number
  readonly #onEnd: () => void
  readonly #controller = new AbortController()
  /** Expiry on this node's monotonic clock. */
  #endsAtMs = 0
  #renewal: NodeJS.Timeout | undefined
  #end: NodeJS.Timeout | undefined

  constructor(options: LeasesOptions, name: string, epoch: bigint, ttlSeconds: number, onEnd: () => void) {
    this.#options = options
    this.name = name
    this.epoch = epoch
    this.#ttlSeconds = ttlSeconds
    this.#onEnd = onEnd
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get isHeld(): boolean {
    return !this.signal.aborted && performance.now() < this.#endsAtMs
  }

  async release(): Promise<void> {
    if (this.signal.aborted) return
    this.#finish(new LeaseLostError(`${this.name} was given up`))
    try {
      await this.#options.db.query(giveBack, { name: this.name, owner: this.#options.nodeId, epoch: this.epoch })
    } catch (error) {
      this.#options.log.warn(
        { error, lease: this.name },
        'lease not released: it runs out by itself; check the database if this repeats',
      )
    }
  }

  /** Extends from before the statement was sent: the row cannot expire sooner. */
  keep(sentAtMs: number): void {
    this.#endsAtMs = sentAtMs + this.#ttlSeconds * 1000 * (1 - stopEarly)
    this.#watch()
    this.#renewLater(renewAfter)
  }

  #watch(): void {
    clearTimeout(this.#end)
    const leftMs = this.#endsAtMs - performance.now()
    if (leftMs <= 0) this.#lose('it could not be renewed in time')
    else this.#end = setTimeout(() => this.#watch(), leftMs).unref()
  }

  #renewLater(part: number): void {
    if (this.signal.aborted) return
    this.#renewal = setTimeout(() => void this.#renew(), this.#ttlSeconds * 1000 * part).unref()
  }

  async #renew(): Promise<void> {
    const { db, nodeId, log } = this.#options
    const sentAtMs = performance.now()
    try {
      const parameters = { name: this.name, owner: nodeId, epoch: this.epoch, ttlSeconds: this.#ttlSeconds }
      const rows = await db.query(renew, parameters)
      if (this.signal.aborted) return
      if (rows.length === 0) this.#lose('it ran out, or another node has it')
      else this.keep(sentAtMs)
    } catch (error) {
      if (this.signal.aborted) return
      log.warn({ error, lease: this.name }, 'lease not renewed: tried again until it runs out; check the database')
      this.#renewLater(retryAfter)
    }
  }

  #lose(reason: string): void {
    this.#options.log.warn(
      { lease: this.name, epoch: String(this.epoch), reason },
      'lease lost to another node, or not renewed in time: this node stops the work that it covers; check the database and the node’s load if this repeats',
    )
    this.#finish(new LeaseLostError(`${this.name} was lost: ${reason}`))
  }

  #finish(reason: LeaseLostError): void {
    clearTimeout(this.#renewal)
    clearTimeout(this.#end)
    this.#onEnd()
    this.#controller.abort(reason)
  }
}
