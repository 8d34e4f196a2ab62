// SPDX-License-Identifier: Apache-2.0
// What handsets write: to numbers that a customer takes or an operator assigns, by keyword to the right address and the
// right account; and what customers answer, by themselves or in the answer of a webhook.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, beforeEach, describe, it, test } from 'node:test'
import { encodeMessage } from '../../src/protocols/smpp/charset.ts'
import type { Address } from '../../src/protocols/smpp/octets.ts'
import { addressTypes, newShortMessage } from '../../src/protocols/smpp/pdu.ts'
import { commandStatus } from '../../src/protocols/smpp/status.ts'
import { SmscSimulator } from '../../src/simulators/smsc.ts'
import type { Client } from '../client.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { balance, priceLiveTexts } from '../texting.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

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
beforeEach(() => receiver.answer((_request, response) => void response.end('ok')))

const handset = '+254711222333'

describe('a number with keywords', () => {
  it('sends each message to the address of its longest keyword, signed, and to subscribers', async () => {
    const ada = await world.account({ balance: 10 })
    await ada.client.post('/v1/webhooks', { url: receiver.url('/all'), events: ['sms.received'] })
    const made = await ada.client.post('/v1/sms/numbers', {
      number: '22141',
      keywords: [
        { keyword: 'join', webhook_url: receiver.url('/join') },
        { keyword: 'Join  now', webhook_url: receiver.url('/now') },
        { keyword: 'VOTE' },
      ],
      default_webhook_url: receiver.url('/other'),
    })
    assert.equal(made.status, 201, made.text)
    assert.deepEqual(
      made.body.keywords.map(({ keyword }: { keyword: string }) => keyword),
      ['JOIN', 'JOIN NOW', 'VOTE'],
    )
    const { body: secret } = await ada.client.get('/v1/webhooks/callback-secret')
    const cases = [
      ['join us', '/join', 'JOIN'],
      ['JOIN NOW!', '/now', 'JOIN NOW'],
      ['vote 7', '/other', 'VOTE'],
      ['Habari', '/other', 'HABARI'],
    ] as const
    for (const [message, path, keyword] of cases) {
      await write(ada, message)
      const { body, headers } = await receiver.next(path)
      const told = JSON.parse(body)
      assert.deepEqual([told.event, told.message, told.keyword], ['sms.received', message, keyword])
      assert.equal(headers['x-service-signature'], createHmac('sha256', secret.secret).update(body).digest('hex'))
      assert.equal(JSON.parse((await receiver.next('/all')).body).message_id, told.message_id)
    }
  })

  it('sends its automatic reply once, paid for, and none to who wants no messages', async () => {
    const ada = await world.account({ balance: 10 })
    const keywords = [{ keyword: 'JOIN', auto_reply: 'Karibu!' }]
    await ada.client.post('/v1/sms/numbers', { number: '22142', keywords })
    await write(ada, 'Join', '22142')
    const reply = await eventually(async () => (await outbound(ada)).find(({ status }) => status === 'delivered'), 'it')
    assert.deepEqual([reply.from, reply.to, reply.message, reply.cost], ['22142', handset, 'Karibu!', 0.8])
    assert.equal(await balance(ada), 9.2)
    await write(ada, 'STOP', '22142')
    await write(ada, 'Join', '22142')
    assert.equal((await outbound(ada)).filter(({ message }) => message === 'Karibu!').length, 1)
    assert.equal(await balance(ada), 9.2)
  })

  it('is changed, listed and given up by its owner', async () => {
    const { client } = await world.account()
    const body = { number: '+254700000099', keywords: [{ keyword: 'A' }] }
    assert.equal((await client.post('/v1/sms/numbers', body)).status, 201)
    const again = await client.post('/v1/sms/numbers', body)
    assert.deepEqual([again.status, again.body.error.code], [409, 'CONFLICT'])
    assert.match(again.body.error.details, /^you have \+254700000099 already/)
    const path = '/v1/sms/numbers/+254700000099'
    const url = receiver.url('/default')
    const changed = await client.patch(path, { keywords: [{ keyword: 'B' }], default_webhook_url: url })
    assert.equal(changed.status, 200, changed.text)
    const { body: listed } = await client.get('/v1/sms/numbers')
    assert.deepEqual(listed.data, [changed.body.data])
    assert.deepEqual([listed.data[0].keywords[0].keyword, listed.data[0].default_webhook_url], ['B', url])
    assert.deepEqual((await client.get(path)).body.data, changed.body.data)
    assert.equal((await client.patch(path, { default_webhook_url: null })).body.default_webhook_url, null)
    const { status, body: gone } = await client.delete(path)
    assert.deepEqual([status, gone.data], [200, { id: body.number, number: body.number, deleted: true }])
    assert.equal((await client.delete(path)).status, 404)
  })

  const bad: [string, object, number, string][] = [
    ['letters in the number', { number: 'PAMOJA' }, 422, 'VALIDATION_ERROR'],
    ['a keyword that is a sign', { keywords: [{ keyword: '#' }] }, 422, 'VALIDATION_ERROR'],
    ['a keyword twice', { keywords: [{ keyword: 'a' }, { keyword: 'A' }] }, 422, 'VALIDATION_ERROR'],
    ['STOP for a keyword', { keywords: [{ keyword: 'stop' }] }, 422, 'VALIDATION_ERROR'],
    ['an empty reply', { keywords: [{ keyword: 'A', auto_reply: '' }] }, 422, 'VALIDATION_ERROR'],
    [
      '51 keywords',
      { keywords: Array.from({ length: 51 }, (_, i) => ({ keyword: `K${i}` })) },
      422,
      'VALIDATION_ERROR',
    ],
    ['an address of another kind', { default_webhook_url: 'ftp://app.example/' }, 400, 'INVALID_URL'],
    ['a keyword’s bad address', { keywords: [{ keyword: 'A', webhook_url: 'x' }] }, 400, 'INVALID_URL'],
  ]
  for (const [name, change, status, code] of bad)
    it(`is refused with ${name}`, async () => {
      const { client } = await world.account()
      const reply = await client.post('/v1/sms/numbers', { number: '22143', ...change })
      assert.deepEqual([reply.status, reply.body.error.code], [status, code], reply.text)
      assert.deepEqual((await client.get('/v1/sms/numbers')).body.data, [])
    })
})

