// SPDX-License-Identifier: Apache-2.0
// The whole way of a text message: API, wallet, SMPP over a real socket, receipt, signed callback and webhook; what comes
// back from handsets; and what happens when message centres fail.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { idOf, uuidOf } from '../../src/kernel/ids.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { type HandsetMessage, SmscSimulator } from '../../src/simulators/smsc.ts'
import { Client } from '../client.ts'
import { lookInto } from '../looking.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { balance, ended, inForce, priceLiveTexts, send, toldOf } from '../texting.ts'
import { eventually, startWorld, type World } from '../world.ts'

let world: World
let receiver: Receiver

before(async () => {
  world = await startWorld()
  receiver = await startReceiver()
})
after(async () => {
  await receiver.stop()
  await world.stop()
})

describe('out of the box', () => {
  test('a message is delivered, and the callback and the webhook hear of it, signed', async () => {
    const ada = await world.account({ balance: 100 })
    const { body: hook } = await ada.client.post('/v1/webhooks', {
      url: receiver.url('/hook'),
      events: ['sms.delivered'],
    })
    const { status, body: sent } = await ada.client.post('/v1/sms/send', {
      to: '+254711000001',
      from: 'PAMOJA',
      message: 'Habari',
      callback_url: receiver.url('/callback'),
      metadata: { order: '77' },
    })
    assert.equal(status, 200, JSON.stringify(sent))
    const first = JSON.parse((await receiver.next('/callback')).body)
    assert.deepEqual([first.event, first.status, first.message_id], ['sms.status', 'sent', sent.message_id])
    const callback = await receiver.next('/callback')
    const second = JSON.parse(callback.body)
    assert.deepEqual([second.event, second.status, second.metadata], ['sms.status', 'delivered', { order: '77' }])
    const { body: secret } = await ada.client.get('/v1/webhooks/callback-secret')
    assert.equal(callback.headers['x-service-signature'], signature(secret.secret, callback.body))
    const webhook = await receiver.next('/hook')
    const told = JSON.parse(webhook.body)
    assert.deepEqual([told.event, told.status, told.message_id], ['sms.delivered', 'delivered', sent.message_id])
    assert.equal(webhook.headers['x-service-signature'], signature(hook.secret, webhook.body))
    const record = await ended(ada, sent.message_id)
    assert.equal(record.status, 'delivered')
    assert.ok(record.sent_at && record.delivered_at)
  })

  test('a callback hears the outcome only where the request, its key or its account wants it so', async () => {
    const ada = await world.account({ balance: 100 })
    const text = { to: '+254711000001', from: 'PAMOJA', message: 'Habari', callback_url: receiver.url('/outcome') }
    const firstTold = async (): Promise<string> => {
      const { status } = JSON.parse((await receiver.next('/outcome')).body)
      if (status === 'sent') await receiver.next('/outcome')
      return status
    }
    const send = async (wish: object, path = '/v1/sms/send') => {
      const { status, text: said } = await ada.client.post(path, wish)
      assert.equal(status < 300, true, said)
      return firstTold()
    }
    const final = { callback_events: 'final' }
    const bulk = { from: 'PAMOJA', messages: [text] }
    assert.equal(await send(text), 'sent')
    assert.equal(await send({ ...text, ...final }), 'delivered', 'the request')
    assert.equal(await send({ ...bulk, ...final }, '/v1/sms/bulk'), 'delivered', 'the bulk')
    assert.equal(await send({ ...bulk, messages: [{ ...text, ...final }] }, '/v1/sms/bulk'), 'delivered', 'its entry')
    assert.equal(await send({ ...text, ...final, to: '+254711000002' }), 'failed', 'a failure')

    const { status } = await ada.client.patch('/v1/account', { settings: final })
    assert.equal(status, 200)
    assert.equal(await send(text), 'delivered', 'the account')
    assert.equal(await send({ ...text, callback_events: 'all' }), 'sent', 'the request before the account')
    const { body: key } = await ada.client.get('/v1/api-keys')
    const changed = await ada.client.patch(`/v1/api-keys/${key.data[0].id}`, { callback_events: 'all' })
    assert.deepEqual([changed.status, changed.body.callback_events], [200, 'all'], changed.text)
    assert.equal(await send(text), 'sent', 'the key before the account')
  })

  test('a test handset writes to the customer, in one part or in several', async () => {
    const ada = await world.account({ balance: 100 })
    await ada.client.post('/v1/webhooks', { url: receiver.url('/received'), events: ['sms.received'] })
    for (const message of ['join now', 'Habari ya asubuhi. '.repeat(20)]) {
      const { status, body } = await ada.client.post('/v1/sandbox/sms/inbound', {
        from: '+254711222333',
        to: '22141',
        message,
      })
      assert.equal(status, 201, JSON.stringify(body))
      assert.deepEqual(
        [body.direction, body.from, body.to, body.message],
        ['inbound', '+254711222333', '22141', message],
      )
      const told = JSON.parse((await receiver.next('/received')).body)
      assert.deepEqual([told.message_id, told.message], [body.message_id, message])
      assert.equal(told.keyword, message.split(' ')[0]?.toUpperCase())
      const { body: stored } = await ada.client.get(`/v1/sms/${body.message_id}`)
      assert.equal(stored.message, message)
    }
  })

  test('whoever polls a send to many by its id comes to an end, delivered if any was and failed otherwise', async () => {
    const ada = await world.account({ balance: 20 })
    const sendTo = async (to: string[]) =>
      (await ada.client.post('/v1/sms/send', { to, from: 'PAMOJA', message: 'Habari' })).body
    for (const [endings, status] of [
      [['000001', '000002', '000003'], 'delivered'],
      [['000002', '000003'], 'failed'],
    ] as const) {
      const sent = await sendTo(endings.map((ending) => `+254711${ending}`))
      const record = await ended(ada, sent.message_id)
      assert.deepEqual([record.message_id, record.status, record.to], [sent.message_id, status, sent.to])
      assert.deepEqual([record.from, record.parts, record.created_at], ['PAMOJA', endings.length, sent.timestamp])
      assert.ok(record.sent_at >= record.created_at)
      assert.equal(record.delivered_at !== null, status === 'delivered')
      assert.equal(record.counts.delivered + record.counts.failed, endings.length)
    }
  })

  test('a live text without a price that somebody set is refused, and so is one to a number without a country', async () => {
    const ada = await world.account()
    const { body: key } = await ada.client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
    await world.operator.post(`/v1/operator/accounts/${ada.id}/credit`, {
      ...{ amount: 10, currency: 'KES', environment: 'live', reference: 'first' },
    })
    const live = world.stranger.as(key.key)
    const refusalOf = async (to: string) => {
      const { status, body } = await live.post('/v1/sms/send', { to, from: 'PAMOJA', message: 'Lumela' })
      return [status, body.error?.code, body.error?.details]
    }
    const unpriced = 'texts to LS have no price in KES yet; the operator sets it under /v1/operator/prices'
    assert.deepEqual(await refusalOf('+26658000001'), [403, 'COUNTRY_NOT_ENABLED', unpriced])
    const estimated = await live.post('/v1/sms/estimate', { to: '+26658000001', from: 'PAMOJA', message: 'Lumela' })
    assert.deepEqual([estimated.status, estimated.body.error.details], [403, unpriced])
    assert.deepEqual((await live.get('/v1/sms/pricing?country=LS')).body.data, [])
    assert.equal((await live.get('/v1/sms/balance')).body.estimated_segments, 0)
    const nowhere = 'the number belongs to no country; live texts require one'
    for (const to of ['+881612345678', '+870773111632', '+979123456789', '+999123456789'])
      assert.deepEqual(await refusalOf(to), [403, 'COUNTRY_NOT_ENABLED', nowhere], to)
    assert.equal(
      (await ada.client.post('/v1/sms/send', { to: '+26658000001', from: 'PAMOJA', message: 'x' })).status,
      402,
    )
    await priceLiveTexts(world, { country: 'LS' })
    const listed = (await live.get('/v1/sms/pricing?country=LS&limit=1')).body
    assert.deepEqual([listed.data.length, listed.data[0].price, listed.has_more], [1, 0.8, true])
    const rest = (await live.get(`/v1/sms/pricing?country=LS&cursor=${listed.next_cursor}`)).body
    assert.ok(
      rest.data.every((row: { country: string; network: string | null }) => row.country === 'LS' && row.network),
    )
    assert.equal((await refusalOf('+26658000001'))[1], 'NO_ROUTE')
    assert.equal((await live.get('/v1/sms/balance')).body.balance, 10)
  })

  test('a live message to which no route leads is refused; one that loses its route fails, and its price comes back', async () => {
    const ada = await world.account()
    const { body: live } = await ada.client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
    const credit = { amount: 10, currency: 'KES', environment: 'live', reference: 'first' }
    await world.operator.post(`/v1/operator/accounts/${ada.id}/credit`, credit)
    const account = { ...ada, client: world.stranger.as(live.key) }
    // Lesotho takes any sender.
    const body = { to: '+26658000001', from: 'PAMOJA', message: 'Lumela' }
    const refused = await account.client.post('/v1/sms/send', body)
    assert.deepEqual([refused.status, refused.body.error.code], [422, 'NO_ROUTE'])
    const bulk = { from: 'PAMOJA', messages: [{ to: body.to, message: 'Lumela' }], allow_partial: false }
    const many = await account.client.post('/v1/sms/bulk', bulk)
    assert.deepEqual([many.status, many.body.error.code], [422, 'NO_ROUTE'], many.text)
    assert.equal((await account.client.get('/v1/sms')).body.data.length, 0)

    await world.operator.post('/v1/operator/sms/binds', {
      ...{ name: 'nowhere', host: '127.0.0.1', port: 9, system_id: 'none', password: 'none' },
    })
    const way = { country: 'LS', tiers: [[{ bind: 'nowhere' }]] }
    const { body: route } = await world.operator.post('/v1/operator/sms/routes', way)
    await inForce(world, route.id)
    const id = await send(account, body.to)
    assert.ok((await balance(account)) < 10)
    await world.operator.delete(`/v1/operator/sms/routes/${route.id}`)
    await world.operator.delete('/v1/operator/sms/binds/nowhere')
    const record = await ended(account, id)
    assert.deepEqual([record.status, record.error_code], ['failed', 'NO_ROUTE'])
    assert.equal(await balance(account), 10)
  })

  test('the simulator’s address stands in credentials.json', () => {
    assert.match(world.credentials.listeners.smsc ?? '', /^smpp:\/\/127\.0\.0\.1:\d+$/)
  })
})

