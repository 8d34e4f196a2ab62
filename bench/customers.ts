// SPDX-License-Identifier: Apache-2.0
// Customers: a file of 1,000,000 is imported, times `--scale`, and its beginning once more; then lists, searches, counts of
// segments and the timeline of one with 10,000 texts are asked for beside them, with 200,000 payments and texts, over HTTPS. At
// last as many texts as a campaign accepts are sent in bulk, in requests of as many as it takes at once.
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { startPostgres } from '../src/platform/postgres.ts'
import { Client } from '../test/client.ts'
import { parts } from '../test/parts.ts'
import { end, startNodeProcess } from './children.ts'
import { type CpuMeter, cpuMeter, without } from './cpu.ts'
import { openAccounts } from './durable-write.ts'
import { copies, idOf, quiet } from './growth.ts'
import { newHome } from './home.ts'
import type { Figure } from './report.ts'

const full = { customers: 1_000_000, payments: 200_000, texts: 200_000, optOuts: 20_000 }
const story = 10_000
/** Rows of the file that is imported again. */
const repeated = 50_000
const lookMs = 100
const times = 40

const names = [
  'Asha',
  'Baraka',
  'Chausiku',
  'Daudi',
  'Esther',
  'Faraji',
  'Grace',
  'Halima',
  'Imani',
  'Juma',
  'Kito',
  'Lucy',
]
const families = ['Njeri', 'Otieno', 'Mwangi', 'Achieng', 'Kamau', 'Barasa', 'Yusuf', 'Wanjiru', 'Mushi', 'Atieno']
const towns = ['nairobi', 'mombasa', 'kisumu', 'nakuru', 'eldoret']
const plans = ['gold', 'silver', 'silver', 'bronze', 'bronze', 'bronze']
const columns =
  'external_id,name,phone,email,tags,country,sms_marketing,consent_source,attributes.plan,attributes.visits'

const phoneOf = (n: number): string => `+2547${String(10_000_000 + n)}`
const at = <T>(list: readonly T[], n: number): T | undefined => list[n % list.length]

function rowOf(n: number): string {
  const [name, family] = [at(names, n), at(families, Math.floor(n / 12))]
  const tags = n % 50 === 0 ? `vip ${at(towns, n)}` : at(towns, n)
  const consent = n % 10 < 7 ? 'granted,counter' : ','
  const mail = `${name}.${n}@example.com`.toLowerCase()
  return `shop-${n},${name} ${family},${phoneOf(n)},${mail},${tags},KE,${consent},${at(plans, n)},${n % 500}`
}

export async function customers({ short, scale }: { short: boolean; scale: number }): Promise<Figure[]> {
  const many = (all: number): number => Math.ceil(all * (short ? 0.003 : scale))
  const home = await newHome()
  const postgres = await startPostgres({ dir: join(home, 'postgres') })
  const database = new pg.Client({ connectionString: postgres.url })
  await database.connect()
  const node = await startNodeProcess({ PAMOJA_HOME: home, PAMOJA_RATE_LIMITS: 'off', DATABASE_URL: postgres.url })
  try {
    const ca = readFileSync(node.caFile, 'utf8')
    const [key = ''] = await openAccounts(new Client(node.url, ca, node.credentials.operator_key))
    const client = new Client(node.url, ca, key)
    const rows = many(full.customers)
    const file = fileOf(rows)
    const first = await imported(client, file, rows, 'created')
    const few = Math.min(rows, repeated)
    const again = await imported(client, fileOf(few), few, 'unchanged')
    await fill(client, database, many, rows)
    await quiet(database)
    const figures = await asked(client, rows)
    client.close()
    return [...first, ...again, ...figures]
  } finally {
    await database.end()
    await end(node.child)
    await postgres.stop()
    await rm(home, { recursive: true, force: true })
  }
}

