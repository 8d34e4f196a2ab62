// SPDX-License-Identifier: Apache-2.0
// The simulated message centre: where test messages go, and what a test may make its handsets do.
import { Simulator } from '../../../platform/program/simulators.ts'

/** Message centre that any program on this machine can bind to. */
export interface MessageCentre {
  readonly host: string
  readonly port: number
  readonly password: string
  /** Has a handset send a text; fulfilled when the other side has taken it. Gives the command_status. */
  inbound(from: string, to: string, text: string): Promise<number>
  /** Handsets that were out of an account's coverage get what waits for them, but for those that still are. */
  recover(account: string, stillOut: readonly string[]): void
  /** Whether a message of an account waits for a moment by its clock, and what it is told when that was moved. */
  waitsFor(account: string): boolean
  moveClock(account: string, offsetMs: number): void
}

export const messageCentre = new Simulator<MessageCentre>('smsc')
