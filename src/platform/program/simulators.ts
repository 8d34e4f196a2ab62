// SPDX-License-Identifier: Apache-2.0
// Simulators of the sandbox, on nodes with the role `sandbox`. An area declares the simulators it talks to;
// src/simulation/simulation.ts starts them, because areas may not import a simulator.

/** Simulators of one node. */
export class Simulators {
  /** Addresses of simulators others may connect to: name → URL. */
  readonly addresses = new Map<string, string>()
}

/** Simulator as its area knows it: `T` is its interface, such as an address and a password. */
export class Simulator<T> {
  readonly name: string
  readonly #given = new WeakMap<Simulators, T>()

  constructor(name: string) {
    this.name = name
  }

  /** Interface of the running simulator; null where nothing is simulated. */
  of({ simulators }: { readonly simulators: Simulators }): T | null {
    return this.#given.get(simulators) ?? null
  }

  /** Register a running simulator. */
  started(simulators: Simulators, gives: T): void {
    this.#given.set(simulators, gives)
  }
}
