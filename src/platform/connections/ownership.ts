// SPDX-License-Identifier: Apache-2.0
// Which connections to the outside are this node's: binds, gateways. Of all nodes one at a time has each open, so that its
// sessions and its rate are what the operator agreed with the other side: it is whoever holds the lease of that name. What the
// lease guards is a socket, which no database can fence, so the owner stops sending before anyone else may begin. Nodes share
// what there is: more than its part a node takes only when nobody else did.
import { idOf } from '../../kernel/ids.ts'
import type { App } from '../app.ts'
import type { Lease } from '../nodes/leases.ts'
import { liveNodes } from '../nodes/nodes.ts'

/** A node that died is replaced after this long and one look; one that is only slow must not be. */
const leaseSeconds = 3

export class Ownership {
  readonly #app: App
  readonly #kind: string
  readonly #lost: (name: string) => void
  readonly #leases = new Map<string, Lease>()
  /** Those that nobody had at the last look, and this node left to others. */
  #left: ReadonlySet<string> = new Set()

  /** `kind` begins the names of the leases; `lost` is called when another node may open what was this one's. */
  constructor(app: App, kind: string, lost: (name: string) => void) {
    this.#app = app
    this.#kind = kind
    this.#lost = lost
  }

  has(name: string): boolean {
    return this.#leases.has(name)
  }

  /** Takes those of all connections that nobody has, and gives them. More than its part a node takes at the second look only. */
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

  /** Lets another node have what is closed here. */
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

/** The node that has a connection open; null: none. */
export async function ownerOf({ leases }: App, kind: string, name: string): Promise<string | null> {
  const lease = leaseOf(kind, name)
  const owner = (await leases.owners([lease])).get(lease)
  return owner === undefined ? null : idOf('node', owner)
}

function leaseOf(kind: string, name: string): string {
  return `${kind}:${name}`
}
