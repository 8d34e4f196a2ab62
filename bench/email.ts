// SPDX-License-Identifier: Apache-2.0
// Mail: submitted by smtp-source, stored, signed twice and passed on, beside Postfix that stores and passes on the same, unsigned and
// signed by OpenDKIM (where they are installed); a bulk of ten thousand accepted; and links that are followed. Submission is encrypted and authenticated here, for
// smtp-source can do neither, by a bridge in this process; Postfix is spoken to in the clear.
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../test/eventually.ts'
import { type Installation, startInstallation } from '../test/faults/harness.ts'
import { mailProgramsMissing, runProgram, type Signer, startOpenDkim, startPostfix } from '../test/interop/postfix.ts'
import { startMailBridge } from '../test/mail-bridge.ts'
import { type MailServer, startMailServer } from '../test/mail-server.ts'
import { sayVerified } from '../test/mailing.ts'
import { type Cpu, cpuMeter, sumOf } from './cpu.ts'
import { load } from './load.ts'
import type { Figure } from './report.ts'

const domain = 'duka.example'
const sessions = 20
const messageBytes = 2_000
const clickConnections = 32
/** Mails before those that are counted, in multiples: Node compiles what it runs often, for some thousands of mails. */
const warmUps = 3

export async function email({ short }: { short: boolean }): Promise<Figure[]> {
  const relay = await startMailServer()
  const installation = await startInstallation({
    nodes: 1,
    environment: { PAMOJA_RATE_LIMITS: 'off', PAMOJA_MAIL_RELAY: `smtp://127.0.0.1:${relay.port}` },
  })
  try {
    const key = await liveKey(installation)
    const relayed = await relaying(installation, key, relay, short ? 20 : 2_000)
    const bulk = await bulkAccepted(installation, key, short ? 500 : 10_000)
    const clicks = await clicking(installation, key, relay, short ? 500 : 5_000)
    return [...relayed, bulk, clicks]
  } finally {
    await installation.stop()
    await relay.stop()
  }
}

async function liveKey(installation: Installation): Promise<string> {
  const { id, key } = await installation.account()
  const credit = { amount: 1_000_000, currency: 'KES', environment: 'live', reference: 'live' }
  await installation.operator().post(`/v1/operator/accounts/${id}/credit`, credit)
  const { body } = await installation.client(0, key).post('/v1/api-keys', { name: 'Live', environment: 'live' })
  await installation.operator().patch(`/v1/operator/api-keys/${body.id}`, { rate_limit_per_second: 1_000_000 })
  await installation.client(0, body.key).post('/v1/email/domains', { domain, dkim_record: 'txt' })
  await sayVerified({ query: (text, values) => installation.sql(text, values) }, domain)
  await priced(installation, body.key)
  return body.key
}

/** Live mail costs something from now on; without a price none is taken. */
async function priced(installation: Installation, key: string): Promise<void> {
  const price = { area: 'email', unit: 'message', amount: 0.05, currency: 'KES' }
  await installation.operator().post('/v1/operator/prices', price)
  const mail = { from: `shop@${domain}`, to: 'first@shop.example', subject: 'First', text: 'First' }
  const sent = async () => (await installation.client(0, key).post('/v1/email/send', mail)).status < 300
  await eventually(sent, 'the price to be in force')
}

async function relaying(installation: Installation, key: string, relay: MailServer, many: number): Promise<Figure[]> {
  const missing = mailProgramsMissing()
  if (missing !== null) {
    process.stderr.write(`email: nothing is relayed: ${missing}\n`)
    return []
  }
  const { body } = await installation.client(0, key).post('/v1/email/smtp-credentials', { name: 'bench' })
  const bridge = await startMailBridge({
    port: body.port,
    ca: installation.ca,
    username: body.username,
    password: body.password,
  })
  const ours = await timed(bridge.port, relay, many)
  await bridge.stop()
  const figures = figuresOf('submitted over TLS, signed twice, passed on', ours, many)
  if (process.getuid?.() !== 0) return figures
  figures.push(...(await besidePostfix('Postfix, in the clear, not signed', ours, many, null)))
  const signer = await startOpenDkim(domain)
  if (!signer) process.stderr.write('email: nothing is signed by OpenDKIM: install the package opendkim\n')
  if (!signer) return figures
  try {
    return [...figures, ...(await besidePostfix('Postfix and OpenDKIM, in the clear', ours, many, signer))]
  } finally {
    await signer.stop()
  }
}

