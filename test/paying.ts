// SPDX-License-Identifier: Apache-2.0
// What customers look at in every journey about money: how a payment or a payout ended, and what the wallet holds.
import type pg from 'pg'
import { callbackUrl } from '../src/areas/payments/records/callback-address.ts'
import { uuidOf } from '../src/kernel/ids.ts'
import type { App } from '../src/platform/app.ts'
import { tenantOf } from '../src/platform/tenant.ts'
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

/**
 * Whether a provider's call came before it was asked. Of M-Pesa only the call says how much was paid, and once it was asked
 * that is waited for ten seconds: a very slow machine may miss it, and then the amount is taken for right.
 */
export async function isToldInTime(sql: pg.Client, payment: string): Promise<boolean> {
  const { rows } = await sql.query('select from payments.attempts where payment_id = $1 and said_paid_at is null', [
    uuidOf('payment', payment),
  ])
  return rows.length === 1
}

/** Path that the provider of a payment was given to call, which nobody else is told. */
export async function hookOf(app: App, sql: pg.Client, payment: string): Promise<string> {
  const { rows } = await sql.query(
    'select bucket, account_id, environment, id, token from payments.attempts where payment_id = $1',
    [uuidOf('payment', payment)],
  )
  const [{ id, token, ...row }] = rows
  return new URL(callbackUrl(app, tenantOf(row), { id, token })).pathname
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

/** Wallet in the account's own currency, unless another is named. */
export async function wallet(client: Client, currency?: string): Promise<{ balance: number; held: number }> {
  const query = currency === undefined ? '' : `?currency=${currency}`
  const { balance, held } = (await client.get(`/v1/wallet/balance${query}`)).body
  return { balance, held }
}
