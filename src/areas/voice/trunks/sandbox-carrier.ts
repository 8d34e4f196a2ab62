// SPDX-License-Identifier: Apache-2.0
// The simulated telephone network: where test calls go, and what a test may make its phones do.
import { Simulator } from '../../../platform/simulators.ts'

export interface SimulatedCarrier {
  readonly host: string
  readonly port: number
  /** Has a phone call a number at the SIP address given; `token` comes back in the header X-Pamoja-Sandbox. */
  call(from: string, to: string, at: { host: string; port: number }, token: string): void
  /** The phone that was asked to call is in this call. */
  rename(token: string, call: string): void
  /** What the phone of a call does; false if it has none. */
  press(call: string, digits: string): boolean
  say(call: string, samples: Int16Array): boolean
  hangup(call: string): boolean
  /** Has a phone that rings answer; false if it does not ring. */
  answer(call: string): boolean
  /** What the phone has heard: sound, and keys that were pressed for it. */
  heard(call: string): { samples: Int16Array; digits: string } | null
}

export const simulatedCarrier = new Simulator<SimulatedCarrier>('sip-carrier')