/** Figures of the same mail through a Postfix, and how many times faster ours was. */
async function besidePostfix(what: string, ours: Timed, many: number, signer: Signer | null): Promise<Figure[]> {
  const sink = await startMailServer()
  const postfix = await startPostfix('shop.example', sink.port, signer)
  try {
    const theirs = await timed(postfix.port, sink, many, [postfix.pid])
    if (signer && !sink.contents.some((content) => content.includes('DKIM-Signature:')))
      throw new Error('OpenDKIM signed nothing')
    return [
      ...figuresOf(what, theirs, many),
      { name: `ratio, passed on, to ${what}`, value: theirs.arrivedMs / ours.arrivedMs, unit: '' },
      { name: `ratio of CPU to ${what}`, value: cpuOf(theirs) / cpuOf(ours), unit: '' },
    ]
  } finally {
    await postfix.stop()
    await sink.stop()
  }
}

interface Timed {
  acceptedMs: number
  arrivedMs: number
  cpu: Cpu
}

/** CPU of those that pass mail on: the load, the bridge and the server that takes it all run in this process. */
function cpuOf({ cpu: { benchmark: _, ...others } }: Timed): number {
  return sumOf(others)
}

async function timed(port: number, sink: MailServer, many: number, daemons: readonly number[] = []): Promise<Timed> {
  await passedOn(port, sink, many * warmUps)
  const meter = cpuMeter(daemons)
  return { ...(await passedOn(port, sink, many)), cpu: meter.per(many) }
}

async function passedOn(port: number, sink: MailServer, many: number): Promise<Omit<Timed, 'cpu'>> {
  const before = sink.contents.length
  const beganMs = performance.now()
  const { code, said } = await runProgram('smtp-source', [
    ...['-d', '-s', String(sessions), '-m', String(many), '-l', String(messageBytes)],
    ...['-f', `shop@${domain}`, '-t', 'amina@shop.example', `inet:127.0.0.1:${port}`],
  ])
  if (code !== 0) throw new Error(`smtp-source ended with ${code}: ${said}`)
  const acceptedMs = performance.now() - beganMs
  while (sink.contents.length - before < many) {
    if (performance.now() - beganMs > 300_000) throw new Error(`${sink.contents.length - before} of ${many} arrived`)
    await pause(5)
  }
  return { acceptedMs, arrivedMs: performance.now() - beganMs }
}

function figuresOf(what: string, { acceptedMs, arrivedMs, cpu }: Timed, many: number): Figure[] {
  return [
    { name: `${what}: accepted`, value: (many / acceptedMs) * 1000, unit: 'messages/s' },
    { name: `${what}: arrived`, value: (many / arrivedMs) * 1000, unit: 'messages/s', cpu },
  ]
}

async function bulkAccepted(installation: Installation, key: string, many: number): Promise<Figure> {
  const recipients = Array.from({ length: many }, (_, i) => ({ email: `r${i}@shop.example`, name: `R${i}` }))
  const bulk = { from: `shop@${domain}`, subject: 'Hi {{name}}', html: '<p>{{email}}</p>', recipients }
  const beganMs = performance.now()
  const { status, text } = await installation.client(0, key).post('/v1/email/bulk', bulk)
  const tookMs = performance.now() - beganMs
  if (status !== 200) throw new Error(`the bulk was answered ${status} ${text.slice(0, 200)}`)
  return { name: `a bulk of ${many.toLocaleString('en')} accepted in`, value: tookMs, unit: 'ms' }
}

async function clicking(
  installation: Installation,
  key: string,
  relay: MailServer,
  durationMs: number,
): Promise<Figure> {
  const subject = 'Followed'
  const html = '<p><a href="https://example.com/start">Karibu</a></p>'
  await installation
    .client(0, key)
    .post('/v1/email/send', { from: `shop@${domain}`, to: 'a@shop.example', subject, html })
  while (!relay.taken.has(subject)) await pause(20)
  const content = relay.contents.find((one) => one.includes(`Subject: ${subject}`))?.toString() ?? ''
  const plain = content.replaceAll(/=\r\n/g, '').replaceAll('=3D', '=').replaceAll('&amp;', '&')
  const path = /href="https?:\/\/[^/"]+(\/t\/c\/[^"]+)"/.exec(plain)?.[1]
  if (path === undefined) throw new Error('the message has no link')
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  const port = Number(new URL(installation.origin(0)).port)
  const result = await load({
    port,
    ca: installation.ca,
    connections: clickConnections,
    durationMs,
    next: () => request,
  })
  if (result.statuses['302'] !== result.requests)
    throw new Error(`links were answered ${JSON.stringify(result.statuses)}`)
  const { perSecond: value, p50Ms, p99Ms, cpu } = result
  return { name: `links followed, ${clickConnections} connections`, value, unit: 'redirects/s', p50Ms, p99Ms, cpu }
}
