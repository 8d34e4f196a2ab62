// SPDX-License-Identifier: Apache-2.0
// Held connections: what operators entered and one node at a time has open, such as binds and gateways. A node takes
// free ones by lease, closes one when its lease is lost, and opens it anew when its settings change. The caller runs
// `want` and `openFree` one at a time; a lease may be lost at any moment.
import type { App } from '../app.ts'
import { atMost } from '../concurrency/at-most.ts'
import { Ownership } from './ownership.ts'

/** Connection as entered. */
export interface Place {
  readonly name: string
  /** Changes with the settings. */
  readonly version: string
  /** Every node has one of its own, without a lease. */
  readonly isLocal?: boolean
}

export interface HeldKind<P extends Place, Open> {
  /** Prefix of lease names. */
  readonly leases: string
  /** Connection that is not open yet; null when its settings are unusable, until they change. */
  make(place: P): Open | null
  /** Opens it. `isNew`: no node had it, or another one. */
  begin(name: string, open: Open, isNew: boolean): Promise<void>
  /** Closes it after its requests in progress. */
  close(open: Open): Promise<void>
  /** Runs when this node stops serving a connection. */
  leave?(name: string): Promise<void>
  /** Runs when no node will open a connection again. */
  abandoned?(name: string): Promise<void>
}

/** Time that a changed connection waits for its predecessor to close: many centres allow one session. */
const replaceMs = 500

export class Held<P extends Place, Open> {
  readonly #log: App['log']
  readonly #kind: HeldKind<P, Open>
  readonly #ownership: Ownership
  #wanted: ReadonlyMap<string, P> = new Map()
  readonly #open = new Map<string, { readonly open: Open | null; readonly version: string }>()
  readonly #closing = new Map<string, Promise<void>>()
  #isStopped = false

  constructor(app: App, kind: HeldKind<P, Open>) {
    this.#log = app.log
    this.#kind = kind
    // A connection that is being closed already is left by the code that closes it.
    this.#ownership = new Ownership(app, kind.leases, (name) => {
      if (!this.#closing.has(name)) void this.#leave(name, false)
    })
  }

  /** Connection open on this node. */
  get(name: string): Open | null {
    return this.#open.get(name)?.open ?? null
  }

  /** Whether nobody else can have opened a connection since this node did: asked before something goes out. */
  isOurs(name: string): boolean {
    return this.#wanted.get(name)?.isLocal === true || this.#ownership.holds(name)
  }

  /** Connections open on this node. */
  *opened(): Iterable<[string, Open]> {
    for (const [name, { open }] of this.#open) if (open !== null) yield [name, open]
  }

  /** Whether a connection is to be open on some node. */
  isWanted(name: string): boolean {
    return this.#wanted.has(name)
  }

  /** Replaces the list of connections: closes what is gone or changed, opens what is free. */
  async want(places: readonly P[]): Promise<void> {
    this.#wanted = new Map(places.map((place) => [place.name, place]))
    const replaced: Promise<void>[] = []
    for (const [name, { open, version }] of [...this.#open]) {
      const now = this.#wanted.get(name)
      if (now?.version === version) continue
      if (!now) void this.#abandon(name)
      else {
        this.#open.delete(name)
        if (open !== null) replaced.push(atMost(replaceMs, this.#close(name, open), undefined))
      }
    }
    await Promise.all(replaced)
    await this.openFree()
  }

  /** Opens connections that this node owns or that are free. */
  async openFree(): Promise<void> {
    const places = [...this.#wanted.values()]
    const closed = places.filter(({ name }) => !this.#open.has(name) && !this.#closing.has(name))
    if (closed.length === 0 || this.#isStopped) return
    const shared = places.filter(({ name, isLocal = false }) => !isLocal && !this.#closing.has(name))
    const taken = await this.#ownership.take(shared.map(({ name }) => name))
    const ours = closed.filter(({ name, isLocal = false }) => isLocal || this.#ownership.has(name))
    await Promise.all(ours.map((place) => this.#begin(place, taken.includes(place.name))))
  }

  /** Closes all, so that other nodes can open them at once. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const name of [...this.#open.keys()]) void this.#leave(name, true)
    while (this.#closing.size > 0) await Promise.all(this.#closing.values())
  }

  async #begin(place: P, isNew: boolean): Promise<void> {
    const { name, version } = place
    const open = this.#kind.make(place)
    const entry = { open, version }
    this.#open.set(name, entry)
    if (open === null) return
    const isOurs = (): boolean => this.#open.get(name) === entry
    try {
      await this.#kind.begin(name, open, isNew)
    } catch (error) {
      // A half-open connection would seem in use; the next round takes it anew.
      if (isOurs()) await this.#leave(name, true)
      throw error
    }
    // Lost meanwhile: what was begun after that is undone.
    if (!isOurs()) await this.#kind.leave?.(name)
  }

  #leave(name: string, isReleased: boolean): Promise<void> {
    const open = this.get(name)
    this.#open.delete(name)
    const closing = this.#closed(name, open, isReleased).finally(() => this.#closing.delete(name))
    this.#closing.set(name, closing)
    return closing
  }

  async #closed(name: string, open: Open | null, isReleased: boolean): Promise<void> {
    await Promise.all([open !== null && this.#close(name, open), this.#kind.leave?.(name)])
    if (isReleased) await this.#ownership.release(name)
  }

  async #abandon(name: string): Promise<void> {
    await this.#leave(name, true)
    await this.#kind.abandoned?.(name)
  }

  async #close(name: string, open: Open): Promise<void> {
    await this.#kind
      .close(open)
      .catch((error) =>
        this.#log.warn(
          { error, connection: name },
          'connection not closed in order: check the other side if this repeats',
        ),
      )
  }
}
