// SPDX-License-Identifier: Apache-2.0
// Dialog ids. A gateway numbers dialogs per phone; the platform adds the phone, which makes them unique.
import { randomInt } from 'node:crypto'
import { dialogsOf, type UssdProfile } from '../../../protocols/smpp/ussd.ts'

export function dialogName(phone: string, number: number): string {
  return `${phone}/${number}`
}

export function dialogNumber(name: string): number {
  return Number(name.slice(name.lastIndexOf('/') + 1))
}

/** Range of random dialog numbers. */
const maxNumbers = 2 ** 32

/** Dialog id of a session the network does not know yet. */
export function newDialog(phone: string, profile: UssdProfile): string {
  return dialogName(phone, randomInt(Math.min(maxNumbers, dialogsOf(profile))))
}
