// SPDX-License-Identifier: Apache-2.0
// A wallboard of many agents, half of them in calls, a hundredth of whom end or begin one each second: what telling it by a stream
// costs the node, and what showing it costs the browser.
import { readFileSync } from 'node:fs'
import type { CDPSession } from 'playwright-core'
import { uuidOf } from '../src/kernel/ids.ts'
import { statement } from '../src/platform/db.ts'
import { buildConsole, openBrowser, withoutChromium } from '../test/chromium.ts'
import { eventually } from '../test/eventually.ts'
import { openStream } from '../test/stream.ts'
import { startWorld, tenantOf, type World } from '../test/world.ts'
import type { Figure } from './report.ts'

/** Agents at work, and seconds of each measurement. */
interface Extent {
  readonly count: number
  readonly seconds: number
}

export async function callcenterWallboard({ short }: { short: boolean }): Promise<Figure[]> {
  const extent = short ? { count: 50, seconds: 2 } : { count: 1_000, seconds: 20 }
  const world = await startWorld()
  try {
    const change = await agentsOf(world, extent.count)
    return [
      await costOfStream(world, extent, change),
      ...(withoutChromium() ? [] : [await costOfPage(world, extent, change)]),
    ]
  } finally {
    await world.stop()
  }
}

interface At {
  readonly bucket: number
  readonly account: string
}

const signIn = statement.tenant<At & { count: number }, object>(
  'bench.sign_in',
  `insert into callcenter.agents (bucket, account_id, environment, agent_id, name, status, since, endpoint, session_id, logged_in_at,
                                 idle_since, created_at, updated_at)
   select $bucket, $account, 'test', 'agent-' || n, 'Agent ' || n, 'available', now(), '{"type": "webrtc"}', gen_random_uuid(), now(), now(), now(), now()
     from generate_series(1, $count::int) n`,
)

/** An id that begins with the time, as those of calls do. */
const newId = `(lpad(to_hex((1000 * extract(epoch from now()))::bigint), 12, '0') || '7' || right(replace(gen_random_uuid()::text, '-', ''), 19))::uuid`

/** Callers who wait for nobody in particular. */
const wait = statement.tenant<At & { queue: string; count: number }, object>(
  'bench.wait',
  `insert into callcenter.contacts (bucket, account_id, environment, id, call_id, room_id, queue_id, direction, from_number, to_number,
                                    state, priority, entered_at)
   select $bucket, $account, 'test', call, call, call, $queue, 'inbound', '+25471' || 1000000 + n, '+254700111000', 'waiting', 5, now()
     from generate_series(1, $count::int) n, lateral (select ${newId} call where n > 0)`,
)

/** Agents in a call end it, and those who are free begin one. */
const changeSome = statement.tenant<At & { queue: string; first: number; last: number }, object>(
  'bench.change_some',
  `with picked as (
     select agent_id, status, call_id, contact_id, row_number() over () n from callcenter.agents
      where bucket = $bucket and account_id = $account and environment = 'test'
        and agent_id in (select 'agent-' || n from generate_series($first::int, $last::int) n)),
   over as (
     update callcenter.contacts set state = 'ended', ended_at = now()
      where bucket = $bucket and account_id = $account and environment = 'test'
        and id in (select contact_id from picked where status = 'on_call')),
   silent as (
     update voice.calls set status = 'completed', ended_at = now()
      where bucket = $bucket and account_id = $account and environment = 'test'
        and id in (select call_id from picked where status = 'on_call')),
   begun as (
     insert into callcenter.contacts (bucket, account_id, environment, id, call_id, room_id, queue_id, agent_id, direction, from_number,
                                      to_number, state, outcome, priority, entered_at, answered_at)
     select $bucket, $account, 'test', call, call, call, $queue, agent_id, 'inbound', '+25471' || 2000000 + n, '+254700111000',
            'connected', 'answered', 5, now(), now()
       from picked, lateral (select ${newId} call where n > 0) where status = 'available'
     returning id, call_id, agent_id, from_number),
   called as (
     insert into voice.calls (bucket, account_id, environment, id, conversation, direction, from_number, to_number, status, phase, plan,
                              agent_id, started_at, answered_at, minute_micros, currency)
     select $bucket, $account, 'test', call_id, call_id, 'inbound', from_number, '+254700111000', 'answered', 'connected', '{}',
            agent_id, now(), now(), 0, 'KES' from begun)
   update callcenter.agents a
      set status = case p.status when 'available' then 'on_call' else 'available' end, since = now(), call_id = b.call_id, contact_id = b.id
     from picked p left join begun b using (agent_id)
    where a.bucket = $bucket and a.account_id = $account and a.environment = 'test' and a.agent_id = p.agent_id`,
)

