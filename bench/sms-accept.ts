// SPDX-License-Identifier: Apache-2.0
// Accepting messages: one by one (auth, validation, limits, idempotency, opt-outs, charge, message, job, audit; fsync on)
// and ten thousand at a time, against a bare validated route on the same machine in the same run.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '../test/client.ts'
import { end, start, startNodeProcess } from './children.ts'
import { perEach } from './cpu.ts'
import { compared, openAccounts } from './durable-write.ts'
import { newHome } from './home.ts'
import { type LoadResult, load, post } from './load.ts'
import type { Figure } from './report.ts'

const connections = 128
const bulkSize = 10_000
const bulkConnections = 2
const message = 'Your order 4512 is on its way and arrives before noon.'

export async function smsAccept({ short }: { short: boolean }): Promise<Figure[]> {
  const home = await newHome()
  // What becomes of the messages afterwards is another benchmark's.
  const node = await startNodeProcess({ PAMOJA_HOME: home, PAMOJA_ROLES: 'api' })
  const tls = [join(home, 'tls/server.pem'), join(home, 'tls/server-key.pem')]
  const bare = await start<{ port: number }>('./bare-server.js', tls, {})
  try {
    const ca = readFileSync(node.caFile, 'utf8')
    const keys = await openAccounts(new Client(node.url, ca, node.credentials.operator_key))
    const run = randomBytes(6).toString('hex')
    let n = 0
    const single = (): Buffer => {
      n++
      const body = JSON.stringify({ to: recipient(n), from: 'PAMOJA', message })
      return post('/v1/sms/send', keys[n % keys.length] ?? '', body, `Idempotency-Key: ${n.toString(36)}-${run}\r\n`)
    }
    const bulkBody = JSON.stringify({
      from: 'PAMOJA',
      messages: Array.from({ length: bulkSize }, (_, i) => ({ to: recipient(i), message })),
    })
    const bulk = (): Buffer => post('/v1/sms/bulk', keys[++n % keys.length] ?? '', bulkBody)
    const durationMs = short ? 1_000 : 5_000
    const toNode = { ca, port: node.port, connections, durationMs }
    const toBare = { ca, port: bare.said.port, connections, durationMs, next: single }
    await load({ ...toNode, next: single, durationMs: short ? 1_500 : 6_000 })
    await load({ ...toBare, durationMs: short ? 500 : 3_000 })

    const pairs: { route: LoadResult; write: LoadResult }[] = []
    for (let round = 0; round < (short ? 1 : 3); round++)
      pairs.push({ route: await load(toBare), write: await load({ ...toNode, next: single }) })
    const figures = compared('durable send', connections, pairs)
    const route = figures[0]?.value ?? 0

    const many = await load({ ...toNode, connections: bulkConnections, next: bulk })
    if (many.statuses['200'] !== many.requests) throw new Error(`bulks were answered ${JSON.stringify(many.statuses)}`)
    const perSecond = many.perSecond * bulkSize
    return [
      ...figures,
      {
        name: `bulk of ${bulkSize.toLocaleString('en')}, ${bulkConnections} connections`,
        value: perSecond,
        unit: 'messages/s',
        p50Ms: many.p50Ms,
        p99Ms: many.p99Ms,
        cpu: perEach(many.cpu, bulkSize),
      },
      { name: 'ratio, messages in bulk to bare requests', value: perSecond / route, unit: '' },
    ]
  } finally {
    await end(bare.child)
    await end(node.child)
    await rm(home, { recursive: true, force: true })
  }
}

/** No number of the sandbox that forces an outcome: those end in 0000NN. */
const recipient = (n: number): string => `+2547${String(20_111_111 + (n % 100_000))}`
