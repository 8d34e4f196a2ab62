// SPDX-License-Identifier: Apache-2.0
// Ownership of outside connections (binds, gateways) among nodes: each is open on one node at a time, the holder of its
// lease, so that sessions and rate are as agreed with the other side. No database can fence a socket, so the owner
// stops sending before its lease ends. Nodes share the connections evenly: a node takes more than its share only when
// no other did.
import { idOf } from '../../kernel/ids.ts'
import type { App } from '../app.ts'
import type { Lease } from '../nodes/leases.ts'
import { liveNodes } from '../nodes/nodes.ts'

/** Lease time: a dead node is replaced after this plus one round; a slow one must not be. */
const leaseSeconds = 3

export class Ownership {
  readonly #app: App
  readonly #kind: string
  readonly #lost: (name: string) => void
  readonly #leases = new Map<string, Lease>()
  /** Connections free at the last round that this node left to others. */
  #left: ReadonlySet<string> = new Set()

  /** `kind` is the prefix of lease names; `lost` is called when another node may open a connection. */
  constructor(app: App, kind: string, lost: (name: string) => void) {
    this.#app = app
    this.#kind = kind
    this.#lost = lost
  }

  has(name: string): boolean {
    return this.#leases.has(name)
  }

  /** Whether the lease of a connection lasts, by the clock: who was not given time to run has not heard yet that it ended. */
  holds(name: string): boolean {
    return this.#leases.get(name)?.isHeld === true
  }

  /** Lease free connections and return them; more than this node's share only in the second round. */
  async take(names: readonly string[]): Promise<string[]> {
    const wanted = names.filter((name) => !this.has(name))
    if (wanted.length === 0) return []
    const owners = await this.#app.leases.owners(wanted.map((name) => leaseOf(this.#kind, name)))
    const free = wanted.filter((name) => !owners.has(leaseOf(this.#kind, name)))
    if (free.length === 0) return []
    const nodes = (await liveNodes(this.#app.db)).filter(({ roles }) => roles.includes('carriers'))
    const part = Math.ceil(names.length / Math.max(1, nodes.length))
    const taken: string[] = []
    for (const name of free)
      if ((this.#leases.size < part || this.#left.has(name)) && (await this.#acquire(name))) taken.push(name)
    this.#left = new Set(free.filter((name) => !taken.includes(name)))
    return taken
  }

  /** Releases a connection closed here. */
  async release(name: string): Promise<void> {
    const lease = this.#leases.get(name)
    this.#leases.delete(name)
    await lease?.release()
  }

  async #acquire(name: string): Promise<boolean> {
    const lease = await this.#app.leases.tryAcquire(leaseOf(this.#kind, name), leaseSeconds)
    if (!lease) return false
    this.#leases.set(name, lease)
    lease.signal.addEventListener('abort', () => {
      if (this.#leases.get(name) !== lease) return
      this.#leases.delete(name)
      this.#lost(name)
    })
    return true
  }
}

/** Node that holds a connection; null for none. */
export async function ownerOf({ leases }: App, kind: string, name: string): Promise<string | null> {
  const lease = leaseOf(kind, name)
  const owner = (await leases.owners([lease])).get(lease)
  return owner === undefined ? null : idOf('node', owner)
}

/** Connections among these that a node holds. */
export async function heldAmong({ leases }: App, kind: string, names: readonly string[]): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set()
  const owners = await leases.owners(names.map((name) => leaseOf(kind, name)))
  return new Set(names.filter((name) => owners.has(leaseOf(kind, name))))
}

function leaseOf(kind: string, name: string): string {
  return `${kind}:${name}`
}
