// SPDX-License-Identifier: Apache-2.0
// The whole way of a message: accepted, submitted over SMPP, its receipt stored, the customer told of it. Beside Kannel,
// where it is installed, on the same message centre and the same customer, in the same run. Both work at a backlog that
// is held: a message is handed in when one has come to its end. Ours commits with fsync before it accepts and tells the
// customer twice, of `sent` and of `delivered`, signed; Kannel keeps messages in memory and is asked to tell once.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { kannelMissing, startKannel } from '../test/interop/kannel.ts'
import { type Figure, fsyncMs } from './report.ts'
import { type SmsInstallation, startSmsInstallation } from './sms-installation.ts'

const windows = [10, 100]
const backlog = 500
const connections = 32
/** A message that has not come to its end after so long without news of any is lost. */
const patienceMs = 15_000
const text = 'Your order 4512 is on its way and arrives before noon. Thank you!'
const recipient = '+254712345678'

/** What is measured: how a message is handed in. */
interface Gateway {
  origin: string
  request(n: number): { method: 'GET' | 'POST'; path: string; headers?: Record<string, string>; body?: string }
  isAccepted(status: number): boolean
}

interface Outcome {
  perSecond: number
  lost: number
}

export async function smsEndToEnd({ short }: { short: boolean }): Promise<Figure[]> {
  const durationMs = short ? 1_500 : 15_000
  const installation = await startSmsInstallation()
  const customer = await startCustomer()
  const figures: Figure[] = []
  const ours: Outcome[] = []
  const theirs: Outcome[] = []
  try {
    const missing = kannelMissing()
    if (missing !== null) process.stderr.write(`Kannel is left out: ${missing}.\n`)
    for (const window of windows) {
      await installation.bind({ window })
      const gateway = await ourGateway(installation, customer.url)
      // The program is compiled as it runs; what that costs at the beginning is left out.
      if (ours.length === 0) await through(gateway, customer, durationMs)
      const us = await through(gateway, customer, durationMs)
      ours.push(us)
      figures.push(...shown('Pamoja', window, us))
      if (missing !== null) continue
      const kannel = await startKannel({ smscPort: installation.centrePort, window })
      try {
        const them = await through(kannelGateway(kannel, customer.url), customer, durationMs)
        theirs.push(them)
        figures.push(...shown('Kannel', window, them))
      } finally {
        await kannel.stop()
      }
    }
    const [our, their] = [best(ours), best(theirs)]
    if (our !== null && their !== null)
      figures.push({ name: 'ratio, best to Kannel’s best without loss', value: our / their, unit: '' })
    figures.push({ name: 'one fsync, median', value: fsyncMs(installation.home), unit: 'ms' })
    return figures
  } finally {
    await customer.stop()
    await installation.stop()
  }
}

function shown(who: string, window: number, { perSecond, lost }: Outcome): Figure[] {
  return [
    { name: `${who}, window ${window}`, value: perSecond, unit: 'messages/s' },
    { name: `${who}, window ${window}, never told of`, value: lost, unit: 'messages' },
  ]
}

function best(outcomes: readonly Outcome[]): number | null {
  const lossless = outcomes.filter(({ lost }) => lost === 0)
  return lossless.length === 0 ? null : Math.max(...lossless.map(({ perSecond }) => perSecond))
}

async function ourGateway({ node, account }: SmsInstallation, customerUrl: string): Promise<Gateway> {
  const headers = { authorization: `Bearer ${await account()}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ to: recipient, from: 'PAMOJA', message: text, callback_url: customerUrl })
  return {
    origin: node.url,
    request: () => ({ method: 'POST', path: '/v1/sms/send', headers, body }),
    isAccepted: (status) => status === 200,
  }
}

function kannelGateway({ sendPort, sendPath }: Awaited<ReturnType<typeof startKannel>>, customerUrl: string): Gateway {
  const path = sendPath({ from: 'PAMOJA', to: recipient, text, 'dlr-mask': '3', 'dlr-url': `${customerUrl}?n=` })
  return {
    origin: `http://127.0.0.1:${sendPort}`,
    request: (n) => ({ method: 'GET', path: `${path}${n}` }),
    isAccepted: (status) => status === 202,
  }
}

/** Hands in messages as others come to their end; the first fifth of the time is not counted. */
async function through(gateway: Gateway, customer: Customer, durationMs: number): Promise<Outcome> {
  customer.reset()
  const pool = new Pool(gateway.origin, { connections, connect: { rejectUnauthorized: false } })
  const endsAt = performance.now() + durationMs
  let handedIn = 0
  let accepted = 0
  const hand = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      if (handedIn - customer.delivered >= backlog) {
        await pause(1)
        continue
      }
      const { statusCode, body } = await pool.request(gateway.request(++handedIn))
      await body.dump()
      if (!gateway.isAccepted(statusCode)) throw new Error(`a message was answered ${statusCode}`)
      accepted++
    }
  }
  const load = Promise.all(Array.from({ length: connections }, hand))
  await pause(durationMs / 5)
  const [from, fromMs] = [customer.delivered, performance.now()]
  await load
  const perSecond = ((customer.delivered - from) / (performance.now() - fromMs)) * 1_000
  await pool.close()
  for (let last = -1, since = performance.now(); customer.delivered < accepted; ) {
    if (customer.delivered !== last) [last, since] = [customer.delivered, performance.now()]
    if (performance.now() - since > patienceMs) break
    await pause(20)
  }
  return { perSecond, lost: accepted - customer.delivered }
}

/** Hears of deliveries, over plain HTTP from both: ours by POST with the event, Kannel's by GET. */
interface Customer {
  url: string
  /** Different messages that it heard were delivered. */
  readonly delivered: number
  reset(): void
  stop(): Promise<void>
}

async function startCustomer(): Promise<Customer> {
  let delivered = new Set<string>()
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('latin1')
    request.on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      if (request.method === 'GET') delivered.add(request.url ?? '')
      else if (body.includes('"status":"delivered"')) delivered.add(String(request.headers['x-service-delivery-id']))
      response.end('ok')
    })
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the customer has no port')
  return {
    url: `http://127.0.0.1:${address.port}/told`,
    get delivered() {
      return delivered.size
    },
    reset() {
      delivered = new Set()
    },
    async stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}
