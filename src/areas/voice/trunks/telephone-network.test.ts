// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { latenessLimitMs } from './telephone-network.ts'
import { whereaboutsOf } from './whereabouts.ts'

test('audio that is a little late refuses calls in production, not in development', () => {
  const limit = (NODE_ENV: 'production' | 'development', given: number) =>
    latenessLimitMs({ NODE_ENV, PAMOJA_VOICE_LATENESS_MS: given })
  assert.equal(limit('production', 0), 60)
  assert.equal(limit('development', 0), 5_000)
  assert.equal(limit('production', 200), 200)
  assert.equal(limit('development', 20), 20)
})

test('calls go on to be taken from a place that the DNS is silent about, and no longer from one that it has forgotten', async () => {
  const addresses = new Map([
    ['a.example', '192.0.2.1'],
    ['b.example', '192.0.2.2'],
  ])
  const services = async () => [...addresses.keys()].map((name, i) => ({ name, port: 5_060, priority: i, weight: 1 }))
  const hosts = async (known: Awaited<ReturnType<typeof whereaboutsOf>>, code: string | null) => {
    const lookup = async (host: string) => {
      const address = addresses.get(host) ?? ''
      if (code !== null && host === 'b.example') throw Object.assign(new Error(host), { code })
      return [{ address, family: 4 }]
    }
    const row = { host: 'carrier.example', port: 0, transport: 'udp' } as const
    return whereaboutsOf(row, '192.0.2.9', known, { services, addresses: lookup })
  }
  const known = await hosts(null, null)
  const [silent, forgotten] = [await hosts(known, 'EAI_AGAIN'), await hosts(known, 'ENOTFOUND')]
  assert.deepEqual(
    [known, silent, forgotten].map((one) => [
      one?.peers.length,
      one?.hosts.has('192.0.2.1'),
      one?.hosts.has('192.0.2.2'),
    ]),
    [
      [2, true, true],
      [1, true, true],
      [1, true, false],
    ],
  )
})
