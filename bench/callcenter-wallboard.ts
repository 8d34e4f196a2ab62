// SPDX-License-Identifier: Apache-2.0
// A wallboard of many agents, a hundredth of whom change their state each second: what telling it by a stream costs the node, and
// what showing it costs the browser.
import { readFileSync } from 'node:fs'
import type { CDPSession } from 'playwright-core'
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

const signIn = statement.tenant<{ bucket: number; account: string; count: number }, object>(
  'bench.sign_in',
  `insert into callcenter.agents (bucket, account_id, environment, agent_id, name, status, since, endpoint, session_id, logged_in_at,
                                 idle_since, created_at, updated_at)
   select $bucket, $account, 'test', 'agent-' || n, 'Agent ' || n, 'available', now(), '{"type": "webrtc"}', gen_random_uuid(), now(), now(), now(), now()
     from generate_series(1, $count::int) n`,
)

const changeSome = statement.tenant<{ bucket: number; account: string; first: number; last: number }, object>(
  'bench.change_some',
  `update callcenter.agents
      set status = case status when 'available' then 'break' else 'available' end, since = now()
    where bucket = $bucket and account_id = $account and environment = 'test'
      and agent_id in (select 'agent-' || n from generate_series($first::int, $last::int) n)`,
)

type Change = (second: number) => Promise<unknown>

/** Signs agents in; gives what changes a hundredth of them. */
async function agentsOf(world: World, count: number): Promise<Change> {
  const { body } = await world.demo.get('/v1/auth/whoami')
  const { bucket, account } = tenantOf({ id: body.account_id })
  await world.app.db.query(signIn, { bucket, account, count })
  const some = Math.max(1, count / 100)
  return (second) => {
    const first = 1 + ((second * some) % count)
    return world.app.db.query(changeSome, { bucket, account, first, last: first + some - 1 })
  }
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
