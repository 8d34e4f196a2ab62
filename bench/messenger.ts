// SPDX-License-Identifier: Apache-2.0
// The messenger: texts to users accepted one by one, beside SMS accepted in the same run; what a user writes until the customer's
// webhook has it, signed; and a document of 100 MB uploaded, with how much memory the node takes for it.
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Client } from '../test/client.ts'
import { startReceiver } from '../test/receiver.ts'
import { end, residentMb, startNodeProcess } from './children.ts'
import { lesser } from './cpu.ts'
import { newHome } from './home.ts'
import { type LoadResult, load, post } from './load.ts'
import type { Figure } from './report.ts'

const connections = 64
const turns = 2
const user = '+254722000123'

export async function messenger({ short }: { short: boolean }): Promise<Figure[]> {
  const home = await newHome()
  const node = await startNodeProcess({ PAMOJA_HOME: home, PAMOJA_RATE_LIMITS: 'off' })
  try {
    const ca = readFileSync(node.caFile, 'utf8')
    const { api_key: key } = node.credentials
    const client = new Client(node.url, ca, key)
    const inbound = { from: user, type: 'text', text: { body: 'Habari' } }
    const { status, text } = await client.post('/v1/sandbox/messenger/inbound', inbound)
    if (status !== 201) throw new Error(`the user could not write: ${status} ${text}`)
    const heard = await untilHeard(client, inbound, short ? 20 : 300)
    const uploaded = await upload(client, node.child.pid ?? 0, short ? 5 : 100)
    const accepted = await sideBySide(node.port, ca, key, short ? 1_000 : 8_000)
    client.close()
    return [...accepted, heard, ...uploaded]
  } finally {
    await end(node.child)
    await rm(home, { recursive: true, force: true })
  }
}

async function sideBySide(port: number, ca: string, key: string, durationMs: number): Promise<Figure[]> {
  const body = JSON.stringify({ to: user, type: 'text', text: { body: 'Your order 4512 is on its way.' } })
  const sms = JSON.stringify({ to: user, from: 'PAMOJA', message: 'Your order 4512 is on its way.' })
  const run = async (path: string, what: string): Promise<LoadResult> => {
    const result = await load({
      port,
      ca,
      connections,
      durationMs: durationMs / turns,
      next: () => post(path, key, what),
    })
    if (result.statuses['200'] !== result.requests) throw new Error(`${path}: ${JSON.stringify(result.statuses)}`)
    return result
  }
  // In turns, so that each has to bear what the other left to be done.
  const texts: LoadResult[] = []
  const messages: LoadResult[] = []
  for (let turn = 0; turn < turns; turn++) {
    texts.push(await run('/v1/sms/send', sms))
    messages.push(await run('/v1/messenger/messages', body))
  }
  const [sent, written] = [together(texts), together(messages)]
  const figure = (name: string, { perSecond: value, p50Ms, p99Ms, cpu }: Together): Figure => ({
    name: `${name}, ${connections} connections`,
    value,
    unit: 'requests/s',
    p50Ms,
    p99Ms,
    cpu,
  })
  return [
    figure('SMS accepted', sent),
    figure('messages accepted', written),
    { name: 'ratio, messages to SMS', value: written.perSecond / sent.perSecond, unit: '' },
  ]
}

type Together = Pick<LoadResult, 'perSecond' | 'p50Ms' | 'p99Ms' | 'cpu'>

/** The mean of several turns, with the slowest of their percentiles and the least CPU. */
function together(results: readonly LoadResult[]): Together {
  return {
    perSecond: results.reduce((sum, { perSecond }) => sum + perSecond, 0) / results.length,
    p50Ms: Math.max(...results.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...results.map(({ p99Ms }) => p99Ms)),
    cpu: results.map(({ cpu }) => cpu).reduce(lesser),
  }
}

/** Times from the provider's call to the customer's webhook, one message after the other. */
async function untilHeard(client: Client, inbound: object, times: number): Promise<Figure> {
  const receiver = await startReceiver()
  const tookMs: number[] = []
  try {
    await client.post('/v1/webhooks', { url: receiver.url('/in'), events: ['messenger.message'] })
    for (let i = 0; i < times; i++) {
      const beganMs = performance.now()
      await Promise.all([client.post('/v1/sandbox/messenger/inbound', inbound), receiver.next('/in')])
      tookMs.push(performance.now() - beganMs)
    }
  } finally {
    await receiver.stop()
  }
  tookMs.sort((a, b) => a - b)
  const at = (part: number): number => tookMs[Math.min(tookMs.length - 1, Math.floor(tookMs.length * part))] ?? 0
  return {
    name: 'a user writes until a webhook has it, p99',
    value: at(0.99),
    unit: 'ms',
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  }
}

async function upload(client: Client, pid: number, megabytes: number): Promise<Figure[]> {
  const boundary = 'bench'
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="type"\r\n\r\ntext/plain\r\n--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n`
  const raw = Buffer.concat([
    Buffer.from(head),
    Buffer.alloc(megabytes * 1_048_576, 'a'),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
  const before = residentMb(pid)
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, residentMb(pid))
  }, 20)
  const beganMs = performance.now()
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
  const { status, text } = await client.request('POST', '/v1/messenger/media', { raw, headers })
  const seconds = (performance.now() - beganMs) / 1000
  clearInterval(watch)
  if (status !== 201) throw new Error(`the upload was answered ${status} ${text}`)
  return [
    { name: `a document of ${megabytes} MB uploaded`, value: megabytes / seconds, unit: 'MB/s' },
    { name: 'memory that the node took for it', value: Math.max(0, most - before), unit: 'MB' },
  ]
}
