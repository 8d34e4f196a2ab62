// SPDX-License-Identifier: Apache-2.0
// Deciding about a payment: the pure decision with 1,000 rules, and the whole request (auth, validation, counting, the
// decision and its record; fsync on) of an account with 1,000 rules and 1,000 entries on its blacklist beside one with none.
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { compile } from '../src/areas/payments/fraud/condition.ts'
import { decide, type Rule } from '../src/areas/payments/fraud/decide.ts'
import { type FieldValue, factsOf, type Subject } from '../src/areas/payments/fraud/fields.ts'
import { Client } from '../test/client.ts'
import { end, startNodeProcess } from './children.ts'
import { lesser } from './cpu.ts'
import { openAccounts } from './durable-write.ts'
import { newHome } from './home.ts'
import { type LoadResult, load, post } from './load.ts'
import type { Figure } from './report.ts'

const rules = 1_000
const rulesWithVelocity = 40
const entries = 1_000

/** Rules that almost match: each is asked to its end. */
function ruleAt(n: number): { name: string; action: 'review' | 'block'; conditions: unknown[] } {
  const velocity = { metric: 'count', by: ['phone', `metadata.m${n % 10}`], window: '24h' }
  return {
    name: `Rule ${n}`,
    action: n % 2 === 0 ? 'review' : 'block',
    conditions: [
      { field: 'currency', operator: 'eq', value: 'KES' },
      { field: 'phone', operator: 'starts_with', value: '+2547' },
      n < rulesWithVelocity
        ? { velocity, operator: 'gt', value: 1_000_000 }
        : { field: 'amount', operator: 'gt', value: 1_000_000 + n },
    ],
  }
}

export async function fraud({ short }: { short: boolean }): Promise<Figure[]> {
  const home = await newHome()
  // What becomes of the payments afterwards is not this benchmark's.
  const node = await startNodeProcess({ PAMOJA_HOME: home, PAMOJA_ROLES: 'api' })
  try {
    const ca = readFileSync(node.caFile, 'utf8')
    const [free = '', strict = ''] = await openAccounts(new Client(node.url, ca, node.credentials.operator_key))
    await setUp(new Client(node.url, ca, strict), short ? 100 : rules)
    let n = 0
    const next = (key: string) => (): Buffer => {
      const phone = `+2547${String(20_111_111 + (n++ % 100_000))}`
      const metadata = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`m${i}`, `v${n % 7}`]))
      const body = {
        amount: 1500,
        currency: 'KES',
        phone,
        device_id: `d${n % 1_000}`,
        ip_address: '192.0.2.1',
        metadata,
      }
      return post('/v1/payments?wait=0', key, JSON.stringify(body))
    }
    // One after the other, so that no time is spent in a queue.
    const to = { ca, port: node.port, connections: 1, durationMs: short ? 1_000 : 8_000 }
    for (const key of [free, strict]) await load({ ...to, next: next(key), durationMs: short ? 500 : 3_000 })
    const pairs: { none: LoadResult; many: LoadResult }[] = []
    for (let round = 0; round < (short ? 1 : 3); round++)
      pairs.push({ none: await load({ ...to, next: next(free) }), many: await load({ ...to, next: next(strict) }) })
    for (const { none, many } of pairs)
      for (const { statuses, requests } of [none, many])
        if (statuses['201'] !== requests) throw new Error(`payments were answered ${JSON.stringify(statuses)}`)
    return [
      pure(short),
      times(
        'payment accepted, no rules',
        pairs.map(({ none }) => none),
      ),
      times(
        'payment accepted, 1,000 rules and entries',
        pairs.map(({ many }) => many),
      ),
      ratio(
        'ratio, p50',
        pairs.map(({ none, many }) => many.p50Ms / none.p50Ms),
      ),
      ratio(
        'ratio, p99',
        pairs.map(({ none, many }) => many.p99Ms / none.p99Ms),
      ),
    ]
  } finally {
    await end(node.child)
    await rm(home, { recursive: true, force: true })
  }
}

async function setUp(client: Client, many: number): Promise<void> {
  for (let i = 0; i < many; i++) {
    const { status, text } = await client.post('/v1/payments/fraud/rules', ruleAt(i))
    if (status !== 201) throw new Error(`a rule was not added: ${text}`)
  }
  const listed = Array.from({ length: entries }, (_, i) => ({
    type: 'ip_range',
    value: `10.${i >> 8}.${i & 255}.0/24`,
  }))
  const { status, text } = await client.post('/v1/payments/fraud/blacklist', { entries: listed })
  if (status !== 201) throw new Error(`the blacklist was not filled: ${text}`)
  client.close()
}

/** The decision alone. */
function pure(short: boolean): Figure {
  const all = Array.from({ length: rules }, (_, n): Rule => {
    const { name, action, conditions } = ruleAt(n)
    const compiled = compile('all', conditions)
    return { id: name, name, action, appliesTo: ['payment'], score: 0, dryRun: false, compiled }
  })
  const subject: Subject = {
    id: '',
    direction: 'payment',
    micros: 1_500_000_000n,
    currency: 'KES',
    method: 'mobile_money',
    provider: 'mpesa',
    phone: '+254720111111',
  }
  const facts: ReadonlyMap<string, FieldValue> = factsOf(subject, 0)
  const components = { velocity: 0, amount: 0, identity: 0, card: 0, geo: 0, history: 0, rules: 0 }
  const held = {
    facts,
    totals: new Map<string, bigint>(),
    listed: () => false,
    direction: 'payment' as const,
    canProve: false,
    scored: { score: 0, components, flags: [] },
    isBlacklisted: false,
  }
  const taken: number[] = []
  const until = performance.now() + (short ? 300 : 3_000)
  while (performance.now() < until) {
    const startedAt = performance.now()
    if (decide(all, held).decision !== 'allow') throw new Error('a rule matched that should not')
    taken.push(performance.now() - startedAt)
  }
  const sorted = taken.slice(100).sort((a, b) => a - b)
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0
  return { name: 'the decision alone, 1,000 rules, p99', value: at(0.99), unit: 'ms', p50Ms: at(0.5), p99Ms: at(0.99) }
}

function times(name: string, results: readonly LoadResult[]): Figure {
  const p50Ms = middle(results.map((result) => result.p50Ms))
  const p99Ms = middle(results.map((result) => result.p99Ms))
  const cpu = results.map((result) => result.cpu).reduce(lesser)
  return { name: `${name}, p99`, value: p99Ms, unit: 'ms', p50Ms, p99Ms, cpu }
}

function ratio(name: string, values: readonly number[]): Figure {
  return { name, value: middle(values), unit: '', low: Math.min(...values), high: Math.max(...values) }
}

function middle(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
