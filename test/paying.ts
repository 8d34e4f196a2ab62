// SPDX-License-Identifier: Apache-2.0
// What customers look at in every journey about money: how a payment or a payout ended, and what the wallet holds.
import type { Client } from './client.ts'
import { eventually } from './eventually.ts'

/** An answer may get lost: then the provider is asked when whoever sent the question is taken for dead. */
const askedAgainMs = 60_000
const endsOfPayments = ['completed', 'failed', 'cancelled', 'expired']
const endsOfPayouts = ['completed', 'failed', 'cancelled', 'reversed']

/** The payment once nothing more becomes of it. */
export function settled(client: Client, payment: string) {
  return ended(client, `/v1/payments/${payment}?wait=20`, endsOfPayments)
}

/** The payout once nothing more becomes of it. */
export function over(client: Client, payout: string) {
  return ended(client, `/v1/payouts/${payout}`, endsOfPayouts)
}

function ended(client: Client, path: string, ends: readonly string[]) {
  return eventually(
    async () => {
      const { body } = await client.get(path)
      return ends.includes(body.status) && body
    },
    `the end of ${path}`,
    askedAgainMs,
  )
}

/** In the account's own currency, unless another is named. */
export async function wallet(client: Client, currency?: string): Promise<{ balance: number; held: number }> {
  const query = currency === undefined ? '' : `?currency=${currency}`
  const { balance, held } = (await client.get(`/v1/wallet/balance${query}`)).body
  return { balance, held }
}
