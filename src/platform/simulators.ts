// SPDX-License-Identifier: Apache-2.0
// The other side of the wire where it is simulated: on nodes with the role `sandbox`. An area declares the simulators that it
// speaks to and what each gives it; src/simulation.ts starts them, because areas may not import a simulator.

/** The simulators that run beside one node. */
export class Simulators {
  /** Where those listen that others may speak to: name -> URL. */
  readonly addresses = new Map<string, string>()
}

/** A simulator as its area knows it: `T` is what it gives, such as an address and a password. */
export class Simulator<T> {
  readonly name: string
  readonly #given = new WeakMap<Simulators, T>()

  constructor(name: string) {
    this.name = name
  }

  /** What it gave when it was started; null where nothing is simulated. */
  of({ simulators }: { readonly simulators: Simulators }): T | null {
    return this.#given.get(simulators) ?? null
  }

  /** Says that it runs. */
  started(simulators: Simulators, gives: T): void {
    this.#given.set(simulators, gives)
  }
}
