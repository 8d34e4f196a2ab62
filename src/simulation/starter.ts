// SPDX-License-Identifier: Apache-2.0
// Start of a simulator for the area that declares it, and its surroundings.
import type { Clock } from '../platform/clock.ts'
import type { Simulator, Simulators } from '../platform/program/simulators.ts'

/** Simulators are for those who sit at this machine, but for those that other nodes use too. */
export const host = '127.0.0.1'

export interface Surroundings {
  readonly clock: Clock
  /** Address of the simulators that other nodes use too. */
  readonly sharedHost: string
  /** Factor on waiting times. */
  readonly timeScale: number
  /** The certificate authority of the node that is called back; undefined for the well-known ones. */
  readonly ca: string | undefined
  /** Certificate and key of the node, for simulators that speak TLS. */
  readonly identity: { readonly key: string; readonly cert: string }
  /** Fulfilled when the node can be called back. */
  readonly ready: Promise<void>
  /** Journal file of a simulator; null: none. */
  journalOf(simulator: string): string | null
  onProblem(error: unknown): void
}

export interface Running<T> {
  readonly gives: T
  /** URL at which it can be reached. */
  readonly address?: string
  /** Further addresses: name -> URL. */
  readonly moreAddresses?: Readonly<Record<string, string>>
  stop(): Promise<void>
}

export interface Starter {
  readonly simulator: Simulator<unknown, unknown>
  /** Starts a simulator; returns the function that stops it. */
  start(surroundings: Surroundings, simulators: Simulators): Promise<() => Promise<void>>
}

/** Ties a simulator to the declaration of the area that speaks to it. */
export function starter<T, Shared>(
  simulator: Simulator<T, Shared>,
  run: (surroundings: Surroundings) => Promise<Running<T>>,
): Starter {
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