describe('over binds of the operator', () => {
  const inbox: HandsetMessage[] = []
  let smsc: SmscSimulator
  let port: number
  let route: { id: string }

  const startSmsc = async (at = 0): Promise<void> => {
    smsc = await SmscSimulator.start({
      port: at,
      accounts: { first: 'one', second: 'two' },
      primary: 'first',
      delayMs: 20,
      onMessage: (message) => inbox.push(message),
    })
    port = smsc.port
  }

  before(async () => {
    await startSmsc()
    for (const [name, password] of [
      ['first', 'one'],
      ['second', 'two'],
    ]) {
      // Only where a test says so is a centre taken for silent, however busy the machine.
      const patience = { response_timeout_seconds: 60 }
      const bind = { name, host: '127.0.0.1', port, system_id: name, password, sessions: 2, ...patience }
      const { status, body } = await world.operator.post('/v1/operator/sms/binds', bind)
      assert.equal(status, 201, JSON.stringify(body))
      assert.equal(JSON.stringify(body).includes('password'), false)
    }
    const made = await world.operator.post('/v1/operator/sms/routes', {
      environment: 'test',
      tiers: [[{ bind: 'first' }], [{ bind: 'second' }]],
    })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    route = made.body
    await inForce(world, route.id)
    await bound('first', 2)
    await bound('second', 2)
  })
  after(() => smsc.stop())

  const outcomes: [string, string, string, string | null, number][] = [
    ['01', 'is delivered', 'delivered', null, 0.8],
    ['02', 'cannot be delivered', 'failed', 'UNDELIVERABLE', 0.8],
    ['03', 'is refused by the operator and costs nothing', 'failed', 'REJECTED', 0],
    ['04', 'has no subscriber', 'failed', 'UNKNOWN_SUBSCRIBER', 0.8],
    ['06', 'expires in the network', 'failed', 'EXPIRED', 0.8],
    ['07', 'is delivered late', 'delivered', null, 0.8],
    ['08', 'is delivered after the operator asked for patience', 'delivered', null, 0.8],
    ['09', 'is delivered once although the receipt comes early and twice', 'delivered', null, 0.8],
    ['12', 'is delivered by the second operator when the first is down', 'delivered', null, 0.8],
  ]
  for (const [ending, what, status, errorCode, cost] of outcomes)
    test(`a message to 0000${ending} ${what}`, async () => {
      const ada = await world.account({ balance: 100 })
      const id = await send(ada, `+2547110000${ending}`, `Habari ${ending}`)
      const record = await ended(ada, id)
      assert.deepEqual([record.status, record.error_code], [status, errorCode])
      const expected = errorCode === 'REJECTED' ? ['failed'] : ['sent', status]
      assert.deepEqual(await toldOf(ada, id), expected)
      assert.equal(await balance(ada), 100 - cost)
      assert.equal(record.attempts, ending === '12' ? 2 : 1, 'how often it was offered')
      if (ending === '12') assert.equal(inbox.find(({ text }) => text === 'Habari 12')?.systemId, 'second')
    })

  test('a message whose receipt never comes stays sent', async () => {
    const ada = await world.account({ balance: 100 })
    const id = await send(ada, '+254711000005')
    const record = await eventually(async () => {
      const { status, body } = await ada.client.get(`/v1/sms/${id}`)
      return status === 200 && body.status !== 'queued' && body
    }, 'the message to be sent')
    assert.deepEqual([record.status, record.delivered_at], ['sent', null])
  })

  test('receipts that come with the answers are told of after them', async () => {
    const ada = await world.account({ balance: 100 })
    smsc.delayMs = 0
    const ids = await Promise.all(Array.from({ length: 50 }, (_, i) => send(ada, `+2547225${10_000 + i}`, `fast ${i}`)))
    for (const id of ids) {
      assert.equal((await ended(ada, id)).status, 'delivered')
      assert.deepEqual(await toldOf(ada, id), ['sent', 'delivered'])
    }
    smsc.delayMs = 20
    assert.equal(await balance(ada), 60)
  })

  test('a long message arrives whole and is told of once', async () => {
    const ada = await world.account({ balance: 100 })
    const text = 'Tafadhali lipa bili yako leo. 😀 '.repeat(8).trim()
    const id = await send(ada, '+254711000099', text)
    const record = await ended(ada, id)
    assert.equal(record.status, 'delivered')
    assert.ok(record.parts >= 4)
    assert.ok(inbox.some((message) => message.text === text))
    assert.deepEqual(await toldOf(ada, id), ['sent', 'delivered'])
  })

  test('who answers STOP is confirmed once, gets no more messages, and comes back with START', async () => {
    const ada = await world.account({ balance: 100 })
    const handset = '+254711000013'
    await ada.client.post('/v1/webhooks', { url: receiver.url('/consent'), events: ['sms.opted_out', 'sms.opted_in'] })
    await send(ada, handset, 'An offer', 'SHOP')
    const out = JSON.parse((await receiver.next('/consent')).body)
    assert.deepEqual([out.event, out.phone, out.from, out.source], ['sms.opted_out', handset, 'SHOP', 'keyword'])
    const refused = await ada.client.post('/v1/sms/send', { to: handset, from: 'SHOP', message: 'Another' })
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'OPTED_OUT'])
    await eventually(
      async () => inbox.find(({ from, text }) => from === 'SHOP' && text.includes('no more messages from SHOP')),
      'the confirmation',
    )
    assert.equal(await balance(ada), 99.2, 'the confirmation is free')
    const { body: heard } = await ada.client.get('/v1/sms?direction=inbound')
    assert.equal(heard.data.length, 1, 'the handset does not stop the confirmation too')
    const back = await ada.client.post('/v1/sandbox/sms/inbound', { from: handset, to: 'SHOP', message: ' start! ' })
    assert.equal(back.status, 201, JSON.stringify(back.body))
    const into = JSON.parse((await receiver.next('/consent')).body)
    assert.deepEqual([into.event, into.phone, into.reason], ['sms.opted_in', handset, 'START'])
  })

  test('what a handset answers reaches the customer with the message it answers', async () => {
    const ada = await world.account({ balance: 100 })
    await ada.client.post('/v1/webhooks', { url: receiver.url('/echo'), events: ['sms.received'] })
    const id = await send(ada, '+254711000014', 'Unaendeleaje?', 'CLINIC')
    const told = JSON.parse((await receiver.next('/echo')).body)
    assert.deepEqual([told.message, told.to, told.in_reply_to], ['Unaendeleaje?', 'CLINIC', id])
  })

  test('nothing is lost when connections break before the answers', async () => {
    const ada = await world.account({ balance: 1000 })
    smsc.silent = true
    const ids = await Promise.all(Array.from({ length: 60 }, (_, i) => send(ada, `+2547223${10_000 + i}`, `lost ${i}`)))
    await eventually(async () => (await bind('first')).pending >= 60, 'all messages to be under way')
    smsc.silent = false
    smsc.dropSessions()
    for (const id of ids) assert.equal((await ended(ada, id)).status, 'delivered')
    for (let i = 0; i < 60; i++) assert.ok(inbox.some(({ text }) => text === `lost ${i}`))
    assert.equal(await balance(ada), 1000 - 60 * 0.8)
    await bound('first', 2)
  })

  test('a route that must not send twice gives up what was not answered, and the money back', async () => {
    const ada = await world.account({ balance: 100 })
    await changeRoute({ on_unknown: 'maybe_never' })
    smsc.silent = true
    const id = await send(ada, '+254722300001', 'once only')
    await eventually(async () => (await bind('first')).pending >= 1, 'the message to be under way')
    smsc.dropSessions()
    const record = await ended(ada, id)
    smsc.silent = false
    assert.deepEqual([record.status, record.error_code], ['failed', 'CARRIER_ERROR'])
    assert.equal(await balance(ada), 100)
    await changeRoute({ on_unknown: 'maybe_twice' })
    await bound('first', 2)
  })

  test('what one operator cannot deliver goes over the next, and is failed only when that one cannot either', async () => {
    const ada = await world.account({ balance: 100 })
    await changeRoute({ reroute_on_undelivered: true })
    smsc.lost = 'first'
    const text = 'Tafadhali jaribu tena. '.repeat(10).trim()
    const id = await send(ada, '+254722300005', text)
    assert.equal((await ended(ada, id)).status, 'delivered')
    assert.deepEqual(await toldOf(ada, id), ['sent', 'delivered'])
    assert.deepEqual(
      inbox.filter((message) => message.text === text).map(({ systemId }) => systemId),
      ['second'],
    )
    const cost = Math.round((100 - (await balance(ada))) * 100) / 100
    assert.equal(cost, 1.6, 'it is paid once, for its two parts')

    const nowhere = await ended(ada, await send(ada, '+254711000002'))
    assert.deepEqual([nowhere.status, nowhere.error_code], ['failed', 'UNDELIVERABLE'])
    assert.deepEqual(await toldOf(ada, nowhere.message_id), ['sent', 'failed'])
    const nobody = await ended(ada, await send(ada, '+254711000004'))
    assert.deepEqual([nobody.status, nobody.error_code], ['failed', 'UNKNOWN_SUBSCRIBER'])

    await world.operator.patch('/v1/operator/sms/binds/second', { enabled: false })
    await eventually(async () => (await bind('second')).bound === 0, 'the second to be closed')
    const short = { to: '+254722300006', from: 'PAMOJA', message: 'nobody left', validity: 60 }
    const { body: last } = await ada.client.post('/v1/sms/send', short)
    await eventually(async () => {
      const { body } = await world.operator.get('/v1/operator/system')
      return body.queues.some(
        ({ lane, scheduled }: { lane: string; scheduled: number }) => lane === 'sms.submit' && scheduled > 0,
      )
    }, 'it to wait for another operator')
    assert.deepEqual(await toldOf(ada, last.message_id), ['sent'])
    await ada.client.post('/v1/sandbox/clock', { advance_seconds: 61 })
    const over = await ended(ada, last.message_id)
    assert.deepEqual([over.status, over.error_code], ['failed', 'UNDELIVERABLE'])
    smsc.lost = null
    await world.operator.patch('/v1/operator/sms/binds/second', { enabled: true })
    await changeRoute({ reroute_on_undelivered: false })
    await bound('second', 2)
  })

  test('a route may give back what was sent and not delivered, once, and says so in the record', async () => {
    const ada = await world.account({ balance: 100 })
    assert.equal((await world.operator.get(`/v1/operator/sms/routes/${route.id}`)).body.refund_undelivered, false)
    await changeRoute({ refund_undelivered: true })
    const long = 'Haikufika kwa mwenyewe. '.repeat(10).trim()
    const rows: [ending: string, text: string, status: string, cost: number][] = [
      ['01', 'Habari', 'delivered', 0.8],
      ['02', 'Habari', 'failed', 0],
      ['02', long, 'failed', 0],
      ['03', 'Habari', 'failed', 0],
      ['06', 'Habari', 'failed', 0],
    ]
    for (const [ending, text, status, cost] of rows) {
      const record = await ended(ada, await send(ada, `+2547110000${ending}`, text))
      assert.deepEqual([record.status, record.cost], [status, cost], ending)
    }
    assert.equal(await balance(ada), 99.2)
    const { body: back } = await ada.client.get('/v1/wallet/transactions?type=usage_reversal')
    assert.deepEqual(
      back.data.map(({ amount }: { amount: number }) => amount),
      [0.8, 0.8, 1.6, 0.8],
    )
    const { body: usage } = await ada.client.get('/v1/usage')
    assert.equal(usage.spend[0]?.cost, 0.8, JSON.stringify(usage.spend))
    await changeRoute({ refund_undelivered: false })
    assert.equal((await ended(ada, await send(ada, '+254711000002'))).cost, 0.8)
    assert.equal(await balance(ada), 98.4)
    assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
  })

  test('messages wait while every operator is down and go out when one is back', async () => {
    const ada = await world.account({ balance: 100 })
    await allDown()
    const id = await send(ada, '+254722300002', 'patience')
    const short = { to: '+254722300004', from: 'PAMOJA', message: 'in time or never', validity: 60 }
    const { body: hurried } = await ada.client.post('/v1/sms/send', short)
    await ada.client.post('/v1/sandbox/clock', { advance_seconds: 61 })
    const late = await ended(ada, hurried.message_id)
    assert.deepEqual([late.status, late.error_code], ['failed', 'EXPIRED'])
    assert.equal(await balance(ada), 99.2, 'what was never sent is paid back')
    assert.equal((await ada.client.get(`/v1/sms/${id}`)).body.status, 'queued')
    await startSmsc(port)
    assert.equal((await ended(ada, id)).status, 'delivered')
  })

  test('what waits for operators that are down can be changed and called off, and then does not go out', async () => {
    const ada = await world.account({ balance: 100 })
    await allDown()
    const [alone, kept] = [await send(ada, '+254722300011', 'alone'), await send(ada, '+254722300012', 'kept')]
    const messages = Array.from({ length: 20 }, (_, n) => ({ to: `+2547223001${10 + n}`, message: 'in a batch' }))
    const { body: bulk } = await ada.client.post('/v1/sms/bulk', { from: 'PAMOJA', messages })
    // Now and then it is looked whether one is back; a message that is just being looked at is nobody's to take.
    await eventually(
      async () => (await ada.client.patch(`/v1/sms/${kept}`, { message: 'kept anew' })).status === 200,
      'the change',
    )
    await eventually(async () => (await ada.client.delete(`/v1/sms/${alone}`)).status === 200, 'the end of one')
    await eventually(async () => {
      const { body } = await ada.client.post(`/v1/sms/bulk/${bulk.batch_id}/cancel`)
      return body.status === 'cancelled' && body.counts.failed === 20
    }, 'the end of the batch')
    assert.equal(await balance(ada), 99.2)
    await startSmsc(port)
    assert.equal((await ended(ada, kept)).status, 'delivered')
    assert.deepEqual(
      inbox.flatMap(({ text }) => (['alone', 'in a batch', 'kept', 'kept anew'].includes(text) ? [text] : [])),
      ['kept anew'],
    )
  })

  test('who answers STOP while operators are down gets the answer to it, and not what waited for them', async () => {
    const ada = await world.account({ balance: 100 })
    const handset = '+254722300301'
    await allDown()
    const [alone, other] = [await send(ada, handset, 'too late', 'SHOP'), await send(ada, handset, 'in time', 'CLINIC')]
    const stop = await ada.client.post('/v1/sandbox/sms/inbound', { from: handset, to: 'SHOP', message: 'STOP' })
    assert.equal(stop.status, 201, stop.text)
    const { body: listed } = await ada.client.get('/v1/sms?q=no%20more%20messages')
    await eventually(async () => {
      const { status, body } = await ada.client.patch(`/v1/sms/${listed.data[0].message_id}`, { message: 'An offer' })
      assert.deepEqual([status, body.error?.code], [409, 'MESSAGE_NOT_CANCELLABLE'])
      return /reply to STOP/.test(body.error.details)
    }, 'the answer to be nobody’s to change')
    await ada.client.post('/v1/sandbox/clock', { advance_seconds: 60 })
    await startSmsc(port)
    const { status, error_code, cost } = await ended(ada, alone)
    assert.deepEqual([status, error_code, cost], ['failed', 'OPTED_OUT', 0])
    assert.equal((await ended(ada, other)).status, 'delivered')
    await eventually(async () => inbox.some(({ text }) => /no more messages from SHOP/.test(text)), 'the confirmation')
    assert.ok(!inbox.some(({ text }) => text === 'too late'))
    assert.equal(await balance(ada), 99.2)
  })

  test('what is called off while operators come back is either paid back or goes out, and never both', async () => {
    const ada = await world.account({ balance: 100 })
    await allDown()
    const texts = Array.from({ length: 40 }, (_, n) => `racing ${n}`)
    const messages = texts.map((message, n) => ({ to: `+2547223002${10 + n}`, message }))
    const { body: bulk } = await ada.client.post('/v1/sms/bulk', { from: 'PAMOJA', messages })
    const single = await Promise.all(messages.map(({ to, message }) => send(ada, to, `${message} alone`)))
    const isBack = startSmsc(port)
    for (const [n, id] of single.entries()) {
      await ada.client.delete(`/v1/sms/${id}`)
      if (n % 10 === 0) await ada.client.post(`/v1/sms/bulk/${bulk.batch_id}/cancel`)
    }
    await isBack
    const { body: listed } = await ada.client.get('/v1/sms?limit=100')
    const records = await Promise.all(listed.data.map(({ message_id: id }: { message_id: string }) => ended(ada, id)))
    assert.equal(records.length, 80)
    const delivered = records.filter(({ status }) => status === 'delivered')
    for (const { message, status, error_code, cost } of records) {
      const arrivals = inbox.filter(({ text }) => text === message).length
      const expected = status === 'delivered' ? [null, 0.8, 1] : ['CANCELLED', 0, 0]
      assert.deepEqual([error_code, cost, arrivals], expected, message)
    }
    assert.equal(await balance(ada), Math.round(10 * (100 - 0.8 * delivered.length)) / 10)
    assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
  })

  test('what may be out is nobody’s to call off any more', async () => {
    const ada = await world.account({ balance: 100 })
    await bound('first', 2)
    await bound('second', 2)
    smsc.silent = true
    const id = await send(ada, '+254722300021', 'heard or not')
    await eventually(async () => smsc.unanswered > 0, 'the centre to have it')
    smsc.dropSessions()
    await allDown()
    const waits = `select from work.jobs where payload ->> 'message' = $1 and owner is null`
    const look = lookInto(world)
    await look.connect()
    await eventually(async () => (await look.query(waits, [uuidOf('sms', id)])).rowCount === 1, 'it to wait again')
    await look.end()
    const refused = await ada.client.delete(`/v1/sms/${id}`)
    assert.deepEqual([refused.status, refused.body.error?.code], [409, 'MESSAGE_NOT_CANCELLABLE'], refused.text)
    await startSmsc(port)
    assert.equal((await ended(ada, id)).status, 'delivered')
    assert.equal(await balance(ada), 99.2)
  })

  test('a route may refuse what nobody can take now, on a node that speaks to no carrier too', async (t) => {
    const ada = await world.account({ balance: 100 })
    await changeRoute({ when_down: 'refuse' })
    const api = await world.another({ PAMOJA_ROLES: ['api'] })
    const elsewhere = new Client(api.url, api.caFile && readFileSync(api.caFile, 'utf8'), ada.key)
    t.after(async () => {
      elsewhere.close()
      await api.stop()
    })
    const body = { to: '+254722300009', from: 'PAMOJA', message: 'now or never' }
    await smsc.stop()
    for (const client of [ada.client, elsewhere]) {
      const refused = await eventually(async () => {
        const reply = await client.post('/v1/sms/send', body)
        return reply.status === 503 && reply
      }, 'nobody to be able to take a message')
      assert.equal(refused.body.error.code, 'PROVIDER_UNAVAILABLE')
      assert.ok(Number(refused.headers['retry-after']) > 0)
      const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
      assert.equal((await client.post('/v1/sms/send', { ...body, scheduled_at: tomorrow })).status, 200)
    }
    const operator = elsewhere.as(world.credentials.operator_key)
    const down = await eventually(async () => {
      const { body: seen } = await operator.get('/v1/operator/sms/binds/first')
      // First the connection was lost; then nobody answers there.
      return !seen.is_up && /refused/i.test(seen.last_error ?? '') && seen
    }, 'the other node to say why')
    assert.deepEqual([down.bound, down.node], [0, idOf('node', world.app.nodeId)])
    await startSmsc(port)
    await eventually(async () => {
      const { body: seen } = await operator.get('/v1/operator/sms/binds/first')
      return seen.is_up && seen.last_error === null
    }, 'the other node to say that all is well')
    for (const client of [ada.client, elsewhere])
      await eventually(
        async () => (await client.post('/v1/sms/send', body)).status === 200,
        'messages to be taken again',
      )
    await changeRoute({ when_down: 'queue' })
  })

  test('a centre that stops answering is passed over, and used again when it answers', async () => {
    const ada = await world.account({ balance: 1000 })
    const heard: string[] = []
    const mute = await SmscSimulator.start({
      accounts: { mute: 'one' },
      delayMs: 20,
      onMessage: ({ text }) => heard.push(text),
    })
    mute.silent = true
    await world.operator.post('/v1/operator/sms/binds', {
      ...{ name: 'mute', host: '127.0.0.1', port: mute.port, system_id: 'mute', password: 'one' },
      response_timeout_seconds: 1,
    })
    await bound('mute', 1)
    const own = await world.operator.post('/v1/operator/sms/routes', {
      environment: 'test',
      account_id: ada.id,
      tiers: [[{ bind: 'mute' }], [{ bind: 'second' }]],
    })
    await inForce(world, own.body.id)
    const ids = await Promise.all(Array.from({ length: 40 }, (_, i) => send(ada, `+2547224${10_000 + i}`, `mute ${i}`)))
    for (const id of ids) assert.equal((await ended(ada, id)).status, 'delivered')
    for (let i = 0; i < 40; i++) assert.equal(inbox.filter(({ text }) => text === `mute ${i}`).length, 1)
    assert.match((await bind('mute')).last_error, /no submit_sm_resp within 1000 ms/)
    mute.silent = false
    await eventually(async () => {
      await ended(ada, await send(ada, '+254722400001', 'are you there?'))
      return heard.length > 0
    }, 'the centre to be used again')
    await eventually(async () => (await bind('mute')).last_error === null, 'nothing to be wrong with it')
    await world.operator.delete(`/v1/operator/sms/routes/${own.body.id}`)
    await world.operator.delete('/v1/operator/sms/binds/mute')
    await mute.stop()
  })

  test('an operator changes binds and routes without a restart', async () => {
    const { operator } = world
    const unknown = await operator.post('/v1/operator/sms/routes', { tiers: [[{ bind: 'nobody' }]] })
    assert.equal(unknown.status, 422)
    const twice = await operator.post('/v1/operator/sms/routes', { environment: 'test', tiers: [[{ bind: 'first' }]] })
    assert.equal(twice.status, 409)
    assert.equal((await operator.delete('/v1/operator/sms/binds/first')).status, 409)
    const taken = { name: 'sandbox-1', host: 'localhost', port: 1, system_id: 'a', password: 'b' }
    assert.equal((await operator.post('/v1/operator/sms/binds', taken)).status, 409)

    const wrong = await operator.patch('/v1/operator/sms/binds/second', { password: 'wrong' })
    assert.equal(wrong.status, 200, JSON.stringify(wrong.body))
    const refused = await eventually(async () => {
      const found = await bind('second')
      return found.last_error && found.bound === 0 && found
    }, 'the wrong password to be refused')
    assert.match(refused.last_error, /ESME_RINVPASWD/)
    await operator.patch('/v1/operator/sms/binds/second', { password: 'two', sessions: 1 })
    await bound('second', 1)

    await changeRoute({ tiers: [[{ bind: 'second' }]] })
    const ada = await world.account({ balance: 100 })
    await ended(ada, await send(ada, '+254722300003', 'over the second'))
    assert.equal(inbox.find(({ text }) => text === 'over the second')?.systemId, 'second')
    assert.equal((await operator.delete('/v1/operator/sms/binds/first')).status, 200)
    assert.equal((await operator.delete(`/v1/operator/sms/routes/${route.id}`)).status, 200)
    assert.equal((await operator.get('/v1/operator/sms/routes')).body.data.length, 0)
  })

  async function changeRoute(change: object): Promise<void> {
    const { status, body } = await world.operator.patch(`/v1/operator/sms/routes/${route.id}`, change)
    assert.equal(status, 200, JSON.stringify(body))
    await inForce(world, route.id)
  }

  async function bind(name: string) {
    const { body } = await world.operator.get('/v1/operator/sms/binds')
    return body.data.find((one: { name: string }) => one.name === name)
  }

  async function allDown(): Promise<void> {
    await smsc.stop()
    await eventually(
      async () => (await bind('first')).bound + (await bind('second')).bound === 0,
      'the binds to be down',
    )
  }

  async function bound(name: string, sessions: number): Promise<void> {
    await eventually(async () => (await bind(name)).bound === sessions, `${name} to be bound`)
  }
})

function signature(secret: string, body: string): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}
