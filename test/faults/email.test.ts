// SPDX-License-Identifier: Apache-2.0
// kill -9 of the node that sends mail, and a database that is away. Mail leaves over a relay, which lives on.
// PAMOJA_TEST_SEED=<seed> chooses the same moments again.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { verifyLedger } from '../../src/ledger/verify.ts'
import type { Client } from '../client.ts'
import { eventually } from '../eventually.ts'
import { type MailServer, startMailServer } from '../mail-server.ts'
import { sayVerified } from '../mailing.ts'
import { chooseSeed, type Installation, randomFrom, startInstallation } from './harness.ts'

const rounds = 3
const messagesPerRound = 60
const atOnce = 12
const seed = chooseSeed()
const random = randomFrom(seed)
let relay: MailServer
let installation: Installation
let key: string

before(async () => {
  relay = await startMailServer()
  installation = await startInstallation({
    nodes: 1,
    environment: { PAMOJA_RATE_LIMITS: 'off', PAMOJA_MAIL_RELAY: `smtp://127.0.0.1:${relay.port}` },
  })
  key = await liveKey()
})
after(async () => {
  await installation?.stop()
  await relay?.stop()
})

/** A live account that may send from duka.example. */
async function liveKey(): Promise<string> {
  const { id, key: testKey } = await installation.account()
  const credit = { amount: 10_000, currency: 'KES', environment: 'live', reference: 'live' }
  await installation.operator().post(`/v1/operator/accounts/${id}/credit`, credit)
  const price = { area: 'email', unit: 'message', amount: 0.05, currency: 'KES' }
  assert.equal((await installation.operator().post('/v1/operator/prices', price)).status, 201)
  const { body } = await installation.client(0, testKey).post('/v1/api-keys', { name: 'Live', environment: 'live' })
  await installation.operator().patch(`/v1/operator/api-keys/${body.id}`, { rate_limit_per_second: 1_000_000 })
  const made = await installation
    .client(0, body.key)
    .post('/v1/email/domains', { domain: 'duka.example', dkim_record: 'txt' })
  assert.equal(made.status, 201, made.text)
  await sayVerified({ query: (text, values) => installation.sql(text, values) }, 'duka.example')
  return body.key
}

function client(): Client {
  return installation.client(0, key)
}

const message = {
  from: 'Duka <a@duka.example>',
  to: 'amina@shop.example',
  html: '<p><a href="https://example.com/start">Karibu</a></p>',
}

/** Sent again under its key until it is accepted. */
async function sendSurely(subject: string): Promise<void> {
  for (;;) {
    const answer = await client()
      .post('/v1/email/send', { ...message, subject }, { headers: { 'idempotency-key': subject.replaceAll(' ', '-') } })
      .catch(() => null)
    if (answer?.status === 200) return
    await pause(50)
  }
}

test('whenever the node is killed, every message it accepted arrives and is paid once', async (t) => {
  t.diagnostic(`seed ${seed}`)
  for (let round = 0; round < rounds; round++) {
    const subjects = Array.from({ length: messagesPerRound }, (_, i) => `Mail ${round}-${i}`)
    const workers = Array.from({ length: atOnce }, async () => {
      for (let next = subjects.pop(); next !== undefined; next = subjects.pop()) await sendSurely(next)
    })
    await pause(100 + random() * 700)
    await installation.killNode(0)
    await installation.startNode(0)
    await Promise.all(workers)
  }
  const wanted = rounds * messagesPerRound
  await eventually(async () => relay.taken.size === wanted, 'every message to arrive', 60_000)
  await eventually(async () => {
    const [left] = await installation.sql<{ left: number }>(
      `select count(*)::int as left from work.jobs where lane = 'email.send'`,
    )
    return left?.left === 0
  }, 'every message to come to its end')
  const again = [...relay.taken.values()].reduce((sum, times) => sum + times - 1, 0)
  t.diagnostic(`${wanted} messages, ${again} arrived again after ${rounds} kills`)
  const [stored] = await installation.sql<{ messages: number; sent: number }>(
    `select count(*)::int as messages, (count(*) filter (where status = 'sent'))::int as sent from email.messages`,
  )
  assert.deepEqual(stored, { messages: wanted, sent: wanted })
  // What was under way when a node died may come twice, under the same Message-ID.
  assert.ok(again <= rounds * (atOnce + 20), `${again} arrived again`)
  assert.deepEqual((await verifyLedger(installation.db)).problems, [])
})

test('while the database is away links lead where they should, and what was clicked is counted afterwards', async () => {
  await sendSurely('Clicked')
  const content = await eventually(
    async () => relay.contents.find((one) => one.includes('Subject: Clicked')),
    'the message',
  )
  const text = content.toString().replaceAll(/=\r\n/g, '').replaceAll('=3D', '=').replaceAll('&amp;', '&')
  const link = /href="https?:\/\/[^/"]+(\/t\/c\/[^"]+)"/.exec(text)?.[1]
  assert.ok(link, text)
  await installation.stopPostgres()
  const away = await installation.client(0, null).get(link)
  assert.deepEqual([away.status, away.headers.location], [302, 'https://example.com/start'], away.text)
  const forged = await installation.client(0, null).get(link.replace(/u=.*/, 'u=https%3A%2F%2Fevil.example'))
  assert.equal(forged.status, 404)
  const refused = await client().post('/v1/email/send', { ...message, subject: 'Away' })
  assert.equal(refused.status, 503, refused.text)
  await installation.startPostgres()
  await eventually(async () => {
    const [row] = await installation
      .sql<{ clicks: number }>('select coalesce(sum(click_count), 0)::int as clicks from email.recipients')
      .catch(() => [])
    return row?.clicks === 1
  }, 'the click to be counted')
})
