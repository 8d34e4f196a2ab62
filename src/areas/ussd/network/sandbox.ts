// SPDX-License-Identifier: Apache-2.0
// Simulated USSD network for test sessions, with commands for its handsets.
import { Simulator } from '../../../platform/program/simulators.ts'

export interface UssdNetwork {
  readonly host: string
  readonly port: number
  readonly systemId: string
  readonly password: string
  /** Dial on a handset; returns the dialog once accepted, or the refusing status. */
  dial(phone: string, dialled: string): Promise<{ readonly dialog: number; readonly status: number }>
  /** Answers the screen of a handset; returns the command_status, or null when there is no screen to answer. */
  input(phone: string, text: string): Promise<number | null>
  cancel(phone: string): Promise<void>
  /** Current or next screen of a handset; null on timeout or when the dialog ended. */
  screen(phone: string, withinMs: number): Promise<{ readonly text: string; readonly isOpen: boolean } | null>
}

export const ussdNetwork = new Simulator<UssdNetwork>('ussd')
