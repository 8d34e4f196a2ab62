// SPDX-License-Identifier: Apache-2.0
// Who goes first over a slow bind. What is asserted is the order in which handsets get their messages, never a time: the
// bind takes a few messages a second, and the bulk of one account is far longer than what the others send meanwhile. What
// is to be there first is sent in one request, so that a slow machine has it there first, too.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { SmscSimulator } from '../../src/simulators/smsc.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

const bulkSize = 1_500
const ratePerSecond = 8
/** The texts, in the order in which the handsets got them. */
const inbox: string[] = []
let overQuick = 0
let world: World
let smsc: SmscSimulator
let ada: Account

before(async () => {
  smsc = await SmscSimulator.start({
    accounts: { slow: 'secret', quick: 'secret' },
    responseTimeoutMs: 60_000,
    delayMs: 0,
    onMessage: ({ text, systemId }) => {
      inbox.push(text)
      if (systemId === 'quick') overQuick++
    },
  })
  world = await startWorld()
  for (const name of ['slow', 'quick'])
    await world.operator.post('/v1/operator/sms/binds', {
      ...{ name, host: '127.0.0.1', port: smsc.port, system_id: name, password: 'secret' },
      rate: name === 'slow' ? ratePerSecond : null,
      response_timeout_seconds: 60,
    })
  const { body: route } = await world.operator.post('/v1/operator/sms/routes', {
    environment: 'test',
    tiers: [[{ bind: 'slow' }], [{ bind: 'quick' }]],
  })
  await eventually(async () => {
    const { body } = await world.operator.get('/v1/operator/sms/routes')
    return body.data.find(({ id }: { id: string }) => id === route.id).in_force
  }, 'the route to be in force')
  ada = await world.account({ balance: 3_000 })
  await bulk(ada, 'offer', bulkSize)
  await eventually(async () => inbox.length >= 5, 'the bulk to be under way')
})
after(async () => {
  await world.stop()
  await smsc.stop()
})

test('a password, a text and a small bulk do not wait behind the bulk of another account', async () => {
  const ben = await world.account({ balance: 100 })
  await bulk(ben, 'small', 5)
  await send(ben, 'text')
  await send(ben, 'password', 'otp')
  for (const what of ['password', 'text', 'small'])
    await eventually(async () => inbox.some((text) => text.startsWith(what)), `a ${what} to arrive`)
  await eventually(async () => count('small') === 5, 'the small bulk to arrive')
  assert.ok(count('offer') < bulkSize / 2, `${count('offer')} of the big bulk went before`)
  const since = inbox.findIndex((text) => text.startsWith('small'))
  const until = inbox.findLastIndex((text) => text.startsWith('small'))
  const between = inbox.slice(since, until).filter((text) => text.startsWith('offer'))
  assert.ok(between.length <= 6, `the bulks take turns, but ${between.length} of one went between 5 of the other`)
})

test('passwords go before texts that were there first', async () => {
  const [ben, eve] = [await world.account({ balance: 100 }), await world.account({ balance: 100 })]
  await sendMany(ben, 'early', 30)
  await Promise.all(Array.from({ length: 3 }, () => send(eve, 'urgent', 'otp')))
  await eventually(async () => count('early') === 30 && count('urgent') === 3, 'all of them to arrive')
  const lastUrgent = inbox.lastIndexOf('urgent')
  const lastEarly = inbox.lastIndexOf('early')
  assert.ok(lastUrgent < lastEarly, inbox.slice(-30).join())
  assert.ok(count('offer') < bulkSize, 'the bulk is still under way')
})

test('texts of one account do not hold up those of another', async () => {
  const [ben, eve] = [await world.account({ balance: 100 }), await world.account({ balance: 100 })]
  await sendMany(ben, 'many', 30)
  await send(eve, 'single')
  await eventually(async () => count('many') === 30 && count('single') === 1, 'all of them to arrive')
  assert.ok(inbox.indexOf('single') < inbox.lastIndexOf('many') - 5, inbox.slice(-30).join())
})

test('an account with more weight has more of its texts in a turn', async () => {
  const [ben, eve] = [await world.account({ balance: 100 }), await world.account({ balance: 100 })]
  const given = await world.operator.patch(`/v1/operator/accounts/${eve.id}`, { allowances: { sms_weight: 4 } })
  assert.equal(given.body.allowances.sms_weight, 4)
  await sendMany(ben, 'light', 20)
  await sendMany(eve, 'heavy', 20)
  await eventually(async () => count('heavy') === 20, 'all of the heavy ones to arrive')
  const since = inbox.slice(inbox.indexOf('heavy'))
  const beside = since.slice(0, since.lastIndexOf('heavy')).filter((text) => text === 'light').length
  assert.ok(beside <= 8, `20 of one account took ${beside} turns of the other`)
  await eventually(async () => count('light') === 20, 'the others to arrive')
})

test('a password is for one recipient', async () => {
  const password = { from: 'BANK', message: 'Your code is 7788', type: 'otp' }
  const many = await ada.client.post('/v1/sms/send', { ...password, to: ['+254722100001', '+254722100002'] })
  assert.deepEqual([many.status, many.body.error.code], [422, 'VALIDATION_ERROR'])
  const { message, ...rest } = password
  const inBulk = await ada.client.post('/v1/sms/bulk', { ...rest, messages: [{ to: '+254722100001', message }] })
  assert.deepEqual([inBulk.status, inBulk.body.error.code], [422, 'VALIDATION_ERROR'])
})

test('what waits at a bind that is switched off goes over the next one, once', async () => {
  assert.equal(overQuick, 0, 'a bind that is only slow is not passed over')
  const { body: before } = await world.operator.get('/v1/operator/sms/binds')
  assert.deepEqual(
    before.data.map(({ node }: { node: string | null }) => typeof node),
    ['string', 'string'],
  )
  await world.operator.patch('/v1/operator/sms/binds/slow', { enabled: false })
  await eventually(async () => count('offer') >= bulkSize, 'the whole bulk to arrive')
  assert.ok(overQuick > bulkSize / 4)
  assert.equal(new Set(inbox.filter((text) => text.startsWith('offer'))).size, bulkSize)
  assert.equal(count('offer'), bulkSize)
})

async function send(account: Account, message: string, type = 'transactional'): Promise<void> {
  const { status, body } = await account.client.post('/v1/sms/send', {
    ...{ to: '+254722300001', from: 'PAMOJA', message },
    type,
  })
  assert.equal(status, 200, JSON.stringify(body))
}

/** One text to many, in one request. */
async function sendMany(account: Account, message: string, many: number): Promise<void> {
  const to = Array.from({ length: many }, (_, i) => `+2547223001${String(i).padStart(2, '0')}`)
  const { status, body } = await account.client.post('/v1/sms/send', { to, from: 'PAMOJA', message })
  assert.equal(status, 200, JSON.stringify(body))
}

async function bulk(account: Account, text: string, size: number): Promise<void> {
  const messages = Array.from({ length: size }, (_, i) => ({ to: '+254722300002', message: `${text} ${i}` }))
  const { status, body } = await account.client.post('/v1/sms/bulk', { from: 'PAMOJA', messages })
  assert.equal(status, 200, JSON.stringify(body))
}

function count(text: string): number {
  return inbox.filter((one) => one.startsWith(text)).length
}
