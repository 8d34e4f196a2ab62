// SPDX-License-Identifier: Apache-2.0
// Number of the handset that the reader last looked at.

const kept = 'pamoja-phone'

export function phoneNumber(): string {
  return localStorage.getItem(kept) ?? '+254711000001'
}

export function keepPhoneNumber(number: string): void {
  localStorage.setItem(kept, number)
}
