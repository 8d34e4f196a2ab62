// SPDX-License-Identifier: Apache-2.0
// Simulators of the sandbox, on nodes with the role `sandbox`. An area declares the simulators it talks to;
// src/simulation/simulation.ts starts them, because areas may not import a simulator. Of several nodes that have them, all
// use those of one (platform/nodes/sandbox.ts).

/** Simulators of one node. */
export class Simulators {
  /** Addresses of simulators others may connect to: name → URL. */
  readonly addresses = new Map<string, string>()
  /** What the simulators of the node that all use share, by name; null when this is that node, or there is none. */
  elsewhere: Readonly<Record<string, unknown>> | null = null
}

/** What nodes share of a simulator: data, such as an address and a password. */
interface Sharing<T, Shared> {
  of(gives: T): Shared
  is(value: unknown): value is Shared
}

interface Holder {
  readonly simulators: Simulators
}

/** Simulator as its area knows it: `T` is its interface on its own node, `Shared` what other nodes know of it. */
export class Simulator<T, Shared = never> {
  readonly name: string
  readonly #sharing: Sharing<T, Shared> | null
  readonly #given = new WeakMap<Simulators, T>()

  constructor(name: string, sharing: Sharing<T, Shared> | null = null) {
    this.name = name
    this.#sharing = sharing
  }

  /** Interface of this node's simulator; null where nothing is simulated. */
  of({ simulators }: Holder): T | null {
    return this.#given.get(simulators) ?? null
  }

  /** This node's simulator where it is the one that all nodes use; null elsewhere. */
  ofAll(holder: Holder): T | null {
    return holder.simulators.elsewhere === null ? this.of(holder) : null
  }

  /** What is shared of the simulator that all nodes use; null when there is none. */
  shared(holder: Holder): Shared | null {
    const { elsewhere } = holder.simulators
    if (elsewhere === null) return this.share(holder)
    const value = elsewhere[this.name]
    return this.#sharing?.is(value) ? value : null
  }

  /** What this node's simulator shares. */
  share(holder: Holder): Shared | null {
    const given = this.of(holder)
    return given === null ? null : (this.#sharing?.of(given) ?? null)
  }

  /** Registers a running simulator. */
  started(simulators: Simulators, gives: T): void {
    this.#given.set(simulators, gives)
  }
}

/** Whether a value that another node shares is an object of texts. */
export function areTexts(value: unknown): value is Readonly<Record<string, string>> {
  return typeof value === 'object' && value !== null && Object.values(value).every((text) => typeof text === 'string')
}