function fileOf(rows: number): Buffer {
  const pieces = [Buffer.from(`${columns}\n`)]
  for (let n = 0; n < rows; n += 10_000)
    pieces.push(Buffer.from(Array.from({ length: Math.min(10_000, rows - n) }, (_, i) => `${rowOf(n + i)}\n`).join('')))
  return Buffer.concat(pieces)
}

/** Imports a file; the clock runs from the moment when the file has come. */
async function imported(
  client: Client,
  content: Buffer,
  rows: number,
  outcome: 'created' | 'unchanged',
): Promise<Figure[]> {
  const { status, text, body } = await client.request(
    'POST',
    '/v1/customers/import',
    parts({}, [{ part: 'file', content, name: 'customers.csv' }]),
  )
  if (status !== 201) throw new Error(`the file was answered ${status} ${text}`)
  const meter = cpuMeter()
  const startedMs = performance.now()
  for (;;) {
    const { body: made } = await client.get(`/v1/customers/imports/${body.import_id}`)
    if (made.state === 'running') {
      await pause(lookMs)
      continue
    }
    const seconds = (performance.now() - startedMs) / 1_000
    if (made.state !== 'completed' || made[outcome] !== rows)
      throw new Error(`the import ended as ${JSON.stringify(made)}`)
    const cpu = without(meter.per(rows), ['benchmark'])
    return [{ name: `import of ${rows} rows, all ${outcome}`, value: rows / seconds, unit: 'rows/s', cpu }]
  }
}

/** Payments and texts of the first customers, opt-outs, and many texts of one. */
async function fill(client: Client, database: pg.Client, many: (all: number) => number, rows: number): Promise<void> {
  for (const [path, body] of [
    ['/v1/payments', { amount: 1_500, currency: 'KES', phone: phoneOf(0) }],
    ['/v1/sms/send', { to: phoneOf(0), from: 'PAMOJA', message: 'Karibu' }],
  ] as const) {
    const { status, text } = await client.post(path, body)
    if (status >= 300) throw new Error(`${path} was answered ${status} ${text}`)
  }
  const phone = `'+2547' || (10000000 + (n * 7) % ${rows})`
  const when = 'now() - make_interval(days => n % 90)'
  await copies(
    database,
    'payments.payments',
    many(full.payments),
    `jsonb_build_object('id', ${idOf('n')}, 'phone', ${phone}, 'status', 'completed', 'completed_at', ${when}, 'reference', 'r' || n)`,
  )
  const text = (id: string, to: string) =>
    `jsonb_build_object('id', ${idOf(id)}, 'status', 'delivered', 'recipient', ${to})`
  await copies(database, 'sms.messages', many(full.texts), text('n', phone))
  await copies(database, 'sms.messages', story, text(`(n + ${full.texts})`, `'${phoneOf(1)}'`))
  await database.query(
    `insert into sms.opt_outs (bucket, account_id, environment, phone, sender, id, source, created_at)
     select c.bucket, c.account_id, c.environment, '+2547' || (10000000 + (n * 13) % $1::int), '*', gen_random_uuid(), 'keyword', now()
       from (select bucket, account_id, environment from customers.customers limit 1) c cross join generate_series(1, $2::int) n
     on conflict do nothing`,
    [rows, many(full.optOuts)],
  )
}

