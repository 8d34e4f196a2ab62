// SPDX-License-Identifier: Apache-2.0
// The whole way of a message: accepted, submitted over SMPP, its receipt stored, the customer told of it. Beside Kannel,
// where it is installed, on the same message centre and the same customer, in the same run. Both work at a backlog that
// is held: a message is handed in when one has come to its end. Both call the customer twice, for `sent` and for `delivered`;
// ours commits with fsync before it accepts and signs its calls, Kannel keeps messages in memory. Kannel is measured once more
// with the outcome alone, which is less work than ours.
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { kannelMissing, startKannel } from '../test/interop/kannel.ts'
import { type Customer, startCustomer } from './customer.ts'
import { load, post } from './load.ts'
import { type Figure, fsyncMs } from './report.ts'
import { type SmsInstallation, startSmsInstallation } from './sms-installation.ts'

const windows = [10, 100]
const backlog = 500
const connections = 32
/** A message that has not come to its end after so long without news of any is lost. */
const patienceMs = 15_000
const text = 'Your order 4512 is on its way and arrives before noon. Thank you!'
const recipient = '+254712345678'
/** Kannel's `dlr-mask`: 1 delivered, 2 not delivered, 8 taken by the message centre. */
const masks = { both: '11', outcome: '3' } as const
type Told = keyof typeof masks

/** Way to hand in a message, which is measured. */
interface Gateway {
  port: number
  /** Certificate authority; null for plain HTTP. */
  ca: string | null
  request(n: number): Buffer
  accepted: string
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
  const theirs: Record<Told, Outcome[]> = { both: [], outcome: [] }
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
        for (const told of ['both', 'outcome'] as const) {
          const them = await through(kannelGateway(kannel, customer.url, told), customer, durationMs)
          theirs[told].push(them)
          figures.push(...shown(told === 'both' ? 'Kannel' : 'Kannel, outcome only', window, them))
        }
      } finally {
        await kannel.stop()
      }
    }
    figures.push(...ratio('ratio, best to Kannel’s best without loss', ours, theirs.both))
    figures.push(...ratio('ratio, to Kannel’s best with the outcome only', ours, theirs.outcome))
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

function ratio(name: string, ours: readonly Outcome[], theirs: readonly Outcome[]): Figure[] {
  const [our, their] = [best(ours), best(theirs)]
  return our === null || their === null ? [] : [{ name, value: our / their, unit: '' }]
}

function best(outcomes: readonly Outcome[]): number | null {
  const lossless = outcomes.filter(({ lost }) => lost === 0)
  return lossless.length === 0 ? null : Math.max(...lossless.map(({ perSecond }) => perSecond))
}

async function ourGateway({ node, account }: SmsInstallation, customerUrl: string): Promise<Gateway> {
  const body = JSON.stringify({ to: recipient, from: 'PAMOJA', message: text, callback_url: customerUrl })
  const request = post('/v1/sms/send', await account(), body)
  return { port: node.port, ca: readFileSync(node.caFile, 'utf8'), request: () => request, accepted: '200' }
}

function kannelGateway(
  { sendPort, sendPath }: Awaited<ReturnType<typeof startKannel>>,
  customerUrl: string,
  told: Told,
): Gateway {
  // Kannel writes what it tells of for %d.
  const url = `${customerUrl}?told=%d&n=`
  const path = sendPath({ from: 'PAMOJA', to: recipient, text, 'dlr-mask': masks[told], 'dlr-url': url })
  return {
    port: sendPort,
    ca: null,
    request: (n) => Buffer.from(`GET ${path}${n} HTTP/1.1\r\nHost: localhost\r\n\r\n`),
    accepted: '202',
  }
}

/** Hands in messages as others come to their end; the first fifth of the time is not counted. */
async function through(gateway: Gateway, customer: Customer, durationMs: number): Promise<Outcome> {
  customer.reset()
  let handedIn = 0
  const loading = load({
    ...gateway,
    connections,
    durationMs,
    next: () => gateway.request(++handedIn),
    mayGo: () => handedIn - customer.delivered < backlog,
    onMayGo: (go) => customer.onDelivered(go),
  })
  await pause(durationMs / 5)
  const [from, fromMs] = [customer.delivered, performance.now()]
  const { statuses } = await loading
  const perSecond = ((customer.delivered - from) / (performance.now() - fromMs)) * 1_000
  const { [gateway.accepted]: accepted = 0, ...others } = statuses
  if (Object.keys(others).length > 0) throw new Error(`messages were answered ${JSON.stringify(others)}`)
  for (let last = -1, since = performance.now(); customer.delivered < accepted; ) {
    if (customer.delivered !== last) [last, since] = [customer.delivered, performance.now()]
    if (performance.now() - since > patienceMs) break
    await pause(20)
  }
  return { perSecond, lost: accepted - customer.delivered }
}