describe('live', () => {
  let smsc: SmscSimulator

  before(async () => {
    smsc = await SmscSimulator.start({ accounts: { live: 'one' }, delayMs: 20, responseTimeoutMs: 60_000 })
    const bind = { name: 'live', host: '127.0.0.1', port: smsc.port, system_id: 'live', password: 'one' }
    await world.operator.post('/v1/operator/sms/binds', { ...bind, response_timeout_seconds: 60 })
    const route = await world.operator.post('/v1/operator/sms/routes', { tiers: [[{ bind: 'live' }]] })
    assert.equal(route.status, 201, route.text)
    await eventually(async () => {
      const { body } = await world.operator.get('/v1/operator/sms/binds')
      return body.data.some(({ bound }: { bound: number }) => bound === 1)
    }, 'the bind')
    await priceLiveTexts(world)
  })
  after(() => smsc.stop())

  test('a number is assigned by the operator, and belongs to one account alone', async () => {
    const [ada, eve] = [await liveAccount(), await liveAccount()]
    const own = await ada.live.post('/v1/sms/numbers', { number: '40100' })
    assert.deepEqual([own.status, own.body.error.code], [403, 'FORBIDDEN'])
    assert.equal((await assign('40100', 'acc_x')).status, 422)
    assert.equal((await assign('40100', ada.id)).status, 201)
    assert.equal((await assign('40100', eve.id)).status, 409)
    assert.equal((await assign('40100', eve.id, true)).status, 409)
    await smsc.inbound(handset, '40100', 'Habari')
    assert.equal((await inbox(ada.live))[0].message, 'Habari')
    const sent = await ada.live.post('/v1/sms/send', { to: handset, from: '40100', message: 'Asante' })
    assert.equal(sent.status, 200, 'a number of one’s own needs no approval')
    assert.equal((await world.operator.delete('/v1/operator/sms/numbers/40100')).status, 200)
    assert.deepEqual((await ada.live.get('/v1/sms/numbers')).body.data, [])
  })

  test('a shared short code knows its accounts by their keywords, long messages too', async () => {
    const [ada, eve] = [await liveAccount(), await liveAccount()]
    for (const { id } of [ada, eve]) assert.equal((await assign('40200', id, true)).status, 201)
    const path = '/v1/sms/numbers/40200'
    assert.equal((await ada.live.patch(path, { keywords: [{ keyword: 'SHOP' }] })).status, 200)
    const taken = await eve.live.patch(path, { keywords: [{ keyword: 'CLINIC' }, { keyword: 'shop' }] })
    assert.deepEqual([taken.status, taken.body.error.code], [409, 'CONFLICT'])
    assert.equal((await eve.live.patch(path, { keywords: [{ keyword: 'CLINIC' }] })).status, 200)
    const long = `Clinic ${'please call me about my appointment '.repeat(9)}`.trim()
    await smsc.inbound(handset, '40200', 'shop 2 kg of sugar')
    await smsc.inbound(handset, '40200', long)
    assert.deepEqual(texts(await inbox(ada.live)), ['shop 2 kg of sugar'])
    assert.deepEqual(texts(await inbox(eve.live)), [long])
    await eve.live.post('/v1/sms/send', { to: handset, from: '40200', message: 'Call you when?' })
    await smsc.inbound(handset, '40200', 'Tomorrow at nine')
    assert.deepEqual(texts(await inbox(eve.live)), ['Tomorrow at nine', long], 'who wrote last is answered')
    assert.equal((await inbox(ada.live)).length, 1)
  })

  test('STOP from a handset that the operator names as its country does is obeyed', async () => {
    const ada = await liveAccount()
    const [long, short] = ['+254700000077', '40300']
    for (const number of [long, short]) assert.equal((await assign(number, ada.id)).status, 201)
    const [session] = smsc.sessions
    assert.ok(session)
    const national = (address: string) => ({ ton: 2, npi: 1, address })
    const says = (from: string, to: Address, text: string) =>
      session.deliver(
        newShortMessage({ source: national(from), destination: to, ...encodeMessage(text, { reference: 1 })[0] }),
      )
    const own = { ...addressTypes.international, address: long.slice(1) }
    const code = { ...addressTypes.network, address: short }
    assert.equal(await says('0712303535', own, 'STOP'), commandStatus.ESME_ROK)
    assert.equal(await says('712303536', code, 'STOP'), commandStatus.ESME_ROK, 'by the country of who has the number')
    const refused = await ada.live.post('/v1/sms/send', { to: '+254712303536', from: short, message: 'An offer' })
    assert.deepEqual([refused.status, refused.body.error?.code], [403, 'OPTED_OUT'], refused.text)
    assert.equal(await says('0712', code, 'STOP'), commandStatus.ESME_RX_P_APPN, 'nobody has such a number')
    const { body } = await ada.live.get('/v1/sms/opt-outs')
    const phones = body.data.map(({ phone }: { phone: string }) => phone).sort()
    assert.deepEqual(phones, ['+254712303535', '+254712303536'])
  })

  test('STOP to a long number is about the same number as a sender', async () => {
    const ada = await liveAccount()
    assert.equal((await assign('+27831000001', ada.id)).status, 201)
    const send = () => ada.live.post('/v1/sms/send', { to: handset, from: '27831000001', message: 'An offer' })
    const sent = await send()
    assert.equal(sent.status, 200, sent.text)
    await smsc.inbound(handset, '+27831000001', 'STOP')
    const { body } = await ada.live.get('/v1/events?event=sms.received')
    assert.equal(body.data[0].payload.in_reply_to, sent.body.message_id)
    const refused = await send()
    assert.deepEqual([refused.status, refused.body.error?.code], [403, 'OPTED_OUT'], refused.text)
    assert.equal((await ada.live.get('/v1/sms/opt-outs')).body.data[0].from, '27831000001')
  })

  async function assign(number: string, account_id: string, shared = false) {
    return world.operator.post('/v1/operator/sms/numbers', { number, account_id, shared })
  }
})

