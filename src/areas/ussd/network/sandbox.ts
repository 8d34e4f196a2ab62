// SPDX-License-Identifier: Apache-2.0
// The simulated USSD network: where test sessions take place, and what a test may make its handsets do.
import { Simulator } from '../../../platform/simulators.ts'

export interface UssdNetwork {
  readonly host: string
  readonly port: number
  readonly systemId: string
  readonly password: string
  /** Has a handset dial; gives the dialog once the platform has taken it, or the status that it was refused with. */
  dial(phone: string, dialled: string): Promise<{ readonly dialog: number; readonly status: number }>
  /** Has a handset answer its screen; gives the command_status, null when it sees none that can be answered. */
  input(phone: string, text: string): Promise<number | null>
  cancel(phone: string): Promise<void>
  /** What a handset sees now, or next; null when nothing came in time or the dialog is over. */
  screen(phone: string, withinMs: number): Promise<{ readonly text: string; readonly isOpen: boolean } | null>
}

export const ussdNetwork = new Simulator<UssdNetwork>('ussd')
