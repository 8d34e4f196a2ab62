// SPDX-License-Identifier: Apache-2.0
// The whole way of a live message: accepted, submitted over SMPP, its receipt stored, the customer told of it. Beside Kannel,
// where it is installed, on the same message centre and the same customer, in the same run. Both work at a backlog that
// is held: a message is handed in when one has come to its end. Compared are both telling the customer twice, of `sent` and
// of `delivered`; both telling of the outcome only; and a Kannel that keeps what it accepted in files. Ours commits with
// fsync before it accepts, keeps the wallet and signs its calls; Kannel keeps messages in memory, or in files without fsync.
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { kannelMissing, startKannel } from '../test/interop/kannel.ts'
import { type Cpu, cpuMeter, lesser, sumOf, without } from './cpu.ts'
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
/** Bytes of log a message from which a table or an index is told of. */
const leastLog = 20
/** In Lesotho, where any sender may be shown. */
const recipient = '+26658123456'
/** Kannel's `dlr-mask`: 1 delivered, 2 not delivered, 8 taken by the message centre. */
const masks = { all: '11', final: '3' } as const
type Told = keyof typeof masks

/** Those compared; the ratio of each of ours is to those of Kannel's that do as much for the customer. */
const ours: readonly (readonly [string, Told])[] = [
  ['Pamoja, told twice', 'all'],
  ['Pamoja, outcome only', 'final'],
]
const theirs: readonly (readonly [string, Told, { spool: boolean }])[] = [
  ['Kannel, told twice', 'all', { spool: false }],
  ['Kannel, outcome only', 'final', { spool: false }],
  ['Kannel with spool, told twice', 'all', { spool: true }],
]

/** Way to hand in a message, which is measured. */
interface Gateway {
  port: number
  /** Certificate authority; null for plain HTTP. */
  ca: string | null
  request(n: number): Buffer
  accepted: string
  /** Processes that take no part, and have some CPU all the same. */
  idle: readonly string[]
}

interface Outcome {
  perSecond: number
  lost: number
  cpu: Cpu
}

export async function smsEndToEnd({ short }: { short: boolean }): Promise<Figure[]> {
  const durationMs = short ? 1_500 : 10_000
  const missing = kannelMissing()
  if (missing !== null) process.stderr.write(`Kannel is left out: ${missing}.\n`)
  const installation = await startSmsInstallation({ environment: 'live' })
  const customer = await startCustomer()
  const outcomes = new Map<string, Outcome[]>()
  const figures: Figure[] = []
  const note = (who: string, window: number, outcome: Outcome, more: readonly Figure[] = []): void => {
    outcomes.set(who, [...(outcomes.get(who) ?? []), outcome])
    figures.push(...shown(`${who}, window ${window}`, outcome), ...more)
  }
  try {
    const key = await installation.account()
    for (const window of windows) {
      await installation.bind({ window })
      for (const [who, told] of ours) {
        const gateway = ourGateway(installation, key, customer.url, told)
        // The program is compiled as it runs; what that costs at the beginning is left out.
        if (outcomes.size === 0) await through(gateway, customer, durationMs)
        const before = await installation.walBytes()
        const outcome = await through(gateway, customer, durationMs)
        const bytes = ((await installation.walBytes()) - before) / outcome.accepted
        note(who, window, outcome, [{ name: `${who}, window ${window}, log`, value: bytes, unit: 'bytes a message' }])
        if (told === 'all' && window === windows.at(-1))
          for (const part of await installation.walBy(before))
            if (part.bytes / outcome.accepted >= leastLog)
              figures.push({ name: `log: ${part.of}`, value: part.bytes / outcome.accepted, unit: 'bytes a message' })
      }
      for (const [who, told, { spool }] of missing === null ? theirs : []) {
        const kannel = await startKannel({ smscPort: installation.centrePort, window, spool })
        try {
          note(who, window, await through(kannelGateway(kannel, customer.url, told), customer, durationMs))
        } finally {
          await kannel.stop()
        }
      }
    }
    for (const [us, told] of ours)
      for (const [them, theyTold] of theirs)
        if (told === theyTold) figures.push(...ratios(us, them, outcomes.get(us) ?? [], outcomes.get(them) ?? []))
    figures.push({ name: 'one fsync, median', value: fsyncMs(installation.home), unit: 'ms' })
    return figures
  } finally {
    await customer.stop()
    await installation.stop()
  }
}

function shown(name: string, { perSecond, lost, cpu }: Outcome): Figure[] {
  return [
    { name, value: perSecond, unit: 'messages/s', cpu },
    { name: `${name}, never told of`, value: lost, unit: 'messages' },
  ]
}

/** By CPU of all processes, the least of each, and by the clock, the best of each; those that lost messages do not count. */
function ratios(us: string, them: string, ours: readonly Outcome[], theirs: readonly Outcome[]): Figure[] {
  const whole = (outcomes: readonly Outcome[]): Outcome[] => outcomes.filter(({ lost }) => lost === 0)
  const [our, their] = [whole(ours), whole(theirs)]
  if (our.length === 0 || their.length === 0) return []
  const least = (outcomes: readonly Outcome[]): number => sumOf(outcomes.map(({ cpu }) => cpu).reduce(lesser))
  const best = (outcomes: readonly Outcome[]): number => Math.max(...outcomes.map(({ perSecond }) => perSecond))
  return [
    { name: `CPU of ${them} / ${us}`, value: least(their) / least(our), unit: '' },
    { name: `rate of ${us} / ${them}`, value: best(our) / best(their), unit: '' },
  ]
}

function ourGateway({ node }: SmsInstallation, key: string, customerUrl: string, told: Told): Gateway {
  const message = { to: recipient, from: 'PAMOJA', message: text, callback_url: customerUrl, callback_events: told }
  const request = post('/v1/sms/send', key, JSON.stringify(message))
  return {
    port: node.port,
    ca: readFileSync(node.caFile, 'utf8'),
    request: () => request,
    accepted: '200',
    idle: ['Kannel'],
  }
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
    idle: ['node', 'PostgreSQL'],
  }
}

/** Hands in messages as others come to their end; the first fifth of the time is not counted. */
async function through(
  gateway: Gateway,
  customer: Customer,
  durationMs: number,
): Promise<Outcome & { accepted: number }> {
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
  const meter = cpuMeter()
  const [from, fromMs] = [customer.delivered, performance.now()]
  const { statuses } = await loading
  const counted = customer.delivered - from
  const perSecond = (counted / (performance.now() - fromMs)) * 1_000
  const cpu = without(meter.per(counted), gateway.idle)
  const { [gateway.accepted]: accepted = 0, ...others } = statuses
  if (Object.keys(others).length > 0) throw new Error(`messages were answered ${JSON.stringify(others)}`)
  for (let last = -1, since = performance.now(); customer.delivered < accepted; ) {
    if (customer.delivered !== last) [last, since] = [customer.delivered, performance.now()]
    if (performance.now() - since > patienceMs) break
    await pause(20)
  }
  return { perSecond, lost: accepted - customer.delivered, accepted, cpu }
}
