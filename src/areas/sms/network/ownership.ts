// SPDX-License-Identifier: Apache-2.0
// Which binds are this node's. Of all nodes one at a time has a bind open, so that its sessions and its rate are what the
// operator agreed with the message centre: it is whoever holds the lease of that name. What the lease guards is a socket,
// which no database can fence, so the owner stops sending before anyone else may begin; and the messages themselves are
// fenced by the attempts of their jobs.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Lease } from '../../../platform/nodes/leases.ts'
import { liveNodes } from '../../../platform/nodes/nodes.ts'

/** A node that died is replaced after this long and one look; one that is only slow must not be. */
const leaseSeconds = 3

const leaseOf = (bind: string): string => `sms.bind:${bind}`

export class Ownership {
  readonly #app: App
  readonly #lost: (bind: string) => void
  readonly #leases = new Map<string, Lease>()
  /** Those that nobody had at the last look, and this node left to others. */
  #left: ReadonlySet<string> = new Set()

  /** `lost` is called when another node may open a bind that was this one's. */
  constructor(app: App, lost: (bind: string) => void) {
    this.#app = app
    this.#lost = lost
  }

  has(bind: string): boolean {
    return this.#leases.has(bind)
  }

  /** Takes those of all binds that nobody has, and gives them. More than its part a node takes at the second look only. */
  async take(binds: readonly string[]): Promise<string[]> {
    const wanted = binds.filter((bind) => !this.has(bind))
    if (wanted.length === 0) return []
    const owners = await this.#app.leases.owners(wanted.map(leaseOf))
    const free = wanted.filter((bind) => !owners.has(leaseOf(bind)))
    if (free.length === 0) return []
    const nodes = (await liveNodes(this.#app.db)).filter(({ roles }) => roles.includes('carriers'))
    const part = Math.ceil(binds.length / Math.max(1, nodes.length))
    const taken: string[] = []
    for (const bind of free)
      if ((this.#leases.size < part || this.#left.has(bind)) && (await this.#acquire(bind))) taken.push(bind)
    this.#left = new Set(free.filter((bind) => !taken.includes(bind)))
    return taken
  }

  /** Lets another node have a bind that is closed here. */
  async release(bind: string): Promise<void> {
    const lease = this.#leases.get(bind)
    this.#leases.delete(bind)
    await lease?.release()
  }

  async #acquire(bind: string): Promise<boolean> {
    const lease = await this.#app.leases.tryAcquire(leaseOf(bind), leaseSeconds)
    if (!lease) return false
    this.#leases.set(bind, lease)
    lease.signal.addEventListener('abort', () => {
      if (this.#leases.get(bind) !== lease) return
      this.#leases.delete(bind)
      this.#lost(bind)
    })
    return true
  }
}

/** The node that has a bind open; null: none. */
export async function ownerOf({ leases }: App, bind: string): Promise<string | null> {
  const name = leaseOf(bind)
  const owner = (await leases.owners([name])).get(name)
  return owner === undefined ? null : idOf('node', owner)
}
