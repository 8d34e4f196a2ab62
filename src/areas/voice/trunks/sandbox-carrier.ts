// SPDX-License-Identifier: Apache-2.0
// Simulated telephone network for test calls, with commands for its phones.
import { Simulator } from '../../../platform/program/simulators.ts'

export interface SimulatedCarrier {
  readonly host: string
  readonly port: number
  /** Make a phone call a number at a SIP address; `token` comes back in the header X-Pamoja-Sandbox. */
  call(from: string, to: string, at: { host: string; port: number }, token: string): void
  /** Name the phone of a call made by `call` after the call's id. */
  rename(token: string, call: string): void
  /** Press keys on the phone of a call; false when it has none. */
  press(call: string, digits: string): boolean
  say(call: string, samples: Int16Array): boolean
  hangup(call: string): boolean
  /** Answer a ringing phone; false when it does not ring. */
  answer(call: string): boolean
  /** Audio and digits the phone heard. */
  heard(call: string): { samples: Int16Array; digits: string } | null
}

export const simulatedCarrier = new Simulator<SimulatedCarrier>('sip-carrier')
