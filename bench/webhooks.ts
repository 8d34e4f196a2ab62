// SPDX-License-Identifier: Apache-2.0
// Webhooks: durable signed deliveries against bare POSTs of the same bodies by the same HTTP client; how soon after its
// commit an event is on the wire; what dead and slow endpoints cost the others; and claiming beside a million retries.
// What is compared runs in turn, first one and then the other before, many times, and the middle one of the ratios of pairs
// counts: a machine that is shared changes its speed from one second to the next. Both sides are warmed up alike, and
// for claiming each round begins after a checkpoint, so that pages are written to the log whole on both sides or on neither.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Pool } from 'undici'
import { areas } from '../src/areas.ts'
import { credentials } from '../src/commands/welcome.ts'
import { loadConfig } from '../src/config.ts'
import { bucketOf, idOf, newUuid, uuidOf } from '../src/kernel/ids.ts'
import { type RunningNode, startNode } from '../src/node/server.ts'
import { systemClock } from '../src/platform/clock.ts'
import { operation } from '../src/platform/commit.ts'
import { statement } from '../src/platform/db.ts'
import { eventRow } from '../src/platform/events.ts'
import type { Tenant } from '../src/platform/tenant.ts'
import { settle } from '../src/platform/work.ts'
import { Client } from '../test/client.ts'
import { notes, notesMigrations, published } from '../test/notes/area.ts'
import { end, start } from './children.ts'
import { type Cpu, cpuMeter } from './cpu.ts'
import { type Engine, newTenant, withEngine } from './engine.ts'
import { newHome } from './home.ts'
import type { Figure } from './report.ts'

const accounts = 10
const connections = 64
const eventsPerSecond = 1_000
const endpointsInAll = 200
const badPart = 0.2
const isolationPairs = 5
const claimingPairs = 9

const setUp = `
  create schema if not exists bench;
  create type bench.emit_item as (bucket smallint, event events.event_item);
  create function bench.emit(node uuid, items bench.emit_item[]) returns table (deliveries text) language plpgsql as $$
  begin
    return query select unnest(events.emit(array(select i.event from unnest(items) i)));
  end $$;`

const emit = operation.tenant('bench.emit', { bucket: 'smallint', event: eventRow }, { deliveries: 'text' })

const countUnfinished = statement.everywhere<{ buckets: number[] }, { unfinished: number }>(
  'bench.count_unfinished',
  `select count(*)::int as unfinished from webhooks.deliveries
    where bucket = any($buckets::smallint[]) and status in ('pending', 'delivering')`,
)

export async function webhooks({ short }: { short: boolean }): Promise<Figure[]> {
  const home = await newHome()
  try {
    return [
      ...(await throughput(home, short)),
      ...(await latency(home, short)),
      ...(await isolation(home, short)),
      ...(await claiming(short)),
    ]
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

// Deliveries a second -------------------------------------------------------------------------------------------------

/** Deliveries that wait in the database when the node starts, made as fast as they can be. */
async function throughput(home: string, short: boolean): Promise<Figure[]> {
  const events = short ? 1_000 : 40_000
  const before = await startHere(home, 'api')
  const sink = await startSink(home)
  const tenants = await register(before, accounts, () => `https://localhost:${sink.port}/ok`)
  const body = await preload(before, tenants, events)
  await before.stop()

  const posted = await postAll(sink.port, body, events)
  const node = await startHere(home, 'webhooks')
  try {
    // From the first tenth on, so that what the start of the program costs is left out.
    await sink.received(events / 10)
    const meter = cpuMeter()
    const startedAt = performance.now()
    await sink.received(events)
    const seconds = (performance.now() - startedAt) / 1_000
    const cpu = meter.per(events * 0.9)
    await settled(node, tenants)
    const bare = events / posted.seconds
    const durable = (events * 0.9) / seconds
    return [
      { name: `bare undici POST, ${connections} connections`, value: bare, unit: 'requests/s', cpu: posted.cpu },
      { name: 'durable signed deliveries', value: durable, unit: 'deliveries/s', cpu },
      { name: 'ratio', value: durable / bare, unit: '' },
    ]
  } finally {
    await node.stop()
    await sink.stop()
  }
}

async function preload(node: RunningNode, tenants: readonly Tenant[], events: number): Promise<string> {
  let sample = ''
  for (let done = 0; done < events; done += 1_000)
    await Promise.all(
      Array.from({ length: Math.min(1_000, events - done) }, async (_, i) => {
        const event = newEvent(node, tenants[i % tenants.length] ?? newTenant())
        sample = event.row.body
        await node.app.commit(emit, { bucket: event.tenant.bucket, event: { ...event.row, owner: null } })
      }),
    )
  return sample
}

async function postAll(port: number, body: string, requests: number): Promise<{ seconds: number; cpu: Cpu }> {
  const pool = new Pool(`https://localhost:${port}`, { connections, connect: { rejectUnauthorized: false } })
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  let left = requests
  const one = async (): Promise<void> => {
    while (left-- > 0) {
      const { body: answer } = await pool.request({ method: 'POST', path: '/ok', headers, body })
      await answer.dump()
    }
  }
  left = requests / 10
  await Promise.all(Array.from({ length: connections }, one))
  left = requests
  const meter = cpuMeter()
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: connections }, one))
  const measured = { seconds: (performance.now() - startedAt) / 1_000, cpu: meter.per(requests) }
  await pool.close()
  return measured
}

