// SPDX-License-Identifier: Apache-2.0
// Collecting payments from a provider on a real port, fsync on: how long a customer waits for the answer at 300 requests a
// second, while every payment goes its whole way behind it; and how soon after the provider's callback the customer's
// server is told.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { readStkCallback } from '../src/protocols/daraja.ts'
import { DarajaSimulator } from '../src/simulators/daraja.ts'
import { Client } from '../test/client.ts'
import { eventually } from '../test/eventually.ts'
import { end, start, startNodeProcess } from './children.ts'
import { openAccounts } from './durable-write.ts'
import { newHome } from './home.ts'
import { type LoadResult, load, post } from './load.ts'
import type { Figure } from './report.ts'

const connections = 32
const perSecond = 300
const perSecondTold = 50
const merchant = { shortcode: '600000', passkey: 'passkey', consumerKey: 'key', consumerSecret: 'secret' }
const initiator = { name: 'bench', password: 'secret', shortcode: '600000' }
/** Payers take a fifth of a second. */
const timeScale = 0.1

export async function payments({ short }: { short: boolean }): Promise<Figure[]> {
  return [...(await accepting(short)), ...(await wholeWay(short))]
}

/** Figures of a node that accepts payments and leaves the rest to others. */
async function accepting(short: boolean): Promise<Figure[]> {
  const home = await newHome()
  const node = await startNodeProcess({ PAMOJA_HOME: home, PAMOJA_RATE_LIMITS: 'off', PAMOJA_ROLES: 'api' })
  const tls = [join(home, 'tls/server.pem'), join(home, 'tls/server-key.pem')]
  const bare = await start<{ port: number }>('./bare-server.js', tls, {})
  const ca = readFileSync(node.caFile, 'utf8')
  const operator = new Client(node.url, ca, node.credentials.operator_key)
  try {
    const keys = await openAccounts(operator)
    let n = 0
    const next = (): Buffer => paymentOf(++n, keys)
    const settings = { ca, connections, durationMs: short ? 1_000 : 10_000, rate: perSecond }
    await load({ ...settings, port: node.port, next })
    const accepted = await load({ ...settings, port: node.port, next })
    requireAll(accepted)
    const plain = next()
    const route = await load({ ...settings, port: bare.said.port, next: () => plain })
    return [
      { name: `POST /v1/payments at ${perSecond}/s, p99`, value: accepted.p99Ms, unit: 'ms', ...timesOf(accepted) },
      { name: 'bare route at that rate, p99', value: route.p99Ms, unit: 'ms', ...timesOf(route) },
    ]
  } finally {
    operator.close()
    await end(bare.child)
    await end(node.child)
    await rm(home, { recursive: true, force: true })
  }
}

/** Figures with the provider, the callbacks and the webhooks of every payment on the same machine. */
async function wholeWay(short: boolean): Promise<Figure[]> {
  const home = await newHome()
  const node = await startNodeProcess({
    PAMOJA_HOME: home,
    PAMOJA_RATE_LIMITS: 'off',
    PAMOJA_SANDBOX_TIME_SCALE: String(timeScale),
  })
  const ca = readFileSync(node.caFile, 'utf8')
  /** Amount -> when the provider called, and when the customer was told. Every amount is asked for once. */
  const calledMs = new Map<string, number>()
  const toldMs = new Map<string, number>()
  const provider = await DarajaSimulator.start({
    ...{ ...merchant, initiator, host: '127.0.0.1', timeScale, now: Date.now, ca: () => ca },
    onCall: (body) => calledMs.set(readStkCallback(body)?.amount ?? '', performance.now()),
  })
  const customer = await startCustomer((amount) => toldMs.set(amount, performance.now()))
  const operator = new Client(node.url, ca, node.credentials.operator_key)
  try {
    const keys = await openAccounts(operator)
    const entered = await operator.post('/v1/operator/payments/providers', {
      ...{ provider: 'mpesa', country: 'KE', environment: 'test', base_url: `http://127.0.0.1:${provider.port}` },
      ...{ shortcode: merchant.shortcode, passkey: merchant.passkey },
      ...{ consumer_key: merchant.consumerKey, consumer_secret: merchant.consumerSecret },
    })
    if (entered.status !== 201) throw new Error(`the operator was answered ${entered.status} ${entered.text}`)
    let n = 0
    const next = (): Buffer => paymentOf(++n, keys, { callback_url: customer.url })
    const settings = { ca, connections, durationMs: short ? 1_000 : 10_000 }
    /** Gives when all of them are paid and the customers were told. */
    const collect = async (rate: number) => {
      const first = n + 1
      const result = await load({ ...settings, port: node.port, rate, next })
      requireAll(result)
      await eventually(async () => toldMs.size === n, 'every customer to be told', 120_000)
      return { ...result, amounts: Array.from({ length: result.requests }, (_, i) => String(first + i)) }
    }
    await collect(perSecondTold)
    const accepted = await collect(perSecond)
    const { amounts } = await collect(perSecondTold)
    const waits = amounts.map((amount) => (toldMs.get(amount) ?? 0) - (calledMs.get(amount) ?? 0)).sort((a, b) => a - b)
    const at = (part: number): number => waits[Math.floor(waits.length * part)] ?? 0
    return [
      {
        name: `POST at ${perSecond}/s with all that follows, p99`,
        value: accepted.p99Ms,
        unit: 'ms',
        ...timesOf(accepted),
      },
      {
        name: `callback to webhook at ${perSecondTold}/s, p99`,
        value: at(0.99),
        unit: 'ms',
        p50Ms: at(0.5),
        p99Ms: at(0.99),
      },
    ]
  } finally {
    operator.close()
    await customer.stop()
    await provider.stop()
    await end(node.child)
    await rm(home, { recursive: true, force: true })
  }
}

function paymentOf(n: number, keys: readonly string[], more: object = {}): Buffer {
  const body = { amount: n, currency: 'KES', phone: phoneOf(n), ...more }
  return post('/v1/payments?wait=0', keys[n % keys.length] ?? '', JSON.stringify(body))
}

function requireAll({ statuses, requests }: LoadResult): void {
  if (statuses['201'] !== requests) throw new Error(`payments were answered ${JSON.stringify(statuses)}`)
}

const timesOf = ({ p50Ms, p99Ms, cpu }: LoadResult) => ({ p50Ms, p99Ms, cpu })

/** No number of the sandbox that forces an outcome: those end in 00NN. */
const phoneOf = (n: number): string => `+2547${String(20_111_111 + (n % 8_000))}`

/** A customer's server that hears of completed payments. */
async function startCustomer(told: (amount: string) => void): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      const { event, amount } = JSON.parse(text)
      if (event === 'payment.completed') told(String(amount))
      response.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address: AddressInfo | string | null = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
