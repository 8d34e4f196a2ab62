// SPDX-License-Identifier: Apache-2.0
// The books of an installation's simulated acquirer, as whoever has an account with it reads them, and a door before it that
// can be kept shut.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { simulatedAccounts } from '../src/areas/payments/gateway/simulated.ts'
import { uuidOf } from '../src/kernel/ids.ts'
import { lookInto } from './looking.ts'
import type { World } from './world.ts'

interface Intent {
  status: string
  amount_received: number
}

/** Intent that the acquirer has of a payment, if any. */
export async function intentOf(world: World, payment: string): Promise<Intent | undefined> {
  const client = lookInto(world)
  await client.connect()
  const { rows } = await client.query('select id from payments.attempts where payment_id = $1', [
    uuidOf('payment', payment),
  ])
  await client.end()
  return (await ask(world, `/v1/payment_intents?reference=${rows[0].id}`)).data[0]
}

/** Money that it has taken, in minor units by currency. */
export async function charged(world: World): Promise<Record<string, number>> {
  return (await ask(world, '/v1/payment_intents/books')).charged
}

async function ask({ app }: World, path: string) {
  const { base_url = '', secret_key = '' } = simulatedAccounts(app).acquirer ?? {}
  const reply = await fetch(`${base_url}${path}`, { headers: { authorization: `Bearer ${secret_key}` } })
  return JSON.parse(await reply.text())
}

interface Door {
  /** Number of captures that it did not take. */
  refused: number
  close(): void
}

/** Puts a door before the installation's acquirer that takes no capture the first few times. */
export async function busyAtCapture({ app, operator }: World, times: number): Promise<Door> {
  const { acquirer = {} } = simulatedAccounts(app)
  const server = createServer(async (request, response) => {
    const { url = '', method = '', headers } = request
    const body = await text(request)
    if (url.endsWith('/capture') && door.refused < times) {
      door.refused++
      return void response.writeHead(429).end('{}')
    }
    const { authorization = '', 'idempotency-key': key = '' } = headers
    const sent = { authorization, 'content-type': 'application/json', 'idempotency-key': String(key) }
    const options = { method, headers: sent, ...(method === 'POST' ? { body } : {}) }
    const reply = await fetch(`${acquirer.base_url}${url}`, options)
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(await reply.text())
  })
  const door: Door = {
    refused: 0,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const base_url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  const account = { provider: 'acquirer', environment: 'test', ...acquirer, base_url }
  const entered = await operator.post('/v1/operator/payments/providers', account)
  assert.equal(entered.status, 201, entered.text)
  return door
}
