// SPDX-License-Identifier: Apache-2.0
// What a live key is charged somebody has set: mail and checks without a price are refused, and cost what the operator says once
// there is one. Texts, calls, sessions and chat messages have this in journeys of their own.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { lookInto } from '../looking.ts'
import { sayVerified } from '../mailing.ts'
import { priceLive } from '../texting.ts'
import { startWorld } from '../world.ts'

const world = await startWorld()
after(() => world.stop())

const { id, client } = await world.account()
const credit = { amount: 100, currency: 'KES', environment: 'live', reference: 'live' }
await world.operator.post(`/v1/operator/accounts/${id}/credit`, credit)
const { body: key } = await client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
const live = world.stranger.as(key.key)
const balance = async () => (await live.get('/v1/wallet/balance')).body.balances[0].balance

test('live mail without a price is not sent', async () => {
  await live.post('/v1/email/domains', { domain: 'duka.example', dkim_record: 'txt' })
  const sql = lookInto(world)
  await sql.connect()
  await sayVerified(sql, 'duka.example')
  await sql.end()
  const mail = { from: 'duka@duka.example', to: 'amina@shop.example', subject: 'Habari', text: 'Karibu' }
  const refused = await live.post('/v1/email/send', mail)
  assert.deepEqual([refused.status, refused.body.error?.code], [403, 'DESTINATION_NOT_ALLOWED'], refused.text)
  const bulk = { from: mail.from, subject: 'Habari', text: 'Karibu', recipients: [{ email: 'amina@shop.example' }] }
  const many = await live.post('/v1/email/bulk', bulk)
  assert.deepEqual([many.status, many.body.error?.code], [403, 'DESTINATION_NOT_ALLOWED'], many.text)
  assert.deepEqual([(await live.get('/v1/email')).body.data ?? [], await balance()], [[], 100])
  await priceLive(world, { area: 'email', unit: 'message', amount: 2 })
  const sent = await live.post('/v1/email/send', mail)
  assert.deepEqual([sent.status, sent.body.cost, await balance()], [200, 2, 98], sent.text)
})

test('a live check without a price is not made', async () => {
  const before = await balance()
  const check = { phone: '+254711000001' }
  const refused = await live.post('/v1/identity/risk-score', check)
  assert.deepEqual([refused.status, refused.body.error?.code], [403, 'DESTINATION_NOT_ALLOWED'], refused.text)
  assert.equal(await balance(), before)
  await priceLive(world, { area: 'identity', unit: 'risk_score', amount: 3 })
  const made = await live.post('/v1/identity/risk-score', check)
  assert.deepEqual([made.status, made.body.cost, await balance()], [200, 3, before - 3], made.text)
})
