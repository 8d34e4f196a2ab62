// SPDX-License-Identifier: Apache-2.0
// Sessions of USSD: what the platform adds to a step that a gateway brings over HTTP while a stored menu answers, at a steady
// number of sessions a second; how many sessions stay alive in one node, what memory it takes for them, and how many are alive
// and can be gone on with after a restart.
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from '../test/client.ts'
import { end, type NodeProcess, residentMb, startNodeProcess } from './children.ts'
import { cpuMeter } from './cpu.ts'
import { newHome } from './home.ts'
import { Lines, post } from './load.ts'
import type { Figure } from './report.ts'

const shortcode = '*384#'
const nodes = {
  home: { text: 'Welcome', options: [{ label: 'Loan', next: 'amount' }] },
  amount: { text: 'How much?', input: { save: 'amount' }, next: 'done' },
  done: { text: 'Thank you', end: true },
}

export async function ussd({ short }: { short: boolean }): Promise<Figure[]> {
  const home = await newHome()
  const environment = { PAMOJA_HOME: home, PAMOJA_RATE_LIMITS: 'off' }
  let node = await startNodeProcess(environment)
  try {
    const client = clientOf(node)
    const { body: menu } = await client.post('/v1/ussd/menus', { name: 'Loans', start: 'home', nodes })
    await client.post('/v1/ussd/shortcodes', { shortcode, mode: 'menu', menu_id: menu.id, timeout: 180 })
    const rates = short ? [20] : [50, 100, 200, 500]
    const figures: Figure[] = []
    const lines = await Lines.open({ port: node.port, ca: readFileSync(node.caFile, 'utf8'), connections: 128 })
    const key = node.credentials.api_key
    // Node compiles what it runs often, for some thousands of steps.
    await steadily(lines, key, 'w', short ? 20 : 200, short ? 1 : 15)
    for (const perSecond of rates) figures.push(await stepsAt(lines, key, perSecond, short ? 2 : 20))
    lines.close()
    const wanted = short ? 100 : 50_000
    const beforeMb = residentMb(node.child.pid)
    const alive = await keepAlive(client, wanted)
    const tookMb = Math.max(0, residentMb(node.child.pid) - beforeMb)
    await end(node.child)
    node = await startNodeProcess(environment)
    const after = await countAlive(clientOf(node))
    const goneOn = await goOn(clientOf(node), wanted, short ? 10 : 500)
    return [
      ...figures,
      { name: 'sessions alive in one node', value: alive, unit: 'sessions' },
      { name: 'memory that the node took while they began', value: tookMb, unit: 'MB' },
      { name: 'sessions alive after a restart', value: after, unit: 'sessions' },
      { name: 'of some of them, answered with their next screen', value: goneOn * 100, unit: '%' },
    ]
  } finally {
    await end(node.child)
    await rm(home, { recursive: true, force: true })
  }
}

function clientOf({ url, caFile, credentials }: NodeProcess): Client {
  return new Client(url, readFileSync(caFile, 'utf8'), credentials.api_key)
}

/** Has subscribers of sessions that were kept answer; gives the part of them that see their next screen. */
async function goOn(client: Client, kept: number, wanted: number): Promise<number> {
  let answered = 0
  for (let i = 0; i < wanted; i++) {
    const n = Math.floor((i * kept) / wanted)
    const phone = `+2557${String(10_000_000 + n)}`
    const call = { session_id: `k-${n}`, phone, shortcode, type: 'response', input: '1', step: 1 }
    const { body } = await client.post('/v1/ussd/callback', call)
    if (body.message === 'How much?') answered++
  }
  return answered / wanted
}

/** Times of a step while so many sessions a second begin. */
async function stepsAt(lines: Lines, key: string, perSecond: number, seconds: number): Promise<Figure> {
  const meter = cpuMeter()
  const steps = await steadily(lines, key, `b-${perSecond}`, perSecond, seconds)
  const cpu = meter.per(steps.length)
  steps.sort((a, b) => a - b)
  const at = (part: number): number => steps[Math.min(steps.length - 1, Math.floor(steps.length * part))] ?? 0
  const name = `a step at ${perSecond} sessions/s, p99`
  return { name, value: at(0.99), unit: 'ms', p50Ms: at(0.5), p99Ms: at(0.99), cpu }
}

/** Begins so many sessions a second, each of three steps; gives how long each step took. */
async function steadily(
  lines: Lines,
  key: string,
  name: string,
  perSecond: number,
  seconds: number,
): Promise<number[]> {
  const tookMs: number[] = []
  const sessions: Promise<void>[] = []
  const startedAt = performance.now()
  for (let n = 0; n < perSecond * seconds; n++) {
    sessions.push(whole(lines, key, `${name}-${n}`, n, tookMs))
    await pause(Math.max(0, startedAt + (n * 1_000) / perSecond - performance.now()))
  }
  await Promise.all(sessions)
  return tookMs
}

async function whole(lines: Lines, key: string, session_id: string, n: number, tookMs: number[]): Promise<void> {
  const call = { session_id, phone: `+2547${String(10_000_000 + n)}`, shortcode }
  const answers = [
    { type: 'initiation', input: null },
    { type: 'response', input: '1', step: 1 },
    { type: 'response', input: '500', step: 2 },
  ]
  for (const answer of answers) {
    const {
      status,
      body,
      tookMs: ms,
    } = await lines.ask(post('/v1/ussd/callback', key, JSON.stringify({ ...call, ...answer })))
    if (status !== '200') throw new Error(`a step was answered ${status} ${body}`)
    tookMs.push(ms)
  }
}

/** Begins sessions that nobody ends, and counts those that are still alive. */
async function keepAlive(client: Client, wanted: number): Promise<number> {
  let begun = 0
  const worker = async (): Promise<void> => {
    while (begun < wanted) {
      const n = begun++
      const phone = `+2557${String(10_000_000 + n)}`
      const { status, text } = await client.post('/v1/ussd/callback', {
        session_id: `k-${n}`,
        phone,
        shortcode,
        type: 'initiation',
        input: null,
      })
      if (status !== 200) throw new Error(`a session was refused with ${status} ${text}`)
    }
  }
  await Promise.all(Array.from({ length: 64 }, worker))
  return countAlive(client)
}

/** Sessions begun to be kept that have not ended, page by page: the figures of the account count every session. */
async function countAlive(client: Client): Promise<number> {
  let alive = 0
  for (let cursor: string | null = ''; cursor !== null; ) {
    const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { status, body, text } = await client.get(`/v1/ussd/sessions?status=active&limit=200${after}`)
    if (status !== 200) throw new Error(`sessions were listed with ${status} ${text}`)
    alive += body.data.filter(({ phone }: { phone: string }) => phone.startsWith('+2557')).length
    cursor = body.next_cursor
  }
  return alive
}
