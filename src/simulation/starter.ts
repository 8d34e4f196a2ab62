// SPDX-License-Identifier: Apache-2.0
// How a simulator is started for the area that declares it, and what it is given to live on.
import type { Clock } from '../platform/clock.ts'
import type { Simulator, Simulators } from '../platform/simulators.ts'

/** Simulators are for those who sit at this machine. */
export const host = '127.0.0.1'

export interface Surroundings {
  readonly clock: Clock
  /** What a second of waiting takes. */
  readonly timeScale: number
  /** The certificate authority of the node that is called back; undefined for the well-known ones. */
  readonly ca: string | undefined
  /** Certificate and key of the node, for simulators that speak TLS. */
  readonly identity: { readonly key: string; readonly cert: string }
  /** Fulfilled when the node can be called back. */
  readonly ready: Promise<void>
  /** Where a simulator writes down what it must not forget; null: nowhere. */
  journalOf(simulator: string): string | null
  onProblem(error: unknown): void
}

export interface Running<T> {
  readonly gives: T
  /** Where others may speak to it, as a URL. */
  readonly address?: string
  /** The same for what else it listens on: name -> URL. */
  readonly moreAddresses?: Readonly<Record<string, string>>
  stop(): Promise<void>
}

export interface Starter {
  readonly simulator: Simulator<unknown>
  /** Gives the way to stop it. */
  start(surroundings: Surroundings, simulators: Simulators): Promise<() => Promise<void>>
}

/** Ties a simulator to the declaration of the area that speaks to it. */
export function starter<T>(simulator: Simulator<T>, run: (surroundings: Surroundings) => Promise<Running<T>>): Starter {
  return {
    simulator,
    async start(surroundings, simulators) {
      const { gives, address, moreAddresses = {}, stop } = await run(surroundings)
      simulator.started(simulators, gives)
      if (address !== undefined) simulators.addresses.set(simulator.name, address)
      for (const [name, url] of Object.entries(moreAddresses)) simulators.addresses.set(name, url)
      return stop
    },
  }
}