describe('the reply in a webhook’s answer', () => {
  it('is sent once, whoever else answers and however often the event is told', async () => {
    const ada = await world.account({ balance: 10 })
    answers({ '/first': { reply: 'Asante! 😀' }, '/second': { reply: 'Asante! 😀' } })
    const url = receiver.url('/first')
    const { body: hook } = await ada.client.post('/v1/webhooks', { url, events: ['sms.received'] })
    await ada.client.post('/v1/sms/numbers', { number: '22150', default_webhook_url: receiver.url('/second') })
    await write(ada, 'Habari', '22150')
    await receiver.next('/first')
    await receiver.next('/second')
    const reply = await eventually(async () => (await outbound(ada)).find(({ status }) => status === 'delivered'), 'it')
    assert.deepEqual(
      [reply.from, reply.to, reply.message, reply.encoding, reply.cost],
      ['22150', handset, 'Asante! 😀', 'ucs2', 0.8],
    )
    const [delivery] = await deliveries(ada, hook.id)
    const again = await ada.client.post(`/v1/webhooks/${hook.id}/deliveries/${delivery?.id}/redeliver`)
    assert.equal(again.status, 200, again.text)
    await receiver.next('/first')
    await eventually(async () => (await deliveries(ada, hook.id)).every(isDelivered), 'the second delivery')
    assert.equal((await outbound(ada)).length, 1)
    assert.equal(await balance(ada), 9.2)
  })

  const refused: [string, unknown, RegExp][] = [
    ['is too long', { reply: 'x'.repeat(1531) }, /must have 1 to 1530 characters/],
    ['is empty', { reply: '' }, /must have 1 to 1530 characters/],
    ['is not a text', { reply: 7 }, /reply must be a text/],
    ['holds what no text may', { reply: 'a\u0000b' }, /U\+0000/],
    ['costs more than there is', { reply: 'x'.repeat(320) }, /KES 2\.40/],
    ['is in an answer of a megabyte', { reply: 'Asante', more: 'x'.repeat(1_000_000) }, /the reply is too long/],
  ]
  for (const [what, answer, reason] of refused)
    it(`that ${what} is not sent, and the log of the delivery says why`, async () => {
      const ada = await world.account({ balance: 1 })
      answers({ '/refused': answer })
      const url = receiver.url('/refused')
      const { body: hook } = await ada.client.post('/v1/webhooks', { url, events: ['sms.received'] })
      await write(ada, 'Habari')
      const delivery = await eventually(async () => (await deliveries(ada, hook.id)).find(isDelivered), 'the delivery')
      const { body } = await ada.client.get(`/v1/webhooks/${hook.id}/deliveries/${delivery.id}`)
      assert.match(body.attempts_log[0].reason, reason)
      assert.deepEqual(await outbound(ada), [])
      assert.equal(await balance(ada), 1)
    })

  const ignored: [string, unknown][] = [
    ['a list', ['reply']],
    ['a text', 'reply'],
    ['no reply', { note: 'the "reply" comes later' }],
  ]
  for (const [what, answer] of ignored)
    it(`is not looked for in ${what}`, async () => {
      const ada = await world.account({ balance: 1 })
      answers({ '/ignored': answer })
      const url = receiver.url('/ignored')
      const { body: hook } = await ada.client.post('/v1/webhooks', { url, events: ['sms.received'] })
      await write(ada, 'Habari')
      const delivery = await eventually(async () => (await deliveries(ada, hook.id)).find(isDelivered), 'the delivery')
      const { body } = await ada.client.get(`/v1/webhooks/${hook.id}/deliveries/${delivery.id}`)
      assert.equal(body.attempts_log[0].reason, null)
      assert.deepEqual(await outbound(ada), [])
    })

  function answers(byPath: Record<string, unknown>): void {
    receiver.answer(({ url }, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(byPath[url] ?? {}))
    })
  }
})

