// SPDX-License-Identifier: Apache-2.0
// CPU of PostgreSQL for a text, accepted and delivered in the sandbox: of an installation with one database and of one whose
// accounts are in two, on one server each, with the same node and the same accounts, in turns.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type CellServer, startCells } from '../test/cells.ts'
import { Client } from '../test/client.ts'
import { joinCells } from '../test/two-cells.ts'
import { end, startNodeProcess } from './children.ts'
import { type Cpu, cpuMeter } from './cpu.ts'
import { openAccounts } from './durable-write.ts'
import { load, post } from './load.ts'
import type { Figure } from './report.ts'

const connections = 64
const lookMs = 500
const restMs = 5_000
/** As a server for use has them, where those for tests do without. */
const durable = { fsync: 'on', full_page_writes: 'on', shared_buffers: '256MB', max_connections: '100' }
const message = 'Your order 4512 is on its way and arrives before noon.'

interface Outcome {
  perSecond: number
  cpu: Cpu
  /** Microseconds of PostgreSQL for a text, beyond what it takes at rest. */
  postgres: number
  /** Milliseconds of PostgreSQL in a second without any text. */
  atRest: number
}

export async function cells({ short }: { short: boolean }): Promise<Figure[]> {
  const [one, two]: [Outcome[], Outcome[]] = [[], []]
  for (let round = 0; round < (short ? 1 : 2); round++) {
    one.push(await measured([], short))
    two.push(await measured(['east'], short))
  }
  const [least, leastOfTwo] = [lowest(one), lowest(two)]
  return [
    shown('texts, one database', least),
    shown('texts, two cells', leastOfTwo),
    { name: 'PostgreSQL at rest, one database', value: least.atRest, unit: 'ms/s' },
    { name: 'PostgreSQL at rest, two cells', value: leastOfTwo.atRest, unit: 'ms/s' },
    { name: 'PostgreSQL of a text, one database', value: least.postgres, unit: 'µs' },
    { name: 'PostgreSQL of a text, two cells', value: leastOfTwo.postgres, unit: 'µs' },
    {
      name: 'PostgreSQL CPU of a text, two cells / one',
      value: leastOfTwo.postgres / least.postgres,
      unit: '',
      low: Math.min(...two.map((outcome, i) => outcome.postgres / (one[i]?.postgres ?? 1))),
      high: Math.max(...two.map((outcome, i) => outcome.postgres / (one[i]?.postgres ?? 1))),
    },
  ]
}

async function measured(further: readonly string[], short: boolean): Promise<Outcome> {
  const server = await startCells(further, durable)
  const databases = ['home', ...further]
  const home = await mkdtemp(join(tmpdir(), 'pamoja-bench-'))
  const leave = further.includes('east')
    ? await joinCells(databaseOf(server, 'home'), databaseOf(server, 'east'))
    : null
  const node = await startNodeProcess({
    PAMOJA_HOME: home,
    PAMOJA_RATE_LIMITS: 'off',
    DATABASE_URL: server.url('home'),
    PAMOJA_CELLS: further.map((name) => `${name}=${server.url(name)}`).join(' '),
  })
  try {
    const ca = readFileSync(node.caFile, 'utf8')
    const keys = await openAccounts(new Client(node.url, ca, node.credentials.operator_key))
    let n = 0
    const next = (): Buffer => {
      n++
      const to = `+2547${20_111_111 + (n % 100_000)}`
      return post('/v1/sms/send', keys[n % keys.length] ?? '', JSON.stringify({ to, from: 'PAMOJA', message }))
    }
    const toNode = { ca, port: node.port, connections, next }
    await load({ ...toNode, durationMs: short ? 500 : 4_000 })
    await allEnded(server, databases)
    const rest = cpuMeter()
    await pause(restMs)
    const atRest = (rest.per(1).PostgreSQL ?? 0) / restMs
    const [meter, beganMs] = [cpuMeter(), performance.now()]
    const { requests, statuses, perSecond } = await load({ ...toNode, durationMs: short ? 1_000 : 8_000 })
    if (statuses['200'] !== requests) throw new Error(`texts were answered ${JSON.stringify(statuses)}`)
    await allEnded(server, databases)
    const cpu = meter.per(requests)
    const ofRest = (atRest * (performance.now() - beganMs)) / requests
    return { perSecond, cpu, postgres: (cpu.PostgreSQL ?? 0) - ofRest, atRest }
  } finally {
    await end(node.child)
    await leave?.()
    await server.stop()
    await rm(home, { recursive: true, force: true })
  }
}

function databaseOf(server: CellServer, name: string): Parameters<typeof joinCells>[0] {
  return { url: server.url(name), sql: (text, values) => server.sql(name, text, values) }
}

/** Until every text that was accepted has come to its end. */
async function allEnded(server: CellServer, databases: readonly string[]): Promise<void> {
  for (const name of databases)
    while ((await server.sql(name, `select from sms.messages where status in ('queued', 'sent') limit 1`)).length > 0)
      await pause(lookMs)
}

function lowest(outcomes: readonly Outcome[]): Outcome {
  return outcomes.reduce((a, b) => (b.postgres < a.postgres ? b : a))
}

function shown(name: string, { perSecond, cpu }: Outcome): Figure {
  return { name, value: perSecond, unit: 'texts/s', cpu }
}
