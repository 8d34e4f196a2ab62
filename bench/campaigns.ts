// SPDX-License-Identifier: Apache-2.0
// A campaign beside a bulk: the same texts to the same numbers, in turns on one node. Measured are how fast they have arrived, and the
// CPU of each until then, in which both send the same; the difference is what a campaign does besides: whose turn it is, who agreed,
// and what became of whom. Beside it how fast they are accepted: a bulk is before its texts are sent, a campaign while they are.
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { startPostgres } from '../src/platform/postgres.ts'
import { Client } from '../test/client.ts'
import { end, startNodeProcess } from './children.ts'
import { type Cpu, cpuMeter, lesser, sumOf, without } from './cpu.ts'
import { openAccounts } from './durable-write.ts'
import { newHome } from './home.ts'
import type { Figure } from './report.ts'

const full = 20_000
/** Messages of a bulk, as many as a request takes. */
const perRequest = 10_000
const lookMs = 100
const text = 'Your order 4512 is on its way and arrives before noon. Thank you!'
const dayMs = 86_400_000
/** Ten in the morning of Nairobi, when people may be advertised to, after midnight UTC. */
const morningMs = 7 * 3_600_000

interface Turn {
  readonly accepted: number
  readonly arrived: number
  readonly cpu: Cpu
}

export async function campaigns({ short, scale }: { short: boolean; scale: number }): Promise<Figure[]> {
  const people = Math.ceil(full * (short ? 0.03 : scale))
  const home = await newHome()
  const postgres = await startPostgres({ dir: join(home, 'postgres') })
  const database = new pg.Client({ connectionString: postgres.url })
  await database.connect()
  const node = await startNodeProcess({ PAMOJA_HOME: home, PAMOJA_RATE_LIMITS: 'off', DATABASE_URL: postgres.url })
  try {
    const ca = readFileSync(node.caFile, 'utf8')
    const [key = ''] = await openAccounts(new Client(node.url, ca, node.credentials.operator_key))
    const client = new Client(node.url, ca, key)
    const nowMs = Date.now()
    const toMorning = (Math.floor(nowMs / dayMs) + 1) * dayMs + morningMs - nowMs
    await post(client, '/v1/sandbox/clock', { advance_seconds: Math.round(toMorning / 1_000) })
    await fill(client, database, people)
    const texts = { sent: 0 }
    const turn = async (send: () => Promise<void>): Promise<Turn> => {
      const meter = cpuMeter()
      const startedMs = performance.now()
      await send()
      const rate = () => (people * 1_000) / (performance.now() - startedMs)
      const accepted = rate()
      texts.sent += people
      await arrival(database, texts.sent)
      return { accepted, arrived: rate(), cpu: without(meter.per(people), ['benchmark']) }
    }
    const [bulks, sent]: [Turn[], Turn[]] = [[], []]
    for (let round = 0; round < (short ? 1 : 3); round++) {
      bulks.push(await turn(() => bulk(client, people)))
      sent.push(await turn(() => campaign(client, round)))
    }
    client.close()
    const [beside, ours] = [best(bulks), best(sent)]
    return [
      { name: `bulks of ${perRequest} to ${people}, arrived`, ...beside },
      { name: `a campaign to ${people}, arrived`, ...ours },
      { name: 'bulks, accepted', value: highest(bulks.map(({ accepted }) => accepted)), unit: 'texts/s' },
      { name: 'a campaign, accepted', value: highest(sent.map(({ accepted }) => accepted)), unit: 'texts/s' },
      { name: 'ratio of rates, campaign to bulk', value: ours.value / beside.value, unit: '' },
      { name: 'ratio of CPU, campaign to bulk', value: sumOf(ours.cpu) / sumOf(beside.cpu), unit: '' },
    ]
  } finally {
    await database.end()
    await end(node.child)
    await postgres.stop()
    await rm(home, { recursive: true, force: true })
  }
}

function best(turns: readonly Turn[]): { value: number; unit: string; cpu: Cpu; low: number; high: number } {
  const rates = turns.map(({ arrived }) => arrived)
  const high = highest(rates)
  return {
    value: high,
    unit: 'texts/s',
    low: Math.min(...rates),
    high,
    cpu: turns.map(({ cpu }) => cpu).reduce(lesser),
  }
}

const highest = (rates: readonly number[]): number => Math.max(...rates)

async function post(client: Client, path: string, body: object) {
  const reply = await client.post(path, body)
  if (reply.status >= 300) throw new Error(`${path} was answered ${reply.status} ${reply.text}`)
  return reply.body
}

const phoneOf = (n: number): string => `+2547${String(20_111_111 + n)}`

async function bulk(client: Client, people: number): Promise<void> {
  for (let from = 0; from < people; from += perRequest) {
    const many = Math.min(perRequest, people - from)
    const messages = Array.from({ length: many }, (_, n) => ({ to: phoneOf(from + n), message: text }))
    const { accepted } = await post(client, '/v1/sms/bulk', { from: 'PAMOJA', type: 'promotional', messages })
    if (accepted !== many) throw new Error(`${accepted} of ${many} texts were accepted`)
  }
}

async function campaign(client: Client, round: number): Promise<void> {
  const { id } = await post(client, '/v1/campaigns', {
    ...{ name: `Round ${round}`, segment_id: 'All', channel: ['sms'], quiet_hours: null },
    content: { sms: { from: 'PAMOJA', text } },
  })
  await post(client, `/v1/campaigns/${id}/start`, {})
  for (;;) {
    const { body } = await client.get(`/v1/campaigns/${id}`)
    if (body.state === 'completed') return
    if (!['checking', 'scheduled', 'running'].includes(body.state))
      throw new Error(`the campaign is ${body.state} ${body.reason}`)
    await pause(lookMs)
  }
}

/** Waits until so many texts are at their end. */
async function arrival(database: pg.Client, texts: number): Promise<void> {
  for (;;) {
    const { rows } = await database.query<{ over: number; all: number }>(
      `select count(*) filter (where status not in ('queued', 'sent'))::int as over, count(*)::int as all from sms.messages`,
    )
    if (rows[0]?.all !== texts) throw new Error(`${rows[0]?.all} texts were stored instead of ${texts}`)
    if (rows[0].over === texts) return
    await pause(lookMs)
  }
}

/** Customers who agreed to texts, in a segment: one by request, the others like it. */
async function fill(client: Client, database: pg.Client, people: number): Promise<void> {
  await post(client, '/v1/customers', {
    ...{ name: 'Asha Njeri', phones: [phoneOf(0)], tags: ['all'] },
    consents: [{ channel: 'sms', purpose: 'marketing', state: 'granted', source: 'counter' }],
  })
  await database.query(
    `with made as (
       insert into customers.customers (bucket, account_id, environment, id, name, phone, phones, tags, created_at, updated_at)
       select c.bucket, c.account_id, c.environment, gen_random_uuid(), c.name, p.phone, array[p.phone], c.tags, now(), now()
         from customers.customers c cross join generate_series(1, $1::int) n
        cross join lateral (select '+2547' || (20111111 + n) as phone) p
       returning bucket, account_id, environment, id, phone),
     owned as (
       insert into customers.addresses (bucket, account_id, environment, kind, address, customer_id)
       select bucket, account_id, environment, 'phone', phone, id from made)
     insert into customers.grants (bucket, account_id, environment, channel, address, purpose, granted_at)
     select bucket, account_id, environment, 'sms', phone, 'marketing', now() from made`,
    [people - 1],
  )
  await database.query('analyze')
  await post(client, '/v1/segments', { name: 'All', filter: { field: 'tags', op: 'eq', value: 'all' } })
}