async function settled({ app }: RunningNode, tenants: readonly Tenant[]): Promise<void> {
  const buckets = [...new Set(tenants.map(({ bucket }) => bucket))]
  for (;;) {
    const [row] = await app.db.query(countUnfinished, { buckets })
    if (row?.unfinished === 0) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

// From the commit to the wire -----------------------------------------------------------------------------------------

async function latency(home: string, short: boolean): Promise<Figure[]> {
  const node = await startHere(home, 'all')
  const sink = await startSink(home)
  try {
    const tenants = await register(node, accounts, () => `https://localhost:${sink.port}/ok`)
    await tell(node, tenants, eventsPerSecond, 1_000)
    await settled(node, tenants)
    await sink.taken()
    const committed = await tell(node, tenants, eventsPerSecond, short ? 1_000 : 10_000)
    await settled(node, tenants)
    const { p50, p99 } = delays(committed, await arrivals(sink, committed, committed.size))
    return [{ name: 'commit to wire at 1,000 a second, p99', value: p99, unit: 'ms', p50Ms: p50, p99Ms: p99 }]
  } finally {
    await node.stop()
    await sink.stop()
  }
}

// Dead and slow endpoints ---------------------------------------------------------------------------------------------

async function isolation(home: string, short: boolean): Promise<Figure[]> {
  const pairs = await inTurn(
    short ? 1 : isolationPairs,
    () => delaysBeside(home, false, short),
    () => delaysBeside(home, true, short),
  )
  const {
    left: without,
    right: beside,
    ratio,
    low,
    high,
  } = middleOf(pairs, (without, beside) => beside.p99 / without.p99)
  return [
    { name: '200 healthy endpoints, p99', value: without.p99, unit: 'ms', p50Ms: without.p50, p99Ms: without.p99 },
    {
      name: 'healthy beside 20 % dead and slow, p99',
      value: beside.p99,
      unit: 'ms',
      p50Ms: beside.p50,
      p99Ms: beside.p99,
    },
    { name: 'ratio, p99', value: ratio, unit: '', low, high },
  ]
}

type Delays = { p50: number; p99: number }

async function delaysBeside(home: string, isBad: boolean, short: boolean): Promise<Delays> {
  const node = await startHere(home, 'all')
  const sink = await startSink(home)
  try {
    // A fifth of the endpoints of every account: half of them refuse connections, a quarter answer late, a quarter never.
    const perAccount = endpointsInAll / accounts
    const url = (i: number): string => {
      if (!isBad || i >= perAccount * badPart) return `https://localhost:${sink.port}/ok`
      return i % 2 === 0
        ? 'https://localhost:1025/closed'
        : `https://localhost:${sink.port}/${i % 4 === 1 ? 'slow' : 'hang'}`
    }
    const tenants = await register(node, accounts, url, perAccount)
    const healthyPart = isBad ? 1 - badPart : 1
    // Not so long that the dead ones are given up: that belongs to what is measured.
    const before = await tell(node, tenants, 20, short ? 1_000 : 4_000)
    await arrivals(sink, before, before.size * healthyPart)
    const committed = await tell(node, tenants, 20, short ? 1_000 : 15_000)
    return delays(committed, await arrivals(sink, committed, committed.size * healthyPart))
  } finally {
    await node.stop()
    await sink.stop()
  }
}

// Claiming beside many retries ----------------------------------------------------------------------------------------

// Ids are made as real ones are: by the time, those of retries over the day before.
const addWaiting = statement.everywhere<{ bucket: number; amount: number; delay: string; age: string }, object>(
  'bench.add_waiting',
  `insert into work.jobs (bucket, id, lane, run_at, key, attempt, payload)
   select $bucket::smallint + n % 64,
          (lpad(to_hex(floor(extract(epoch from now() - $age::interval * (1 - n / $amount::float8)) * 1000)::bigint), 12, '0')
             || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || left(md5(n::text), 15))::uuid,
          'webhooks.deliver', now() + $delay::interval * (1 + n % 100), 'bench', 1, '{}'
     from generate_series(1, $amount::int) n`,
)

const claimDue = statement.everywhere<
  { node: string; buckets: number[]; lanes: string[]; limits: number[]; leases: number[] },
  { bucket: number; id: string; attempt: number }
>(
  'bench.claim_due',
  `select bucket, id, attempt
     from work.claim($node::uuid, $buckets::smallint[], $lanes::text[], $limits::int[], $leases::int[])`,
)

/** Two databases, so that they can be measured in turn: one with the retries, one without. */
function claiming(short: boolean): Promise<Figure[]> {
  const due = short ? 2_000 : 20_000
  const retries = short ? 20_000 : 1_000_000
  return withEngine(4, (empty) =>
    withEngine(4, async (full) => {
      await full.db.query(addWaiting, { bucket: 0, amount: retries, delay: '10 minutes', age: '1 day' })
      await drain(empty, due)
      await drain(full, due)
      const pairs = await inTurn(
        short ? 1 : claimingPairs,
        () => drain(empty, due),
        () => drain(full, due),
      )
      const { left, right, ratio, low, high } = middleOf(pairs, (left, right) => left / right)
      return [
        { name: 'claim and finish, nothing else waiting', value: left, unit: 'jobs/s' },
        { name: `beside ${retries.toLocaleString('en')} retries`, value: right, unit: 'jobs/s' },
        { name: 'ratio, empty to full', value: ratio, unit: '', low, high },
      ]
    }),
  )
}

/** Adds jobs, claims and finishes them; gives how many a second. */
async function drain({ db, committer, nodeId }: Engine, due: number): Promise<number> {
  await db.query(addWaiting, { bucket: 0, amount: due, delay: '0', age: '0' })
  const client = await db.connect()
  await client.query('checkpoint')
  await client.end()
  const startedAt = performance.now()
  for (let left = due; left > 0; ) {
    const rows = await db.query(claimDue, {
      node: nodeId,
      buckets: Array.from({ length: 256 }, (_, i) => i),
      lanes: ['webhooks.deliver'],
      limits: [200],
      leases: [30],
    })
    await Promise.all(rows.map((row) => committer.commit(settle, { ...row, delay_ms: null, error: null })))
    left -= rows.length
  }
  return (due / (performance.now() - startedAt)) * 1_000
}

// What they share -----------------------------------------------------------------------------------------------------

/** Measures two things in turn, and each as often first as the other, or once more. */
async function inTurn<T>(times: number, left: () => Promise<T>, right: () => Promise<T>): Promise<[T, T][]> {
  const pairs: [T, T][] = []
  for (let round = 0; round < times; round++) {
    if (round % 2 === 0) {
      const first = await left()
      pairs.push([first, await right()])
    } else {
      const first = await right()
      pairs.push([await left(), first])
    }
  }
  return pairs
}

/** The pair whose ratio is the middle one, and how far the ratios of all lie apart. */
function middleOf<T>(pairs: readonly [T, T][], ratioOf: (left: T, right: T) => number) {
  const sorted = pairs
    .map(([left, right]) => ({ left, right, ratio: ratioOf(left, right) }))
    .sort((one, other) => one.ratio - other.ratio)
  const middle = sorted[Math.floor(sorted.length / 2)]
  if (!middle) throw new Error('nothing was measured')
  return { ...middle, low: sorted[0]?.ratio ?? 0, high: sorted.at(-1)?.ratio ?? 0 }
}

/** The node runs in this process: the time of a commit is known here. */
async function startHere(home: string, roles: string): Promise<RunningNode> {
  const { config } = loadConfig({
    PAMOJA_HOME: home,
    PAMOJA_PORT: '0',
    PAMOJA_ADMIN_PORT: '0',
    PAMOJA_LOG_FILE: '/dev/null',
    PAMOJA_DATABASE_WAIT_SECONDS: '300',
    ...(roles === 'all' ? {} : { PAMOJA_ROLES: roles }),
  })
  const node = await startNode({ config, areas: [...areas, notes], extraMigrations: notesMigrations })
  const client = await node.app.db.connect()
  const { rows } = await client.query(`select to_regtype('bench.emit_item') as made`)
  if (rows[0].made === null) await client.query(setUp)
  await client.end()
  return node
}

interface Sink {
  port: number
  /** Waits until so many different deliveries have arrived. */
  received(deliveries: number): Promise<void>
  /** Time of each delivery's first arrival; the next call begins anew. */
  taken(): Promise<ReadonlyMap<string, number>>
  stop(): Promise<void>
}

async function startSink(home: string): Promise<Sink> {
  const files = [join(home, 'tls/server.pem'), join(home, 'tls/server-key.pem')]
  const { child, said } = await start<{ port: number }>('./sink.js', files, {})
  const ask = async <Said>(question: string): Promise<Said> => {
    child.send(question)
    const [answer] = await once(child, 'message')
    return answer
  }
  const count = async (): Promise<number> => (await ask<{ count: number }>('count')).count
  return {
    port: said.port,
    async received(deliveries) {
      while ((await count()) < deliveries) await new Promise((resolve) => setTimeout(resolve, 5))
    },
    taken: async () => new Map((await ask<{ arrivals: [string, number][] }>('take')).arrivals),
    stop: () => end(child),
  }
}

/** New accounts, each with endpoints at the addresses given. */
async function register(
  node: RunningNode,
  howMany: number,
  url: (i: number) => string,
  endpoints = 1,
): Promise<Tenant[]> {
  const ca = node.caFile ? readFileSync(node.caFile, 'utf8') : null
  const given = await credentials(node)
  const operator = new Client(node.url, ca, given.operator_key)
  const tenants: Tenant[] = []
  for (let n = 0; n < howMany; n++) {
    const { body: made } = await operator.post('/v1/operator/accounts', {
      name: 'Bench',
      country: 'KE',
      currency: 'KES',
      plan: 'enterprise',
    })
    const client = operator.as(made.test_api_key)
    for (let i = 0; i < endpoints; i++) {
      const { status, text } = await client.post('/v1/webhooks', { url: url(i), events: ['note.published'] })
      if (status !== 201) throw new Error(`an endpoint was not registered: ${text}`)
    }
    const account = uuidOf('account', made.id) ?? ''
    tenants.push({ bucket: bucketOf(account), account, environment: 'test' })
  }
  operator.close()
  return tenants
}

function newEvent({ app }: RunningNode, tenant: Tenant) {
  const nowMs = systemClock.nowMs()
  const note = newUuid(nowMs)
  const text = 'Your order 4512 is on its way and arrives before noon.'
  const metadata = { shop: 'Westlands', order: '4512' }
  const occasion = { tenant, receivedMs: nowMs, nowMs, requestId: null }
  return app.outbox.prepare(published, occasion, note, { note_id: note, topic: null, text, metadata })
}

/** Tells of events at an even pace; gives when each of their deliveries was committed. */
async function tell(
  node: RunningNode,
  tenants: readonly Tenant[],
  perSecond: number,
  durationMs: number,
): Promise<Map<string, number>> {
  const committed = new Map<string, number>()
  const running: Promise<void>[] = []
  const startedAt = performance.now()
  for (let n = 0; ; ) {
    const elapsedMs = performance.now() - startedAt
    if (elapsedMs >= durationMs) break
    for (; n < (elapsedMs / 1_000) * perSecond; n++) running.push(tellOne(tenants[n % tenants.length] ?? newTenant()))
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(running)
  return committed

  async function tellOne(tenant: Tenant): Promise<void> {
    const event = newEvent(node, tenant)
    const { deliveries } = await node.app.commit(emit, { bucket: tenant.bucket, event: event.row })
    const atMs = performance.timeOrigin + performance.now()
    for (const begun of deliveries?.split(',') ?? []) committed.set(idOf('delivery', begun.slice(0, 36)), atMs)
    node.app.outbox.begin(event, deliveries)
  }
}

/** Times at which so many of these first arrived; what else arrives, such as one that is told again, is left out. */
async function arrivals(
  sink: Sink,
  committed: ReadonlyMap<string, number>,
  expected: number,
): Promise<ReadonlyMap<string, number>> {
  const arrived = new Map<string, number>()
  for (;;) {
    for (const [id, atMs] of await sink.taken()) if (committed.has(id) && !arrived.has(id)) arrived.set(id, atMs)
    if (arrived.size >= expected) return arrived
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

function delays(committed: ReadonlyMap<string, number>, arrived: ReadonlyMap<string, number>): Delays {
  const sorted = [...arrived].map(([id, atMs]) => Math.max(0, atMs - (committed.get(id) ?? 0))).sort((a, b) => a - b)
  const percentile = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0
  return { p50: percentile(0.5), p99: percentile(0.99) }
}