const filters: readonly (readonly [name: string, filter: object])[] = [
  ['tag vip', { field: 'tags', op: 'eq', value: 'vip' }],
  ['a town', { field: 'tags', op: 'eq', value: 'kisumu' }],
  ['plan is gold', { field: 'attributes.plan', op: 'eq', value: 'gold' }],
  ['visits > 490', { field: 'attributes.visits', op: 'gt', value: 490 }],
  ['visits > 498', { field: 'attributes.visits', op: 'gt', value: 498 }],
  ['paid in 30 days', { field: 'paid', op: 'within_days', value: 30 }],
  ['paid in 1 day', { field: 'paid', op: 'within_days', value: 1 }],
  ['texted in 30 days', { field: 'sent', op: 'within_days', value: 30 }],
  ['consent to texts', { field: 'consent.sms', op: 'eq', value: 'granted' }],
  ['no consent to texts', { field: 'consent.sms', op: 'eq', value: 'unknown' }],
  ['said no to texts', { field: 'consent.sms', op: 'eq', value: 'withdrawn' }],
  ['never seen', { field: 'last_seen_at', op: 'exists', value: false }],
  ['seen in 7 days', { field: 'last_seen_at', op: 'within_days', value: 7 }],
  ['spent more than 2,000', { field: 'paid_total', op: 'gt', value: 2_000 }],
  [
    'gold in Kisumu who agreed and paid',
    {
      and: [
        { field: 'tags', op: 'eq', value: 'kisumu' },
        { field: 'attributes.plan', op: 'eq', value: 'gold' },
        { field: 'consent.sms', op: 'eq', value: 'granted' },
        { field: 'paid', op: 'within_days', value: 30 },
      ],
    },
  ],
]

async function asked(client: Client, rows: number): Promise<Figure[]> {
  const figures: Figure[] = []
  const get = (path: string) => async () => {
    const { status, text, body } = await client.get(path)
    if (status !== 200) throw new Error(`${path} was answered ${status} ${text}`)
    return body
  }
  const last = String(rows - 1)
  for (const [name, path] of [
    ['list, newest 50', '/v1/customers'],
    ['search for a name', '/v1/customers?q=halima%20otieno'],
    ['search for a beginning of a name', '/v1/customers?q=hal'],
    ['search for a beginning of a number', `/v1/customers?q=%2B25471000`],
    ['search for a number', `/v1/customers?phone=${encodeURIComponent(phoneOf(rows - 1))}`],
    ['search for an id', `/v1/customers?q=shop-${last}`],
    ['search for nobody', '/v1/customers?q=zzzz'],
    ['list with a tag', '/v1/customers?tag=vip'],
    ['list with a rare tag', '/v1/customers?tag=nobody'],
    ['list of seen since a day', '/v1/customers?seen_after=2026-01-01'],
  ] as const)
    figures.push(await timed(name, times, get(path)))
  for (const [name, filter] of filters) {
    const count = async () => {
      const { status, text, body } = await client.post('/v1/segments/count', { filter })
      if (status !== 200) throw new Error(`${name} was answered ${status} ${text}`)
      return body
    }
    const { count: counted, estimated } = await count()
    figures.push(await timed(`count: ${name} (${estimated ? '≈ ' : ''}${counted})`, times, count))
    const { body: segment } = await client.post('/v1/segments', { name, filter })
    figures.push(await timed(`first page: ${name}`, 10, get(`/v1/customers?segment=${segment.id}`)))
  }
  const [one] = (await get(`/v1/customers?phone=${encodeURIComponent(phoneOf(1))}`)()).data
  figures.push(await timed(`timeline of one with ${story} texts`, times * 2, get(`/v1/customers/${one.id}/timeline`)))
  const { next_cursor } = await get(`/v1/customers/${one.id}/timeline?limit=200`)()
  figures.push(
    await timed('the same, a later page', times, get(`/v1/customers/${one.id}/timeline?cursor=${next_cursor}`)),
  )
  return figures
}

/** 95th percentile of a request, one after the other, with the CPU of each. */
async function timed(name: string, rounds: number, run: () => Promise<unknown>): Promise<Figure> {
  await run()
  const meter: CpuMeter = cpuMeter()
  const took: number[] = []
  for (let i = 0; i < rounds; i++) {
    const startedMs = performance.now()
    await run()
    took.push(performance.now() - startedMs)
  }
  const cpu = without(meter.per(rounds), ['benchmark'])
  took.sort((a, b) => a - b)
  const quantile = (share: number): number => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0
  return { name, value: quantile(0.95), unit: 'ms p95', p50Ms: quantile(0.5), p99Ms: quantile(0.99), cpu }
}
