// SPDX-License-Identifier: Apache-2.0
// Ids, money and networks as Africa's Talking writes them.
import { uuidOf } from '../../kernel/ids.ts'
import { resolveNetwork } from '../../kernel/phone.ts'

/** `ATXid_` and the 32 digits of a message's UUID. */
export function messageIdOf(id: string): string {
  const uuid = uuidOf('sms', id) ?? uuidOf('smsInbound', id)
  return `ATXid_${(uuid ?? '').replaceAll('-', '')}`
}

/** Amount in major units with four decimals: `KES 0.8000`. */
export function moneyOf(amount: number, currency: string): string {
  return `${currency} ${amount.toFixed(4)}`
}

/** Mobile country and network code of a number: 63902 is Safaricom's; 99999 where it is not known. */
export function networkCodeOf(phone: string, network: string | null): string {
  return (network === null ? null : resolveNetwork(phone, network).code) ?? '99999'
}