describe('answers to answers', () => {
  const mirror = '+254711000014'

  test('end where a text comes back as it went out, whoever answers it', async () => {
    const [ada, eve] = [await world.account({ balance: 10 }), await world.account({ balance: 10 })]
    const keywords = [
      { keyword: 'PING', auto_reply: 'PONG x' },
      { keyword: 'PONG', auto_reply: 'PING x' },
    ]
    await ada.client.post('/v1/sms/numbers', { number: '22161', keywords })
    await ada.client.post('/v1/sandbox/sms/inbound', { from: mirror, to: '22161', message: 'ping' })
    await came(ada, 'PONG x')
    assert.deepEqual(texts(await outbound(ada)), ['PONG x'])

    receiver.answer((_request, response) => void response.end(JSON.stringify({ reply: 'hi there' })))
    const { body: hook } = await eve.client.post('/v1/webhooks', { url: receiver.url('/hi'), events: ['sms.received'] })
    await eve.client.post('/v1/sms/send', { to: mirror, from: '22162', message: 'hello' })
    await came(eve, 'hello')
    const delivery = await eventually(async () => (await deliveries(eve, hook.id)).find(isDelivered), 'the delivery')
    const { body } = await eve.client.get(`/v1/webhooks/${hook.id}/deliveries/${delivery.id}`)
    assert.match(body.attempts_log[0].reason, /not sent: the message is the last text sent to its handset/)
    assert.deepEqual(texts(await outbound(eve)), ['hello'])
  })

  test('are at most ten in a minute for a handset and a number', async () => {
    const ada = await world.account({ balance: 20 })
    for (const number of ['22163', '22164'])
      await ada.client.post('/v1/sms/numbers', { number, keywords: [{ keyword: 'JOIN', auto_reply: 'Karibu!' }] })
    for (let i = 0; i < 12; i++) await write(ada, `Join ${i}`, '22163')
    assert.equal((await outbound(ada)).length, 10)
    await write(ada, 'Join', '22164')
    assert.equal((await outbound(ada)).length, 11, 'another number')
    assert.equal((await inbox(ada.client)).length, 13, 'all of them arrived')
  })

  function came(account: Account, text: string) {
    return eventually(async () => texts(await inbox(account.client)).includes(text), `${text} to come back`)
  }
})

