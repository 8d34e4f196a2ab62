// SPDX-License-Identifier: Apache-2.0
// Simulated telephone network for test calls, with commands for its phones.
import { Simulator } from '../../../platform/program/simulators.ts'
import type { PlainEnd } from '../browser/audio-command.ts'

export interface SimulatedCarrier {
  readonly host: string
  readonly port: number
  /** Makes a phone call a number at a SIP address; `token` comes back in the header X-Pamoja-Sandbox. */
  call(from: string, to: string, at: { host: string; port: number }, token: string): void
  /** Names the phone of a call made by `call` after the call's id. */
  rename(token: string, call: string): void
  /** Presses keys on the phone of a call; false when it has none. */
  press(call: string, digits: string): boolean
  /** Says something, once unless told; 0 says it until the call is over. */
  say(call: string, samples: Int16Array, loop?: number): boolean
  hangup(call: string): boolean
  /** Answers a ringing phone; false when it does not ring. */
  answer(call: string): boolean
  /** Audio and digits the phone heard. */
  heard(call: string): { samples: Int16Array; digits: string } | null
  /** Lets calls to a number ring until they are answered, where `attendant` wants the call; returns how to stop. */
  attend(number: string, attendant: (call: string) => Promise<boolean>): () => void
  /** Lets a person speak and listen by the phone of a call; returns where to send their audio, or null when it has none. */
  join(call: string, person: PlainEnd): Promise<PlainEnd | null>
}

export const simulatedCarrier = new Simulator<SimulatedCarrier>('sip-carrier')
