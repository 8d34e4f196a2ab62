// SPDX-License-Identifier: Apache-2.0
// One-time passwords behind somebody else's bulk: how long they take from their acceptance to the message centre while a
// long queue of another account drains through the same bind, which takes a hundred messages a second.
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '../test/client.ts'
import { eventually } from '../test/eventually.ts'
import type { Figure } from './report.ts'
import { startSmsInstallation } from './sms-installation.ts'

const perSecond = 100
const bulkSize = 10_000
const urgentPerSecond = 5
const mark = 'Your code is '

export async function smsUrgent({ short }: { short: boolean }): Promise<Figure[]> {
  const queued = short ? 2_000 : 100_000
  const codes = short ? 15 : 300
  const installation = await startSmsInstallation({ environment: 'test', watched: mark })
  try {
    await installation.bind({ window: 10, rate: perSecond })
    const shop = installation.operator.as(await installation.account())
    const bank = installation.operator.as(await installation.account())
    for (let left = queued; left > 0; left -= bulkSize) await sendBulk(shop, Math.min(left, bulkSize))
    const type = await urgentType(bank)
    const acceptedMs = new Map<string, number>()
    const startedAt = performance.now()
    for (let n = 1; n <= codes; n++) {
      const message = `${mark}${100_000 + n}`
      const { status, text } = await bank.post('/v1/sms/send', { to: '+254733000111', from: 'BANK', message, type })
      if (status !== 200) throw new Error(`a code was answered ${status} ${text}`)
      acceptedMs.set(message, performance.timeOrigin + performance.now())
      await pause(Math.max(0, startedAt + (n * 1_000) / urgentPerSecond - performance.now()))
    }
    const delays: number[] = []
    await eventually(
      async () => {
        for (const [message, atMs] of await installation.arrivals()) {
          const sentMs = acceptedMs.get(message)
          if (sentMs !== undefined) delays.push(Math.max(0, atMs - sentMs))
        }
        return delays.length >= codes
      },
      'every code to be sent',
      (queued / perSecond) * 2_000,
    )
    delays.sort((a, b) => a - b)
    const percentile = (part: number): number => delays[Math.min(delays.length - 1, Math.floor(codes * part))] ?? 0
    const [p50Ms, p99Ms] = [percentile(0.5), percentile(0.99)]
    const name = `${type} behind ${queued.toLocaleString('en')} at ${perSecond}/s, p99`
    return [{ name, value: p99Ms / 1_000, unit: 's', p50Ms, p99Ms }]
  } finally {
    await installation.stop()
  }
}

/** The most urgent class that the API knows. The answer to a message that asks for it tells. */
async function urgentType(client: Client): Promise<'otp' | 'transactional'> {
  const probe = { to: '+254733000111', from: 'BANK', message: 'Welcome', type: 'otp' }
  return (await client.post('/v1/sms/send', probe)).status === 200 ? 'otp' : 'transactional'
}

async function sendBulk(client: Client, size: number): Promise<void> {
  const messages = Array.from({ length: size }, (_, i) => ({ to: `+2547${20_111_111 + i}`, message: 'Sale today!' }))
  const { status, text } = await client.post('/v1/sms/bulk', { from: 'SHOP', messages })
  if (status !== 200) throw new Error(`a bulk was answered ${status} ${text.slice(0, 500)}`)
}