type Change = (second: number) => Promise<unknown>

/**
 * Signs agents in, half of them in calls, and has callers wait in five queues. Gives what changes a hundredth of the agents: those
 * in a call end it, the others begin one.
 */
async function agentsOf(world: World, count: number): Promise<Change> {
  const { body } = await world.demo.get('/v1/auth/whoami')
  const at = tenantOf({ id: body.account_id })
  const { db } = world.app
  await db.query(signIn, { ...at, count })
  const queues = await Promise.all(
    ['Orders', 'Loans', 'Cards', 'Swahili', 'Complaints'].map((name) => queueOf(world, name)),
  )
  for (const queue of queues) await db.query(wait, { ...at, queue, count: count / 50 })
  const change = (first: number, some: number) =>
    db.query(changeSome, { ...at, queue: queues[first % 5] ?? '', first, last: first + some - 1 })
  const some = Math.max(1, count / 100)
  for (let first = 1; first <= count; first += 2 * some) await change(first, some)
  return (second) => change(1 + ((second * some) % count), some)
}

async function queueOf({ demo }: World, name: string): Promise<string> {
  const { status, body } = await demo.post('/v1/voice/queue', { name })
  if (status !== 201) throw new Error(`${name}: ${JSON.stringify(body)}`)
  return uuidOf('queue', body.queue_id) ?? body.queue_id
}

async function eachSecond(seconds: number, change: Change): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    const rest = new Promise((resume) => setTimeout(resume, 1_000))
    await change(i)
    await rest
  }
}

/** What a stream costs the node beside the changes themselves; the program that reads it is in the same process. */
async function costOfStream(world: World, { count, seconds }: Extent, change: Change): Promise<Figure> {
  const run = async (): Promise<number> => {
    const before = process.cpuUsage()
    await eachSecond(seconds, change)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000 / seconds
  }
  const without = await run()
  const stream = await openStream(`${world.node.url}/v1/call-center/metrics/realtime?stream=1`, {
    key: world.credentials.api_key,
    ca: world.node.caFile && readFileSync(world.node.caFile, 'utf8'),
    headers: { accept: 'text/event-stream' },
  })
  await eventually(async () => stream.messages.length > 0, 'the first figures')
  const withOne = await run()
  stream.close()
  return { name: `wallboard of ${count} agents, the node`, value: withOne - without, unit: 'ms of CPU a second' }
}

/** What the page costs the thread that shows it, by the browser's own count. */
async function costOfPage(world: World, { count, seconds }: Extent, change: Change): Promise<Figure> {
  buildConsole()
  const { console: given } = world.credentials
  if (!given) throw new Error('this installation has no console')
  const browser = await openBrowser()
  try {
    const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    page.setDefaultTimeout(120_000)
    await page.goto(given.url)
    await page.getByLabel('Email address').fill(given.email)
    await page.getByLabel('Password').fill(given.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await page.goto(`${given.url}/wallboard`)
    await page
      .locator('.agents > li')
      .nth(count - 1)
      .waitFor({ state: 'attached' })
    const session = await context.newCDPSession(page)
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    const before = await busySeconds(session)
    await eachSecond(seconds, change)
    const value = ((await busySeconds(session)) - before) * (1_000 / seconds)
    return { name: `wallboard of ${count} agents, the page`, value, unit: 'ms of CPU a second' }
  } finally {
    await browser.close()
  }
}

async function busySeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0
}
