// SPDX-License-Identifier: Apache-2.0
// The books of an installation's simulated acquirer, as whoever has an account with it reads them.
import pg from 'pg'
import { uuidOf } from '../src/kernel/ids.ts'
import type { World } from './world.ts'

interface Intent {
  status: string
  amount_received: number
}

/** What the acquirer has of a payment, if anything. */
export async function intentOf(world: World, payment: string): Promise<Intent | undefined> {
  const client = new pg.Client({ connectionString: world.databaseUrl })
  await client.connect()
  const { rows } = await client.query('select id from payments.attempts where payment_id = $1', [
    uuidOf('payment', payment),
  ])
  await client.end()
  return (await ask(world, `/v1/payment_intents?reference=${rows[0].id}`)).data[0]
}

/** What it has taken, in minor units by currency. */
export async function charged(world: World): Promise<Record<string, number>> {
  return (await ask(world, '/v1/payment_intents/books')).charged
}

async function ask({ app }: World, path: string) {
  const { base_url = '', secret_key = '' } = app.simulators.payments.acquirer ?? {}
  const reply = await fetch(`${base_url}${path}`, { headers: { authorization: `Bearer ${secret_key}` } })
  return JSON.parse(await reply.text())
}
