// SPDX-License-Identifier: Apache-2.0
// A durable write (auth, validation, limits, idempotency, charge, row, job, audit; fsync on) against a bare validated
// Fastify route on the same machine in the same run, at several numbers of connections. Beside them, what this machine
// lets any durable write reach: the bare route with one row in a shared commit, and nothing else.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgres } from '../src/platform/postgres.ts'
import { Client } from '../test/client.ts'
import { end, start, startNodeProcess } from './children.ts'
import { newHome } from './home.ts'
import { type LoadResult, load, post } from './load.ts'
import { arithmetic, type Figure, fsyncMs } from './report.ts'

const accounts = 50

export async function durableWrite({ short }: { short: boolean }): Promise<Figure[]> {
  const home = await newHome()
  // What becomes of the note afterwards is the work of another role, and another benchmark's.
  const node = await startNodeProcess({ PAMOJA_HOME: home, PAMOJA_ROLES: 'api' })
  // A server of its own, so that neither finds the other's rows in its way.
  const postgres = await startPostgres({ dir: join(home, 'least') })
  const bare = await start<{ port: number }>(
    './bare-server.js',
    [join(home, 'tls/server.pem'), join(home, 'tls/server-key.pem'), postgres.url],
    {},
  )
  try {
    const ca = readFileSync(node.caFile, 'utf8')
    const keys = await openAccounts(new Client(node.url, ca, node.credentials.operator_key))
    const body = JSON.stringify({ text: 'Your order 4512 is on its way and arrives before noon.', to: '+254711000001' })
    let n = 0
    const durable = (): Buffer => {
      n++
      return post('/v1/notes', keys[n % keys.length] ?? '', body, `Idempotency-Key: ${n.toString(36)}-${run}\r\n`)
    }
    const run = randomBytes(6).toString('hex')
    const plain = post('/v1/notes', keys[0] ?? '', body)
    const least = post('/v1/least', keys[0] ?? '', body)
    const durationMs = short ? 1_000 : 5_000
    const settings = { ca, durationMs }
    await load({ ...settings, port: node.port, connections: 64, next: durable, durationMs: short ? 1_500 : 6_000 })
    await load({
      ...settings,
      port: bare.said.port,
      connections: 64,
      next: () => plain,
      durationMs: short ? 500 : 3_000,
    })
    const figures: Figure[] = []
    for (const connections of [1, 8, 32, 128]) {
      const rounds = short ? 1 : 3
      const pairs: { route: LoadResult; write: LoadResult }[] = []
      for (let round = 0; round < rounds; round++)
        pairs.push({
          route: await load({ ...settings, port: bare.said.port, connections, next: () => plain }),
          write: await load({ ...settings, port: node.port, connections, next: durable }),
        })
      figures.push(...compared('durable write', connections, pairs))
    }
    const all = { ...settings, connections: 128 }
    const leastPairs: { route: LoadResult; write: LoadResult }[] = []
    for (let round = 0; round < (short ? 1 : 3); round++)
      leastPairs.push({
        route: await load({ ...all, port: bare.said.port, next: () => plain }),
        write: await load({ ...all, port: bare.said.port, next: () => least }),
      })
    const ceiling = compared('one row in a shared commit', 128, leastPairs)
    figures.push(...ceiling.slice(1, 2), ...ceiling.slice(2).map((figure) => ({ ...figure, name: 'ratio, one row' })))
    const most = figures.find(({ name }) => name === 'durable write, 128 connections')?.value ?? 1000
    const atHalf = { ...settings, connections: 128, rate: most / 2 }
    const half: LoadResult[] = []
    const bareAtHalf: LoadResult[] = []
    for (let round = 0; round < (short ? 1 : 5); round++) {
      half.push(await load({ ...atHalf, port: node.port, next: durable }))
      bareAtHalf.push(await load({ ...atHalf, port: bare.said.port, next: () => plain }))
    }
    const { p50Ms, p99Ms, p999Ms } = arithmetic(short ? 500 : 5_000)
    figures.push(
      slowest('durable write at half load, p99', half),
      slowest('bare route at that rate, p99', bareAtHalf),
      { name: 'one fsync, median', value: fsyncMs(home), unit: 'ms' },
      { name: 'arithmetic alone, slowest in 1,000 / usual', value: p999Ms / p50Ms, unit: '', p50Ms, p99Ms },
    )
    return figures
  } finally {
    await end(bare.child)
    await end(node.child)
    await postgres.stop()
    await rm(home, { recursive: true, force: true })
  }
}

/** The p99 of the middle round, and those of the best and the worst. */
function slowest(name: string, rounds: LoadResult[]): Figure {
  const sorted = rounds.map(({ p50Ms, p99Ms, cpu }) => ({ p50Ms, p99Ms, cpu })).sort((a, b) => a.p99Ms - b.p99Ms)
  const [low, middle, high] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
  return { name, value: middle?.p99Ms ?? 0, unit: 'ms', ...middle, low: low?.p99Ms ?? 0, high: high?.p99Ms ?? 0 }
}

/** The median round by ratio: machines are shared, and one disturbed round should not decide. */
export function compared(
  what: string,
  connections: number,
  pairs: { route: LoadResult; write: LoadResult }[],
): Figure[] {
  const bad = pairs.flatMap(({ write }) => Object.keys(write.statuses)).filter((status) => status !== '200')
  if (bad.length > 0) throw new Error(`writes were answered ${bad.join(', ')}`)
  const sorted = pairs
    .map((pair) => ({ ...pair, ratio: pair.write.perSecond / pair.route.perSecond }))
    .sort((a, b) => a.ratio - b.ratio)
  const middle = sorted[Math.floor(sorted.length / 2)]
  if (!middle) return []
  return [
    {
      name: `bare route, ${connections} connections`,
      value: middle.route.perSecond,
      unit: 'requests/s',
      p50Ms: middle.route.p50Ms,
      p99Ms: middle.route.p99Ms,
      cpu: middle.route.cpu,
    },
    {
      name: `${what}, ${connections} connections`,
      value: middle.write.perSecond,
      unit: 'requests/s',
      p50Ms: middle.write.p50Ms,
      p99Ms: middle.write.p99Ms,
      cpu: middle.write.cpu,
    },
    {
      name: `ratio, ${connections} connections`,
      value: middle.ratio,
      unit: '',
      low: sorted[0]?.ratio ?? 0,
      high: sorted.at(-1)?.ratio ?? 0,
    },
  ]
}

/** Fifty accounts with money and without limits; gives their keys. */
export async function openAccounts(operator: Client): Promise<string[]> {
  const keys: string[] = []
  const { body: own } = await operator.get('/v1/auth/whoami')
  await operator.patch(`/v1/operator/api-keys/${own.key_id}`, { rate_limit_per_second: 1_000_000 })
  for (let i = 0; i < accounts; i++) {
    const { body: account } = await operator.post('/v1/operator/accounts', {
      name: `Bench ${i}`,
      country: 'KE',
      currency: 'KES',
      plan: 'enterprise',
    })
    await operator.post(`/v1/operator/accounts/${account.id}/credit`, {
      amount: 1_000_000_000,
      currency: 'KES',
      environment: 'test',
      reference: `bench-${i}`,
    })
    const { body: me } = await operator.as(account.test_api_key).get('/v1/auth/whoami')
    await operator.patch(`/v1/operator/api-keys/${me.key_id}`, { rate_limit_per_second: 1_000_000 })
    keys.push(account.test_api_key)
  }
  operator.close()
  return keys
}
