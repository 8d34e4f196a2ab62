// SPDX-License-Identifier: Apache-2.0
// Number of the handset that the reader last looked at, and calls that pages make with it.
import { store } from '../store.ts'

const kept = 'pamoja-phone'

export function phoneNumber(): string {
  return localStorage.getItem(kept) ?? '+254711000001'
}

export function keepPhoneNumber(number: string): void {
  localStorage.setItem(kept, number)
}

/** Changes when a page has made the handset call, so that it shows its calls. */
export const calling = store(0)
