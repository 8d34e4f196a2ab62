// SPDX-License-Identifier: Apache-2.0
// Long lists of the console in Chromium: 200,000 texts are read to their end by scrolling, then rows are walked, chosen, filtered and
// sorted down there. What an interaction takes is told by the browser's own Event Timing, from the input to the next picture.
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { CDPSession, Page } from 'playwright-core'
import { startPostgres } from '../src/platform/postgres.ts'
import { buildConsole, openBrowser } from '../test/chromium.ts'
import { Client } from '../test/client.ts'
import { end, startNodeProcess } from './children.ts'
import { newHome } from './home.ts'
import type { Figure } from './report.ts'

const patienceMs = 600_000
/** Rows below this are those of a screen, which say nothing of a long list. */
const leastRows = 2_000
const allTexts = 200_000

export async function consoleLists({ short, scale }: { short: boolean; scale: number }): Promise<Figure[]> {
  const home = await newHome()
  const postgres = await startPostgres({ dir: join(home, 'postgres') })
  const database = new pg.Client({ connectionString: postgres.url })
  await database.connect()
  const settings = { PAMOJA_HOME: home, PAMOJA_RATE_LIMITS: 'off', DATABASE_URL: postgres.url }
  const node = await startNodeProcess(settings)
  buildConsole()
  const browser = await openBrowser(['--js-flags=--expose-gc'])
  try {
    const texts = short ? leastRows : Math.max(leastRows, Math.ceil(allTexts * scale))
    const client = new Client(node.url, readFileSync(node.caFile, 'utf8'), node.credentials.api_key)
    await client.post('/v1/sms/send', { to: '+254711000001', from: 'PAMOJA', message: 'Habari, oda yako iko tayari.' })
    client.close()
    await fill(database, texts)
    const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    page.setDefaultTimeout(patienceMs)
    const session = await context.newCDPSession(page)
    const { console: given } = node.credentials
    if (!given) throw new Error('this installation has no console')
    await page.goto(given.url)
    await page.getByLabel('Email address').fill(given.email)
    await page.getByLabel('Password').fill(given.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await page.goto(`${given.url}/messages`)
    await page.locator('tr.r').first().waitFor()
    await page.evaluate(watchEvents)
    const beginning = await memoryOf(session)
    const near = await interact(page, 'at the top')
    const read = await readToTheEnd(page)
    const whole = await memoryOf(session)
    const far = await interact(page, `at row ${texts}`)
    const asked = await ask(page)
    return [
      { name: 'rows in the list', value: texts, unit: '' },
      { name: 'read to its end by scrolling', value: read.seconds, unit: 's' },
      { name: 'scrolling: longest pause between two pictures, p95', value: read.pauseMs, unit: 'ms' },
      ...near,
      ...far,
      ...asked,
      { name: 'memory of the page at the top', value: beginning.megabytes, unit: 'MB' },
      { name: 'memory of the page at its end', value: whole.megabytes, unit: 'MB' },
      { name: 'elements of the page at its end', value: whole.nodes, unit: '' },
    ]
  } finally {
    await browser.close()
    await database.end()
    await end(node.child)
    await postgres.stop()
    await rm(home, { recursive: true, force: true })
  }
}

/** Copies of the one text, each a second older than the last. */
async function fill(database: pg.Client, texts: number): Promise<void> {
  const id = `(lpad(to_hex($2::bigint - n * 1000), 12, '0') || '7000' || '8' || left(md5(n::text), 15))::uuid`
  await database.query(
    `insert into sms.messages select r.* from generate_series(1, $1::int) n
      cross join lateral (select to_jsonb(t) as row from sms.messages t where direction = 'outbound' limit 1) one
      cross join lateral jsonb_populate_record(null::sms.messages, one.row || jsonb_build_object(
        'id', ${id}, 'created_at', to_timestamp($2::bigint / 1000 - n), 'recipient', '+2547' || 10000000 + n,
        'status', (array['delivered', 'delivered', 'delivered', 'failed'])[1 + n % 4], 'reference', null, 'batch_id', null)) r`,
    [texts, Date.now() - 3_600_000],
  )
  await database.query('analyze sms.messages')
}

/** The page keeps what each interaction took, until it is asked. */
const watchEvents = `
  window.took = new Map()
  new PerformanceObserver((list) => {
    for (const { interactionId: id, duration } of list.getEntries())
      if (id > 0) window.took.set(id, Math.max(duration, window.took.get(id) ?? 0))
  }).observe({ type: 'event', durationThreshold: 16, buffered: true })`

const painted = 'new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)))'

/** Interactions that took less than the browser tells, 16 ms, count as that. */
async function measured(page: Page, name: string, many: number, act: (i: number) => Promise<unknown>): Promise<Figure> {
  await page.evaluate('window.took.clear()')
  for (let i = 0; i < many; i++) {
    await act(i)
    await page.evaluate(painted)
  }
  const told = await page.evaluate('[...window.took.values()]')
  const times = Array.isArray(told) ? told.map(Number) : []
  while (times.length < many) times.push(16)
  return { name: `${name}, p95 of ${times.length}`, value: percentile(times, 0.95), unit: 'ms' }
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

/** Walks rows by keys, and opens and closes the list of the keys. */
async function interact(page: Page, where: string): Promise<Figure[]> {
  await page.mouse.click(5, 400)
  return [
    await measured(page, `a key that walks the rows ${where}`, 40, (i) => page.keyboard.press(i % 4 === 3 ? 'k' : 'j')),
    await measured(page, `a turn of the page ${where}`, 20, (i) =>
      page.keyboard.press(i % 2 === 0 ? 'PageUp' : 'PageDown'),
    ),
  ]
}

/** Types a search, chooses a state and turns the order round, each from the end of the list. */
async function ask(page: Page): Promise<Figure[]> {
  const search = page.locator('.filters input[type=search], .filters input').first()
  const typing = await measured(page, 'a letter of a search', 12, (i) => search.press(String(i % 10)))
  await search.fill('')
  const state = page.getByLabel('State')
  const choosing = await measured(page, 'another state', 8, async (i) => {
    await state.focus()
    await page.keyboard.press(i % 2 === 0 ? 'ArrowDown' : 'ArrowUp')
  })
  const order = page.locator('th[aria-sort] button')
  const turning = await measured(page, 'the other order', 8, async () => {
    await order.click()
    await page.locator('tr.r').first().waitFor()
  })
  return [typing, choosing, turning]
}

/** Scrolls as fast as pages come, and notes how long the page stood still. */
async function readToTheEnd(page: Page): Promise<{ seconds: number; pauseMs: number }> {
  const beganMs = performance.now()
  await page.evaluate(`
    window.pauses = []
    let last = performance.now()
    const tick = (now) => {
      window.pauses.push(now - last)
      last = now
      window.scrollTo(0, document.documentElement.scrollHeight)
      if (!/in all$/.test(document.querySelector('.tbl-foot')?.textContent ?? '')) requestAnimationFrame(tick)
    }
    requestAnimationFrame(tick)`)
  await page
    .locator('.tbl-foot')
    .filter({ hasText: /in all$/ })
    .waitFor()
  const told = await page.evaluate('window.pauses')
  const pauses = Array.isArray(told) ? told.map(Number) : []
  return { seconds: (performance.now() - beganMs) / 1_000, pauseMs: percentile(pauses, 0.95) }
}

async function memoryOf(session: CDPSession): Promise<{ megabytes: number; nodes: number }> {
  await session.send('HeapProfiler.collectGarbage')
  await session.send('Performance.enable')
  const { metrics } = await session.send('Performance.getMetrics')
  const value = (name: string): number => metrics.find((one) => one.name === name)?.value ?? 0
  return { megabytes: value('JSHeapUsedSize') / 2 ** 20, nodes: value('Nodes') }
}
