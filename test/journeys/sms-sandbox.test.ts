// SPDX-License-Identifier: Apache-2.0
// What a customer may make the sandbox's network do: be slow, fail in a chosen way, and not reach handsets until they are
// back. One customer's network is nobody else's.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ended, send, statusOf } from '../texting.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World

before(async () => {
  world = await startWorld()
})
after(() => world.stop())

test('a network that was told to fail fails every message of the account, and of no other', async () => {
  const ada = await world.account({ balance: 100 })
  const eve = await world.account({ balance: 100 })
  const table: [string, string, string | null][] = [
    ['UNDELIVERABLE', 'failed', 'UNDELIVERABLE'],
    ['REJECTED', 'failed', 'REJECTED'],
    ['UNKNOWN_SUBSCRIBER', 'failed', 'UNKNOWN_SUBSCRIBER'],
    ['EXPIRED', 'failed', 'EXPIRED'],
    ['THROTTLED', 'delivered', null],
  ]
  await behave(ada, { delay_ms: 0 })
  await behave(eve, { delay_ms: 0 })
  for (const [error, status, code] of table) {
    const now = await behave(ada, { error })
    assert.deepEqual([now.error, now.delay_ms], [error, 0], 'what was not said stays as it was')
    const record = await ended(ada, await send(ada, '+254722900001', error))
    assert.deepEqual([record.status, record.error_code], [status, code], error)
    assert.equal((await ended(eve, await send(eve, '+254722900001', error))).status, 'delivered')
    assert.equal(
      (await ended(ada, await send(ada, '+254711000001', error))).status,
      'delivered',
      'a magic number stays',
    )
  }
  await behave(ada, { error: null })
  assert.equal((await ended(ada, await send(ada, '+254722900001', 'as usual'))).status, 'delivered')
})

test('messages to a handset out of coverage arrive when it is back, long ones too', async () => {
  const ada = await world.account({ balance: 100 })
  const [near, far] = ['+254722900002', '+254722900003']
  await behave(ada, { delay_ms: 0, out_of_coverage: [far] })
  const waiting = await send(ada, far, 'Habari '.repeat(60))
  assert.equal((await ended(ada, await send(ada, near, 'here'))).status, 'delivered')
  await eventually(async () => (await statusOf(ada, waiting)) === 'sent', 'the message to be sent')
  const all = await behave(ada, { out_of_coverage: ['*'] })
  assert.deepEqual(all.out_of_coverage, ['*'])
  const other = await send(ada, near, 'gone too')
  await eventually(async () => (await statusOf(ada, other)) === 'sent', 'the message to be sent')
  await behave(ada, { out_of_coverage: [near] })
  assert.equal((await ended(ada, waiting)).status, 'delivered')
  assert.equal(await statusOf(ada, other), 'sent')
  await behave(ada, { out_of_coverage: [] })
  assert.equal((await ended(ada, other)).status, 'delivered')
})

test('what a handset is out of coverage for longer than its validity expires, by the account’s clock', async () => {
  const ada = await world.account({ balance: 100 })
  await behave(ada, { delay_ms: 0, out_of_coverage: ['*'] })
  const text = { from: 'PAMOJA', message: 'Habari '.repeat(30) }
  const short = await ada.client.post('/v1/sms/send', { ...text, to: '+254722900011', validity: 60 })
  const long = await ada.client.post('/v1/sms/send', { ...text, to: '+254722900011', validity: 86_400 })
  await behave(ada, { delay_ms: 600_000, out_of_coverage: ['+254722900011'] })
  const slow = await ada.client.post('/v1/sms/send', { ...text, to: '+254722900012', validity: 60 })
  const ids = [short, long, slow].map(({ body }) => body.message_id)
  for (const id of ids) await eventually(async () => (await statusOf(ada, id)) === 'sent', `${id} to be sent`)
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 3_600 })
  for (const id of [ids[0], ids[2]]) {
    const { status, error_code } = await ended(ada, id)
    assert.deepEqual([status, error_code], ['failed', 'EXPIRED'])
  }
  assert.equal(await statusOf(ada, ids[1]), 'sent')
  await behave(ada, { out_of_coverage: [] })
  assert.equal((await ended(ada, ids[1])).status, 'delivered')
  assert.equal(await statusOf(ada, ids[0]), 'failed')
})

test('a slow network delivers late', async () => {
  const ada = await world.account({ balance: 100 })
  await behave(ada, { delay_ms: 600_000 })
  const late = await send(ada, '+254722900004', 'later')
  await eventually(async () => (await statusOf(ada, late)) === 'sent', 'the message to be sent')
  await behave(ada, { delay_ms: 0 })
  const soon = await send(ada, '+254722900004', 'now')
  assert.equal((await ended(ada, soon)).status, 'delivered')
  assert.equal(await statusOf(ada, late), 'sent')
})

test('what arrives late arrives as soon as the account moves its clock, and by no other’s', async () => {
  const [ada, eve] = [await world.account({ balance: 100 }), await world.account({ balance: 100 })]
  await behave(eve, { delay_ms: 600_000 })
  const ids = [await send(ada, '+254711000007', 'half a minute'), await send(eve, '+254722900005', 'ten minutes')]
  const [late = '', slow = ''] = ids
  await eventually(async () => (await statusOf(ada, late)) === 'sent', 'the first to be sent')
  await eventually(async () => (await statusOf(eve, slow)) === 'sent', 'the second to be sent')
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 30 })
  const record = await ended(ada, late)
  assert.equal(record.status, 'delivered')
  const tookMs = Date.parse(record.delivered_at) - Date.parse(record.sent_at)
  assert.ok(tookMs >= 30_000, `it took ${tookMs} ms by the account’s clock`)
  assert.equal(await statusOf(eve, slow), 'sent')
  await eve.client.post('/v1/sandbox/clock', { advance_seconds: 600 })
  assert.equal((await ended(eve, slow)).status, 'delivered')
})

test('what the network cannot do is refused and changes nothing', async () => {
  const ada = await world.account()
  await behave(ada, { delay_ms: 5 })
  for (const bad of [
    { error: 'SPONTANEOUS' },
    { delay_ms: -1 },
    { delay_ms: 600_001 },
    { delay_ms: 1.5 },
    { out_of_coverage: ['0722'] },
    { out_of_coverage: Array.from({ length: 101 }, () => '*') },
    { out_of_coverage: 'all' },
  ]) {
    const { status: answered, body } = await ada.client.patch('/v1/sandbox/sms/behaviour', bad)
    assert.deepEqual([answered, body.error.code], [422, 'VALIDATION_ERROR'], JSON.stringify(bad))
  }
  const { body } = await ada.client.get('/v1/sandbox/sms/behaviour')
  assert.deepEqual(body.data, { delay_ms: 5, error: null, out_of_coverage: [] })
  const { body: live } = await ada.client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  const refused = await world.stranger.as(live.key).patch('/v1/sandbox/sms/behaviour', {})
  assert.equal(refused.status, 403)
})

async function behave(account: Account, change: object) {
  const { status: answered, body } = await account.client.patch('/v1/sandbox/sms/behaviour', change)
  assert.equal(answered, 200, JSON.stringify(body))
  return body
}
