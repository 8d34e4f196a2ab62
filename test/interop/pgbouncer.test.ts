// SPDX-License-Identifier: Apache-2.0
// Pamoja through PgBouncer in transaction mode: a verb of every area, two nodes that hear each other, and the sentences by
// which a start that cannot work is refused.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { areas } from '../../src/areas.ts'
import { type Config, loadConfig } from '../../src/config.ts'
import { type RunningNode, startNode } from '../../src/node/server.ts'
import type { Client } from '../client.ts'
import { mailIn, sendMail } from '../mailing.ts'
import { accepted, becomes, text, writes } from '../messaging.ts'
import { over, settled } from '../paying.ts'
import { ended, send } from '../texting.ts'
import { dial, newCode, type } from '../ussd.ts'
import { type Account, eventually, quiet, startWorld, type World } from '../world.ts'
import { type Pgbouncer, pgbouncerMissing, pgbouncerPrepares, startPgbouncer } from './pgbouncer.ts'

const missing = pgbouncerMissing()
if (missing !== null && process.env.PAMOJA_REQUIRE_PGBOUNCER) throw new Error(missing)
const skip = missing ?? false
const prepares = missing === null && pgbouncerPrepares()

let pooler: Pgbouncer
let world: World
let second: RunningNode
let account: Account

const reached = (url: string): Partial<Config> => ({
  DATABASE_URL: pooler.through(url),
  PAMOJA_DATABASE_DIRECT_URL: url,
  PAMOJA_DATABASE_POOLER_PREPARES: prepares,
})

const configOf = (more: Partial<Config>): Config =>
  loadConfig({}, { ...quiet, PAMOJA_HOME: world.home, PAMOJA_RATE_LIMITS: 'off', ...more }).config

before(async () => {
  if (missing !== null) return
  world = await startWorld(async (url) => {
    pooler = await startPgbouncer(url, prepares ? ['max_prepared_statements = 500'] : [])
    return reached(url)
  })
  second = await world.another(reached(world.databaseUrl))
  account = await world.account({ balance: 100_000 })
})
after(async () => {
  await second?.stop()
  await world?.stop()
  await pooler?.stop()
})

/** The account at the second node. */
const elsewhere = (key = account.key): Client => world.stranger.at(second.url).as(key)

test('a verb of every area is done through the pooler, and read at another node', { skip }, async () => {
  const { client } = account
  const texted = await send(account, '+254711000001')
  assert.equal((await ended(account, texted)).status, 'delivered')
  assert.equal((await elsewhere().get(`/v1/sms/${texted}`)).body.status, 'delivered')

  const paid = await client.post('/v1/payments', { amount: 150, currency: 'KES', phone: '+254700000001' })
  assert.equal(paid.status, 201, paid.text)
  assert.equal((await settled(client, paid.body.payment_id)).status, 'completed')
  const refund = await client.post(`/v1/payments/${paid.body.payment_id}/refund`, { amount: 50 })
  assert.equal(refund.status, 201, refund.text)
  await eventually(
    async () => (await elsewhere().get(`/v1/refunds/${refund.body.refund_id}`)).body.status === 'completed',
    'the refund to be completed',
  )
  const payout = await client.post('/v1/payouts', { amount: 20, currency: 'KES', phone: '+254700000001' })
  assert.equal(payout.status, 201, payout.text)
  assert.equal((await over(client, payout.body.payout_id)).status, 'completed')

  await writes(account, '+254722555777')
  await becomes(account, await accepted(account, text('+254722555777')), 'read')
  const mail = await sendMail(account, { to: 'asha@example.com', subject: 'Habari', text: 'Karibu' })
  assert.ok(await mailIn(account, mail))

  const otp = await client.post('/v1/identity/phone/send-otp', { phone: '+254711000001' })
  const proved = await elsewhere().post('/v1/identity/phone/verify-otp', { otp_id: otp.body.otp_id, code: '123456' })
  assert.equal(proved.status, 200, `${otp.text} ${proved.text}`)
  const actions = [{ action: 'wait', timeout: 1 }]
  const call = await client.post('/v1/voice/calls', { from: '+254700000000', to: '+254711000020', actions })
  assert.equal(call.status, 201, call.text)
  await eventually(
    async () => (await elsewhere().get(`/v1/voice/${call.body.call_id}`)).body.ended_at,
    'the call to end',
  )

  const shortcode = newCode()
  const nodes = {
    home: { text: 'Karibu', options: [{ label: 'Toka', next: 'bye' }] },
    bye: { text: 'Kwaheri', end: true },
  }
  const { body: menu } = await client.post('/v1/ussd/menus', { name: 'Hello', start: 'home', nodes })
  await client.post('/v1/ussd/shortcodes', { shortcode, mode: 'menu', menu_id: menu.id })
  const { body: dialled } = await dial(client, shortcode)
  assert.equal((await type(client, dialled.session_id, '1')).body.message, 'Kwaheri')

  const invoice = await client.post('/v1/billing/invoices', {
    currency: 'KES',
    customer: { name: 'Asha', email: 'asha@example.com' },
    items: [{ description: 'Maize', quantity: 2, unit_amount: 50 }],
    due_date: '2030-01-01',
  })
  assert.equal(invoice.status, 201, invoice.text)
})

test('a key revoked at one node stops at the other, and both prove their signals', { skip }, async () => {
  const { body: made } = await account.client.post('/v1/api-keys', { name: 'Lost laptop' })
  assert.equal((await elsewhere(made.key).get('/v1/auth/whoami')).status, 200)
  await account.client.delete(`/v1/api-keys/${made.id}`)
  await eventually(
    async () => (await elsewhere(made.key).get('/v1/auth/whoami')).status === 401,
    'the key to stop at the other node',
  )
  for (const node of [world.node, second])
    assert.equal((await world.stranger.at(node.url).get('/readyz')).body.checks.signals, 'ok')
})

test('sessions that the pooler opens have the statement timeout of the node', { skip }, async () => {
  const client = new pg.Client({ connectionString: pooler.through(world.databaseUrl) })
  await client.connect()
  const { rows } = await client.query('show statement_timeout')
  await client.end()
  assert.deepEqual(rows, [{ statement_timeout: '30s' }])
})

test('a pooler without the address behind it is refused in a sentence, and so is one that drops what it is given', {
  skip,
}, async () => {
  const start = (more: Partial<Config>): Promise<RunningNode> => startNode({ config: configOf(more), areas })
  const url = pooler.through(world.databaseUrl)
  await assert.rejects(start({ DATABASE_URL: url }), /set PAMOJA_DATABASE_DIRECT_URL to the database itself/)
  await assert.rejects(
    start({ DATABASE_URL: url, PAMOJA_DATABASE_DIRECT_URL: url }),
    /PAMOJA_DATABASE_DIRECT_URL leads through a pooler too/,
  )
  const careless = await startPgbouncer(world.databaseUrl, ['ignore_startup_parameters = statement_timeout,options'])
  await assert
    .rejects(
      start({ DATABASE_URL: careless.through(world.databaseUrl) }),
      /set PAMOJA_DATABASE_DIRECT_URL to the database itself/,
    )
    .finally(() => careless.stop())
  await assert.rejects(
    start({
      DATABASE_URL: url.replace(/[^/]*$/, 'postgres'),
      PAMOJA_DATABASE_DIRECT_URL: world.databaseUrl,
    }),
    /lead to two databases/,
  )
})
