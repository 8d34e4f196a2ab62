// SPDX-License-Identifier: Apache-2.0
// CPU of PostgreSQL for a text, accepted and delivered in the sandbox: of an installation with one database and of one whose
// accounts are in two, on one server each, with the same node and the same accounts, in turns. Two databases are measured with as
// much traffic in both as one has, which halves what their commits share, and with as much in each, for which cells are there.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type CellServer, startCells } from '../test/cells.ts'
import { Client } from '../test/client.ts'
import { joinCells } from '../test/two-cells.ts'
import { end, type NodeProcess, startNodeProcess } from './children.ts'
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

const kinds = {
  'one database': { further: [], connections },
  'two cells, as much in both': { further: ['east'], connections },
  'two cells, as much in each': { further: ['east'], connections: 2 * connections },
} as const

type Kind = keyof typeof kinds

interface Outcome {
  perSecond: number
  cpu: Cpu
  /** Microseconds of PostgreSQL for a text, beyond what it takes at rest. */
  postgres: number
  /** Milliseconds of PostgreSQL in a second without any text. */
  atRest: number
  /** Writes that share a commit. */
  together: number
}

export async function cells({ short }: { short: boolean }): Promise<Figure[]> {
  const rounds: Record<Kind, Outcome>[] = []
  for (let round = 0; round < (short ? 1 : 3); round++)
    rounds.push({
      'one database': await measured('one database', short),
      'two cells, as much in both': await measured('two cells, as much in both', short),
      'two cells, as much in each': await measured('two cells, as much in each', short),
    })
  const least = (kind: Kind): Outcome => lowest(rounds.map((round) => round[kind]))
  const figures = (['one database', 'two cells, as much in both', 'two cells, as much in each'] as const).map(
    (kind) => {
      const { perSecond, cpu, postgres, atRest, together } = least(kind)
      return [
        { name: `texts, ${kind}`, value: perSecond, unit: 'texts/s', cpu },
        { name: 'writes in a commit', value: together, unit: '' },
        { name: 'PostgreSQL at rest', value: atRest, unit: 'ms/s' },
        { name: 'PostgreSQL of a text, beyond rest', value: postgres, unit: 'µs' },
      ]
    },
  )
  const ratio = (kind: Kind): Figure => {
    const all = rounds.map((round) => round[kind].postgres / round['one database'].postgres)
    return {
      name: `PostgreSQL of a text, ${kind} / one`,
      value: least(kind).postgres / least('one database').postgres,
      ...{ unit: '', low: Math.min(...all), high: Math.max(...all) },
    }
  }
  return [...figures.flat(), ratio('two cells, as much in both'), ratio('two cells, as much in each')]
}

async function measured(kind: Kind, short: boolean): Promise<Outcome> {
  const { further, connections: many } = kinds[kind]
  const server = await startCells(further, durable)
  const databases = ['home', ...further]
  const home = await mkdtemp(join(tmpdir(), 'pamoja-bench-'))
  const leave = further.length > 0 ? await joinCells(databaseOf(server, 'home'), databaseOf(server, 'east')) : null
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
    const toNode = { ca, port: node.port, connections: many, next }
    // Each connection makes its plans once, and there are twice as many.
    await load({ ...toNode, durationMs: short ? 500 : 10_000 })
    await allEnded(server, databases)
    const rest = cpuMeter()
    await pause(restMs)
    const atRest = (rest.per(1).PostgreSQL ?? 0) / restMs
    const before = await commitsOf(node)
    const [meter, beganMs] = [cpuMeter(), performance.now()]
    const { requests, statuses, perSecond } = await load({ ...toNode, durationMs: short ? 1_000 : 15_000 })
    if (statuses['200'] !== requests) throw new Error(`texts were answered ${JSON.stringify(statuses)}`)
    await allEnded(server, databases)
    const cpu = meter.per(requests)
    const ofRest = (atRest * (performance.now() - beganMs)) / requests
    const after = await commitsOf(node)
    const together = (after.items - before.items) / (after.commits - before.commits)
    return { perSecond, cpu, postgres: (cpu.PostgreSQL ?? 0) - ofRest, atRest, together }
  } finally {
    await end(node.child)
    await leave?.()
    await server.stop()
    await rm(home, { recursive: true, force: true })
  }
}

/** Group commits of a node since its start, and the writes in them. */
async function commitsOf({ adminUrl }: NodeProcess): Promise<{ commits: number; items: number }> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  const total = (what: string): number => Number(new RegExp(`^pamoja_commit_${what}_total (\\d+)`, 'm').exec(text)?.[1])
  return { commits: total('commits'), items: total('items') }
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
