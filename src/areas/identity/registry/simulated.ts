// SPDX-License-Identifier: Apache-2.0
// The simulated registry as this area knows it: what test keys ask. The number that the caller typed chooses its answer.
import { Simulator } from '../../../platform/simulators.ts'

interface SimulatedRegistry {
  readonly url: string
  readonly token: string
}

export const simulatedRegistry = new Simulator<SimulatedRegistry>('registry')

/** Ends of numbers that choose what the simulator answers. Such a number is the registry's alone: it is no claim. */
const endings = ['0000', '0001', '0003', '0007']

export function choosesAnswer(number: string): boolean {
  return endings.some((ending) => number.endsWith(ending))
}
