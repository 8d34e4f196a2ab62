// SPDX-License-Identifier: Apache-2.0
// Names of dialogs. A gateway counts them, each for one phone; the platform adds the phone, so that a name is one dialog's.
import { randomInt } from 'node:crypto'
import { dialogsOf, type UssdProfile } from '../../../protocols/smpp/ussd.ts'

export function dialogName(phone: string, number: number): string {
  return `${phone}/${number}`
}

export function dialogNumber(name: string): number {
  return Number(name.slice(name.lastIndexOf('/') + 1))
}

/** The most that a random number is drawn from. */
const mostNumbers = 2 ** 32

/** A dialog for a session that the network does not know yet. */
export function newDialog(phone: string, profile: UssdProfile): string {
  return dialogName(phone, randomInt(Math.min(mostNumbers, dialogsOf(profile))))
}