/** A test handset writes to an account. */
async function write(account: Account, message: string, to = '22141'): Promise<void> {
  const { status, text } = await account.client.post('/v1/sandbox/sms/inbound', { from: handset, to, message })
  assert.equal(status, 201, text)
}

interface Listed {
  id: string
  status: string
  from: string
  to: string
  message: string
  encoding: string
  cost: number
}

/** What an account sent of its own: our confirmations of STOP are free. */
async function outbound({ client }: Account): Promise<Listed[]> {
  const { body } = await client.get('/v1/sms?direction=outbound')
  return body.data.filter(({ cost }: Listed) => cost > 0)
}

async function inbox(client: Client) {
  return (await client.get('/v1/sms?direction=inbound')).body.data
}

function texts(messages: readonly Listed[]): string[] {
  return messages.map(({ message }) => message)
}

async function deliveries({ client }: Account, hook: string): Promise<Listed[]> {
  return (await client.get(`/v1/webhooks/${hook}/deliveries`)).body.data
}

function isDelivered({ status }: Listed): boolean {
  return status === 'delivered'
}

/** An account with ten shillings in its live wallet, and its live key. */
async function liveAccount(): Promise<Account & { live: Client }> {
  const ada = await world.account()
  const { body: key } = await ada.client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  const credit = { amount: 10, currency: 'KES', environment: 'live', reference: 'first' }
  await world.operator.post(`/v1/operator/accounts/${ada.id}/credit`, credit)
  return { ...ada, live: world.stranger.as(key.key) }
}
