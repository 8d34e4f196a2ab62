// SPDX-License-Identifier: Apache-2.0
// Simulated registry for test keys. The document number in the request selects its answer.
import { areTexts, Simulator } from '../../../platform/program/simulators.ts'

interface SimulatedRegistry {
  readonly url: string
  readonly token: string
}

export const simulatedRegistry = new Simulator<SimulatedRegistry, SimulatedRegistry>('registry', {
  of: (registry) => registry,
  is: (value): value is SimulatedRegistry => areTexts(value) && 'url' in value && 'token' in value,
})

/** Number endings that select the simulator's answer. Such a number is not compared with the document. */
const endings = ['0000', '0001', '0003', '0007']

export function choosesAnswer(number: string): boolean {
  return endings.some((ending) => number.endsWith(ending))
}
