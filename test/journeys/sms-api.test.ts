// SPDX-License-Identifier: Apache-2.0
// Messages as customers send, read, change and cancel them, up to the moment a carrier would take them: this node has
// none, so that what is queued stays queued.
import assert from 'node:assert/strict'
import { after, before, describe, it, test } from 'node:test'
import { forgetTexts } from '../../src/areas/sms/retention.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { dayMs } from '../../src/kernel/time.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import type { Client } from '../client.ts'
import { lookInto } from '../looking.ts'
import { eventually, startWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await startWorld({
    PAMOJA_ROLES: ['api', 'dispatch', 'webhooks', 'timers', 'sandbox'],
  })
})
after(() => world.stop())

const message = { to: '+254712345678', from: 'PAMOJA', message: 'Habari Ada' }

/** Notes that are so many bytes as JSON. */
function notesOf(bytes: number): Record<string, string> {
  const notes = Object.fromEntries(
    Array.from({ length: 16 }, (_, i) => [`note${String(i).padStart(2, '0')}`, 'x'.repeat(490)]),
  )
  const rest = bytes - Buffer.byteLength(JSON.stringify({ ...notes, rest: '' }))
  return { ...notes, rest: 'x'.repeat(rest) }
}

async function balanceOf(client: Client): Promise<number> {
  return (await client.get('/v1/sms/balance')).body.balance
}

test('a message is accepted, priced exactly, paid for and can be read', async () => {
  const { client } = await world.account({ balance: 100 })
  const sent = await client.post('/v1/sms/send', { ...message, metadata: { order: '77' }, reference: 'order-77' })
  assert.equal(sent.status, 200, sent.text)
  const { message_id, timestamp, ...reply } = sent.body.data
  assert.match(message_id, /^sms_[0-9a-z]{26}$/)
  assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.deepEqual(reply, {
    status: 'queued',
    to: '+254712345678',
    from: 'PAMOJA',
    segments: 1,
    cost: 0.8,
    currency: 'KES',
    encoding: 'gsm7',
    country: 'KE',
    network: 'Safaricom',
    scheduled_at: null,
  })
  assert.match(sent.text, /"cost":0\.8,/)
  const { body } = await client.get(`/v1/sms/${message_id}`)
  assert.deepEqual(body.data, {
    message_id,
    status: 'queued',
    direction: 'outbound',
    to: '+254712345678',
    from: 'PAMOJA',
    message: 'Habari Ada',
    segments: 1,
    parts: 1,
    encoding: 'gsm7',
    cost: 0.8,
    price_per_segment: 0.8,
    currency: 'KES',
    created_at: timestamp,
    scheduled_at: null,
    sent_at: null,
    delivered_at: null,
    failed_at: null,
    error_code: null,
    error: null,
    metadata: { order: '77' },
    reference: 'order-77',
    country: 'KE',
    network: 'Safaricom',
    attempts: 0,
    batch_id: null,
    timeline: [{ status: 'queued', at: timestamp, error_code: null, carrier_code: null }],
  })
  const balance = await client.get('/v1/sms/balance')
  const { updated_at, ...money } = balance.body.data
  assert.ok(Date.parse(updated_at) > 0)
  assert.deepEqual(money, {
    balance: 99.2,
    currency: 'KES',
    reserved: 0,
    available: 99.2,
    credit_limit: 0,
    low_balance: false,
    estimated_segments: 124,
  })
})

test('whoever has money for fewer than a hundred segments has little', async () => {
  const { client } = await world.account({ balance: 80.8 })
  const balance = async () => (await client.get('/v1/sms/balance')).body
  const shown = async () => {
    const { low_balance, estimated_segments } = await balance()
    return [low_balance, estimated_segments]
  }
  assert.deepEqual(await shown(), [false, 101])
  await client.post('/v1/sms/send', message)
  assert.deepEqual(await shown(), [false, 100])
  await client.post('/v1/sms/send', message)
  assert.deepEqual(await shown(), [true, 99])
})

test('the price is the operator’s: by network, by country, and three segments cost three times as much', async () => {
  const { client } = await world.account({ balance: 100, currency: 'ZMW' })
  await world.operator.post('/v1/operator/prices', {
    area: 'sms',
    unit: 'segment',
    country: 'KE',
    amount: 0.25,
    currency: 'ZMW',
  })
  await world.operator.post('/v1/operator/prices', {
    area: 'sms',
    unit: 'segment',
    country: 'KE',
    network: 'Airtel',
    amount: 0.123456,
    currency: 'ZMW',
  })
  const costOf = async (to: string, text = 'x') =>
    (await client.post('/v1/sms/send', { ...message, to, message: text })).body.cost
  await eventually(async () => (await costOf('+254733000001')) === 0.123456, 'the price of the network')
  assert.equal(await costOf('+254711000001'), 0.25)
  assert.equal(await costOf('+254711000001', 'x'.repeat(307)), 0.75)
  assert.equal(await costOf('+260950000001'), 0.15, 'elsewhere the placeholder stands')
  const { body } = await client.get('/v1/sms/pricing?country=KE')
  const priced = Object.fromEntries(
    body.data.map((row: { network: string; price: number }) => [row.network, row.price]),
  )
  assert.deepEqual([priced.null, priced.Airtel, priced.Safaricom], [0.25, 0.123456, 0.25])
  const { body: prices } = await world.operator.get('/v1/operator/prices?area=sms&country=KE')
  const since = prices.data.find((price: { network: string }) => price.network === 'Airtel').effective_from
  assert.equal(body.data.find((row: { network: string }) => row.network === 'Airtel').effective_from, since)
  const [elsewhere] = (await client.get('/v1/sms/pricing?country=ZM')).body.data
  assert.equal(elsewhere.effective_from, null, 'a placeholder is nobody’s price')
  assert.equal(body.data.find((row: { network: string }) => row.network === 'Safaricom').mcc_mnc, '63902')
})

describe('a message that breaks a rule is refused, costs nothing and says why:', () => {
  const past = '2020-01-01T00:00:00Z'
  const cases: [name: string, change: object, status: number, code: string, details: RegExp][] = [
    ['a number without its plus', { to: '254712345678' }, 422, 'INVALID_PHONE', /^to must be E\.164/],
    ['a number with 16 digits', { to: '+2547123456789012' }, 422, 'INVALID_PHONE', /^to /],
    ['a number that is a number', { to: 254712345678 }, 422, 'INVALID_PHONE', /^to /],
    ['no recipient', { to: undefined }, 422, 'VALIDATION_ERROR', /^to is required/],
    ['an empty list', { to: [] }, 422, 'VALIDATION_ERROR', /^to must be a number or a list/],
    ['a list of 1001', { to: Array(1001).fill('+254712345678') }, 422, 'VALIDATION_ERROR', /1 to 1000/],
    ['a list without one good number', { to: ['0712', 'x'] }, 422, 'INVALID_PHONE', /^to\[0\]: to must be E\.164/],
    ['a sender of 2', { from: 'AB' }, 422, 'VALIDATION_ERROR', /^from must have 3 to 11/],
    ['a sender of 12', { from: 'ABCDEFGHIJKL' }, 422, 'VALIDATION_ERROR', /^from /],
    ['a sender with a space', { from: 'PAM OJA' }, 422, 'VALIDATION_ERROR', /^from /],
    ['no text', { message: '' }, 422, 'VALIDATION_ERROR', /^message must have 1 to 1530/],
    ['1531 characters', { message: 'x'.repeat(1531) }, 422, 'VALIDATION_ERROR', /^message /],
    ['two fields', { to: '0712', from: 'A' }, 422, 'VALIDATION_ERROR', /to .*from /],
    ['a plain http callback', { callback_url: 'http://example.com/x' }, 400, 'INVALID_URL', /^callback_url /],
    ['a callback that is no URL', { callback_url: 'nonsense' }, 400, 'INVALID_URL', /^callback_url /],
    ['a time without a zone', { scheduled_at: '2030-01-01T00:00:00' }, 422, 'VALIDATION_ERROR', /^scheduled_at /],
    ['a time long past', { scheduled_at: past }, 422, 'VALIDATION_ERROR', /^scheduled_at is in the past/],
    ['a time too far ahead', { scheduled_at: '2099-01-01T00:00:00Z' }, 422, 'VALIDATION_ERROR', /365 days/],
    ['nested metadata', { metadata: { a: { b: 1 } } }, 422, 'VALIDATION_ERROR', /^metadata/],
    [
      '8193 bytes of metadata',
      { metadata: notesOf(8193) },
      422,
      'VALIDATION_ERROR',
      /^metadata must have at most 8192/,
    ],
    ['a reference of 65', { reference: 'x'.repeat(65) }, 422, 'VALIDATION_ERROR', /^reference /],
    [
      'one reference for two',
      { to: ['+254711000001', '+254711000002'], reference: 'a' },
      422,
      'VALIDATION_ERROR',
      /^reference /,
    ],
    ['an unknown encoding', { encoding: 'latin1' }, 422, 'VALIDATION_ERROR', /^encoding must be one of/],
    ['an emoji in gsm7', { encoding: 'gsm7', message: 'Habari “Ada” 😀' }, 422, 'ENCODING_ERROR', /GSM 7-bit.*: 😀$/],
    ['a validity of 59', { validity: 59 }, 422, 'VALIDATION_ERROR', /^validity /],
    ['a validity of two days and a second', { validity: 172801 }, 422, 'VALIDATION_ERROR', /^validity /],
    ['an unknown type', { type: 'spam' }, 422, 'VALIDATION_ERROR', /^type /],
    [
      'more segments than allowed',
      { message: 'x'.repeat(161), max_segments: 1 },
      422,
      'MESSAGE_TOO_LONG',
      /needs 2 segments/,
    ],
    ['47 segments allowed', { max_segments: 47 }, 422, 'VALIDATION_ERROR', /^max_segments /],
    ['a wallet that is short', { message: 'x'.repeat(161) }, 402, 'INSUFFICIENT_BALANCE', /KES 1\.60.*KES 1\.00/],
    ['the sandbox number without money', { to: '+254711000010' }, 402, 'INSUFFICIENT_BALANCE', /wallet/],
    ['the sandbox number that opted out', { to: '+254711000011' }, 403, 'OPTED_OUT', /has opted out/],
  ]
  for (const [name, change, status, code, details] of cases)
    it(name, async () => {
      const { client } = await world.account({ balance: 1 })
      const reply = await client.post('/v1/sms/send', { ...message, ...change })
      assert.deepEqual([reply.status, reply.body.error.code], [status, code], reply.text)
      assert.match(reply.body.error.details, details)
      assert.equal(await balanceOf(client), 1)
      assert.deepEqual((await client.get('/v1/sms')).body.data, [])
    })
})

describe('segments and encoding are counted as phones count them:', () => {
  const cases: [
    name: string,
    text: string,
    expected: [segments: number, encoding: string, used: number, left: number],
    extra?: object,
  ][] = [
    ['160 plain characters', 'x'.repeat(160), [1, 'gsm7', 160, 0]],
    ['161 plain characters', 'x'.repeat(161), [2, 'gsm7', 161, 145]],
    ['1530 plain characters', 'x'.repeat(1530), [10, 'gsm7', 1530, 0]],
    ['a euro counts twice', '€'.repeat(80), [1, 'gsm7', 160, 0]],
    [
      'a euro is never cut',
      `${'x'.repeat(152)}€${'x'.repeat(10)}`,
      [2, 'gsm7', 164, 141].slice(0, 2).concat([164, 141]) as [number, string, number, number],
    ],
    ['70 Arabic letters', 'ا'.repeat(70), [1, 'ucs2', 70, 0]],
    ['71 Arabic letters', 'ا'.repeat(71), [2, 'ucs2', 71, 63]],
    ['an emoji counts two', '😀'.repeat(35), [1, 'ucs2', 70, 0]],
    ['smart quotes, asked as gsm7', '“Habari” – sasa', [1, 'gsm7', 15, 145], { encoding: 'gsm7' }],
    ['plain text, asked as ucs2', 'x'.repeat(71), [2, 'ucs2', 71, 63], { encoding: 'ucs2' }],
  ]
  for (const [name, text, [segments, encoding, used, left], extra = {}] of cases)
    it(name, async () => {
      const { client } = await world.account({ balance: 10 })
      const { status, body, text: raw } = await client.post('/v1/sms/estimate', { ...message, message: text, ...extra })
      assert.equal(status, 200, raw)
      assert.deepEqual(
        [body.segments, body.encoding, body.units_used, body.units_left],
        [segments, encoding, used, left],
      )
      assert.equal(body.cost, Math.round(segments * 8) / 10)
      const sent = await client.post('/v1/sms/send', { ...message, message: text, ...extra })
      assert.deepEqual([sent.body.segments, sent.body.encoding, sent.body.cost], [segments, encoding, body.cost])
    })
})

test('notes of 8 KiB are taken, and come back', async () => {
  const { client } = await world.account({ balance: 1 })
  const metadata = notesOf(8192)
  const { body } = await client.post('/v1/sms/send', { ...message, metadata })
  assert.deepEqual((await client.get(`/v1/sms/${body.message_id}`)).body.metadata, metadata)
})

test('who has too little money is told how much there is and how much it takes', async () => {
  const { client } = await world.account({ balance: 1 })
  const long = { ...message, message: 'x'.repeat(161) }
  const problems = [
    (await client.post('/v1/sms/send', long)).body.error,
    (await client.post('/v1/sms/send', { ...message, to: ['+254711000001', '+254711000002'] })).body.error,
    (await client.post('/v1/sms/bulk', { from: 'PAMOJA', messages: [long] })).body.error,
  ]
  for (const { code, balance, required, currency } of problems)
    assert.deepEqual([code, balance, required, currency], ['INSUFFICIENT_BALANCE', 1, 1.6, 'KES'])
  const later = new Date(Date.now() + 3_600_000).toISOString()
  const { body: waiting } = await client.post('/v1/sms/send', { ...message, scheduled_at: later })
  const { body } = await client.patch(`/v1/sms/${waiting.message_id}`, { message: long.message })
  assert.deepEqual([body.error.code, body.error.required, body.error.currency], ['INSUFFICIENT_BALANCE', 1.6, 'KES'])
})

test('a message is found by its reference, and by nobody else’s', async () => {
  const [ada, eve] = [await world.account({ balance: 10 }), await world.account({ balance: 10 })]
  const sent = await ada.client.post('/v1/sms/send', { ...message, reference: 'order-1' })
  await ada.client.post('/v1/sms/send', { ...message, reference: 'order-2' })
  await ada.client.post('/v1/sms/send', message)
  const found = async ({ client }: typeof ada, query: string) =>
    (await client.get(`/v1/sms?${query}`)).body.data.map((row: { message_id: string }) => row.message_id)
  assert.deepEqual(await found(ada, 'reference=order-1'), [sent.body.message_id])
  assert.deepEqual(await found(ada, 'reference=order-1&order=asc&status=queued'), [sent.body.message_id])
  assert.deepEqual(await found(ada, 'reference=order-1&status=failed'), [])
  assert.deepEqual(await found(ada, 'reference=order-1&to_date=2020-01-01'), [])
  assert.deepEqual(await found(ada, 'reference=order-3'), [])
  assert.deepEqual(await found(eve, 'reference=order-1'), [])
})

describe('an estimate takes the recipients that a message takes:', () => {
  const cases: [to: unknown, code: string][] = [
    [[], 'VALIDATION_ERROR'],
    [Array(1001).fill('+254712345678'), 'VALIDATION_ERROR'],
    [['0712', 'x'], 'INVALID_PHONE'],
  ]
  for (const [to, code] of cases)
    it(`${JSON.stringify(to).slice(0, 20)} is ${code}`, async () => {
      const { status, body } = await world.demo.post('/v1/sms/estimate', { ...message, to })
      assert.deepEqual([status, body.error.code], [422, code])
    })
})

test('a time in a query may have its plus sign as it is written', async () => {
  const { client } = await world.account({ balance: 1 })
  await client.post('/v1/sms/send', message)
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 19)
  for (const plus of ['+', '%2B'])
    assert.equal((await client.get(`/v1/sms?to_date=${tomorrow}${plus}03:00`)).body.data.length, 1)
  const { body } = await client.get(`/v1/sms?to_date=${tomorrow}`)
  assert.equal(body.error.code, 'INVALID_DATE_RANGE', 'a time without a zone is none')
})

test('an estimate suggests the plain text that needs fewer segments, and sends nothing', async () => {
  const { client } = await world.account({ balance: 10 })
  const text = `It’s ${'x'.repeat(100)}`
  const { body } = await client.post('/v1/sms/estimate', {
    ...message,
    to: ['+254711000001', '+254711000002', 'bad'],
    message: text,
  })
  assert.deepEqual(
    [body.segments, body.encoding, body.non_gsm, body.suggestion, body.suggestion_segments, body.recipients, body.cost],
    [2, 'ucs2', ['’'], text.replace('’', "'"), 1, 2, 3.2],
  )
  assert.equal(await balanceOf(client), 10)
})

test('the same idempotency key gives the same answer and charges once; another body under it is refused', async () => {
  const { client } = await world.account({ balance: 10 })
  const key = { headers: { 'idempotency-key': 'once' } }
  const body = { ...message, reference: 'r1' }
  const first = await client.post('/v1/sms/send', body, key)
  const again = await client.post('/v1/sms/send', body, key)
  assert.equal(again.text, first.text)
  assert.equal(again.headers['idempotent-replayed'], 'true')
  assert.equal(await balanceOf(client), 9.2)
  const other = await client.post('/v1/sms/send', { ...body, message: 'x' }, key)
  assert.deepEqual([other.status, other.body.error.code], [409, 'DUPLICATE_REFERENCE'])
})

test('a refusal is the answer to its idempotency key too, also one that the sandbox makes up', async () => {
  const { client } = await world.account({ balance: 10 })
  const refusals: [string, number][] = [
    ['+254711000010', 402],
    ['+254711000011', 403],
  ]
  for (const [to, status] of refusals) {
    const headers = { 'idempotency-key': `refused-${status}` }
    const first = await client.post('/v1/sms/send', { ...message, to }, { headers })
    const again = await client.post('/v1/sms/send', { ...message, to }, { headers })
    assert.deepEqual([first.status, first.headers['idempotent-replayed']], [status, undefined])
    assert.deepEqual([again.status, again.text, again.headers['idempotent-replayed']], [status, first.text, 'true'])
    const other = await client.post('/v1/sms/send', { ...message, to, message: 'Other' }, { headers })
    assert.deepEqual([other.status, other.body.error.code], [409, 'DUPLICATE_REFERENCE'])
  }
})

test('a reference is used once for ever, and its second use names the first message', async () => {
  const { client } = await world.account({ balance: 10 })
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => client.post('/v1/sms/send', { ...message, reference: 'mine' })),
  )
  const accepted = replies.filter(({ status }) => status === 200)
  assert.equal(accepted.length, 1)
  for (const { status, body } of replies.filter((reply) => reply.status !== 200)) {
    assert.deepEqual([status, body.error.code], [409, 'DUPLICATE_REFERENCE'])
    assert.equal(body.error.existing_id, accepted[0]?.body.message_id)
  }
  assert.equal(await balanceOf(client), 9.2)
  const eve = await world.account({ balance: 10 })
  assert.equal(
    (await eve.client.post('/v1/sms/send', { ...message, reference: 'mine' })).status,
    200,
    'another account',
  )
})

test('of messages that come at the same moment, new ones and repeated ones, each is answered for itself', async () => {
  const { client } = await world.account({ balance: 100 })
  const { body: taken } = await client.post('/v1/sms/send', { ...message, reference: 'taken' })
  const send = async (i: number) => {
    const reference = i % 3 === 1 ? 'taken' : `own-${i}`
    return client.post('/v1/sms/send', { ...message, reference }, { headers: { 'idempotency-key': `key-${i}` } })
  }
  const first = await Promise.all(Array.from({ length: 12 }, (_, i) => send(i)))
  const second = await Promise.all(Array.from({ length: 18 }, (_, i) => send(i)))
  for (const [i, { status, body, text, headers }] of [...first, ...second].entries()) {
    const number = i % 12 === i ? i : i - 12
    if (number % 3 === 1) {
      assert.deepEqual(
        [status, body.error.code, body.error.existing_id],
        [409, 'DUPLICATE_REFERENCE', taken.message_id],
      )
      continue
    }
    assert.equal(status, 200, text)
    const { body: record } = await client.get(`/v1/sms/${body.message_id}`)
    assert.equal(record.reference, `own-${number}`)
    assert.equal(headers['idempotent-replayed'], i >= 12 && number < 12 ? 'true' : undefined)
    if (i >= 12 && number < 12) assert.equal(text, first[number]?.text)
  }
  assert.equal(await balanceOf(client), 89.6)
})

test('a reference of a message that could not be paid for is free again', async () => {
  const { client, id } = await world.account({ balance: 0.5 })
  assert.equal((await client.post('/v1/sms/send', { ...message, reference: 'later' })).status, 402)
  const credit = { amount: 1, currency: 'KES', environment: 'test', reference: 'more' }
  await world.operator.post(`/v1/operator/accounts/${id}/credit`, credit)
  assert.equal((await client.post('/v1/sms/send', { ...message, reference: 'later' })).status, 200)
})

test('many recipients become one batch; duplicates are sent once and a bad number stops nobody', async () => {
  const { client } = await world.account({ balance: 10 })
  const to = ['+254711000001', '0712', '+254733000001', '+254711000001', '+254711000011']
  const key = { headers: { 'idempotency-key': 'many' } }
  const sent = await client.post('/v1/sms/send', { ...message, to }, key)
  assert.equal(sent.status, 200, sent.text)
  const { body } = sent
  assert.match(body.message_id, /^smb_/)
  assert.deepEqual(body.to, ['+254711000001', '0712', '+254733000001', '+254711000011'])
  assert.deepEqual([body.accepted, body.rejected, body.cost, body.segments], [3, 1, 1.6, 1])
  assert.deepEqual(
    body.messages.map((one: { to: string; status: string; error_code: string; cost: number }) => [
      one.to,
      one.status,
      one.error_code,
      one.cost,
    ]),
    [
      ['+254711000001', 'queued', null, 0.8],
      ['0712', 'failed', 'INVALID_PHONE', 0],
      ['+254733000001', 'queued', null, 0.8],
      ['+254711000011', 'failed', 'OPTED_OUT', 0],
    ],
  )
  assert.equal(body.messages[1].message_id, null)
  assert.deepEqual([body.country, body.network], ['KE', null])
  const again = await client.post('/v1/sms/send', { ...message, to }, key)
  assert.equal(again.text, sent.text)
  assert.equal(again.headers['idempotent-replayed'], 'true')
  assert.equal(await balanceOf(client), 8.4)
  const batch = await client.get(`/v1/sms/${body.message_id}`)
  assert.deepEqual(batch.body.counts, { queued: 2, sent: 0, delivered: 0, failed: 1 })
  assert.equal(batch.body.completed_at, null)
  assert.deepEqual(
    ['message_id', 'to', 'from', 'parts', 'status'].map((name) => batch.body[name]),
    [body.message_id, body.to, 'PAMOJA', 3, 'queued'],
  )
  assert.deepEqual([batch.body.sent_at, batch.body.delivered_at], [null, null])
  assert.equal(batch.body.created_at, body.timestamp)
  const refused = await client.get(`/v1/sms/${body.messages[3].message_id}`)
  assert.deepEqual([refused.body.status, refused.body.error_code, refused.body.cost], ['failed', 'OPTED_OUT', 0])
})

test('a list without one good number names what is wrong with each', async () => {
  const { client } = await world.account({ balance: 10 })
  const { status, body } = await client.post('/v1/sms/send', { ...message, to: ['0712', 'x'] })
  assert.equal(status, 422)
  assert.deepEqual(
    body.error.errors.map((one: { index: number; to: string; error_code: string }) => [
      one.index,
      one.to,
      one.error_code,
    ]),
    [
      [0, '0712', 'INVALID_PHONE'],
      [1, 'x', 'INVALID_PHONE'],
    ],
  )
})

test('a list of recipients counts once on the plan, and goes out at its rate', async () => {
  const limited = await startWorld({ PAMOJA_RATE_LIMITS: 'on' })
  try {
    const { client } = await limited.account({ balance: 100, plan: 'free' })
    const to = Array.from({ length: 11 }, (_, i) => `+2547110000${i + 20}`)
    const request = { body: { ...message, to }, headers: { 'idempotency-key': 'list' } }
    const sent = await client.request('POST', '/v1/sms/send', request)
    assert.deepEqual([sent.status, sent.body.accepted], [200, 11], sent.text)
    assert.equal(sent.headers['x-ratelimit-remaining'], '9')
    const again = await client.request('POST', '/v1/sms/send', request)
    assert.deepEqual([again.status, again.body.message_id], [200, sent.body.message_id])
    assert.equal((await client.post('/v1/sms/send', message)).status, 200, 'there is room for others')
    const gone = async () => {
      const { counts } = (await client.get(`/v1/sms/bulk/${sent.body.message_id}`)).body
      return counts.sent + counts.delivered
    }
    await eventually(async () => (await gone()) === 10, 'those of the first minute')
    assert.equal((await client.get(`/v1/sms/${sent.body.messages[10].message_id}`)).body.status, 'queued')
    await client.post('/v1/sandbox/clock', { advance_seconds: 60 })
    await eventually(async () => (await gone()) === 11, 'the last one')
  } finally {
    await limited.stop()
  }
})

test('a bulk request gives each entry its verdict', async () => {
  const { client } = await world.account({ balance: 10 })
  await client.post('/v1/sms/send', { ...message, reference: 'before' })
  const sent = await client.post('/v1/sms/bulk', {
    from: 'PAMOJA',
    metadata: { run: 'a' },
    messages: [
      { to: '+254711000001', message: 'One', metadata: { n: 1 } },
      { to: '+254711000002', message: 'x'.repeat(161), from: 'OTHER' },
      { to: '0712', message: 'Three' },
      { to: '+254711000003', message: '' },
      { to: '+254711000004', message: 'Five', reference: 'before' },
      { to: '+254711000005', message: 'Six', reference: 'new' },
      { to: '+254711000006', message: 'Seven', reference: 'new' },
      { to: '+254711000007', message: 'Eight', from: 'A B' },
      { to: '+254711000008', message: 'Nine', callback_url: 'ftp://x' },
      { to: '+254711000009', message: 'Ten', scheduled_at: 'soon' },
    ],
  })
  assert.equal(sent.status, 200, sent.text)
  const { body } = sent
  assert.match(body.batch_id, /^smb_/)
  assert.deepEqual(
    [body.status, body.total, body.accepted, body.rejected, body.segments, body.cost],
    ['queued', 10, 3, 7, 4, 3.2],
  )
  assert.deepEqual(
    body.messages.map((one: { index: number; error_code: string | null }) => [one.index, one.error_code]),
    [
      [0, null],
      [1, null],
      [2, 'INVALID_PHONE'],
      [3, 'VALIDATION_ERROR'],
      [4, 'DUPLICATE_REFERENCE'],
      [5, null],
      [6, 'DUPLICATE_REFERENCE'],
      [7, 'VALIDATION_ERROR'],
      [8, 'INVALID_URL'],
      [9, 'VALIDATION_ERROR'],
    ],
  )
  assert.match(body.messages[2].error, /E\.164/)
  assert.equal(body.messages[6].existing_id, body.messages[5].message_id)
  assert.equal(await balanceOf(client), 6)
  const first = await client.get(`/v1/sms/${body.messages[0].message_id}`)
  assert.deepEqual([first.body.metadata, first.body.batch_id], [{ run: 'a', n: 1 }, body.batch_id])

  const page = await client.get(`/v1/sms/bulk/${body.batch_id}?messages=true&limit=4`)
  assert.deepEqual([page.body.total, page.body.counts.queued, page.body.metadata], [10, 3, { run: 'a' }])
  const rest = await client.get(`/v1/sms/bulk/${body.batch_id}?messages=true&limit=100&cursor=${page.body.next_cursor}`)
  const entries = [...page.body.messages, ...rest.body.messages]
  assert.deepEqual(
    entries.map(({ index, message_id, error_code, existing_id }) => [index, message_id, error_code, existing_id]),
    body.messages.map((one: Record<string, unknown>) => [one.index, one.message_id, one.error_code, one.existing_id]),
  )
  assert.equal(rest.body.has_more, false)
  assert.equal((await client.get(`/v1/sms?batch_id=${body.batch_id}`)).body.data.length, 3)
})

test('an entry that is no message, or has a field of the wrong kind, stops no other', async () => {
  const { client } = await world.account({ balance: 10 })
  const to = '+254711000001'
  const good = { to, message: 'Habari' }
  const fifty = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`n${i}`, i]))
  const bad: [entry: unknown, to: string, code: string, why: RegExp][] = [
    [5, '', 'VALIDATION_ERROR', /^the entry must be an object with to and message$/],
    [null, '', 'VALIDATION_ERROR', /object/],
    [[good], '', 'VALIDATION_ERROR', /object/],
    [{ message: 'Habari' }, '', 'VALIDATION_ERROR', /^to is required$/],
    [{ to: 254711000001, message: 'Habari' }, '254711000001', 'INVALID_PHONE', /^to must be E\.164/],
    [{ to: [to], message: 'Habari' }, '["+254711000001"]', 'INVALID_PHONE', /^to must be E\.164/],
    [{ to: '7'.repeat(99), message: 'Habari' }, '7'.repeat(64), 'INVALID_PHONE', /^to must be E\.164/],
    [{ to }, to, 'VALIDATION_ERROR', /^message is required$/],
    [{ to, message: 5 }, to, 'VALIDATION_ERROR', /^message must be text of 1 to 1530 characters$/],
    [{ to: '0712', message: '' }, '0712', 'VALIDATION_ERROR', /^to must be E\.164.*; message must have 1 to 1530/],
    [{ ...good, from: 7 }, to, 'VALIDATION_ERROR', /^from must be text of 3 to 11/],
    [{ ...good, reference: 7 }, to, 'VALIDATION_ERROR', /^reference must be text of 1 to 64/],
    [{ ...good, metadata: { a: {} } }, to, 'VALIDATION_ERROR', /^metadata\.a must be text/],
    [{ ...good, metadata: fifty }, to, 'VALIDATION_ERROR', /^metadata must have at most 50 names/],
  ]
  const messages = [...bad.map(([entry]) => entry), { ...good, from: null, metadata: null }]
  const { status, body, text } = await client.post('/v1/sms/bulk', { from: 'PAMOJA', metadata: { run: 'a' }, messages })
  assert.deepEqual([status, body.accepted, body.rejected], [200, 1, bad.length], text)
  for (const [index, [entry, shown, code, why]] of bad.entries()) {
    const verdict = body.messages[index]
    assert.deepEqual([verdict.index, verdict.to, verdict.error_code], [index, shown, code], JSON.stringify(entry))
    assert.match(verdict.error, why)
  }
  assert.equal(await balanceOf(client), 9.2)
  const whole = await client.post('/v1/sms/bulk', { from: 'PAMOJA', allow_partial: false, messages: [good, 5] })
  assert.deepEqual([whole.status, whole.body.error.code], [422, 'VALIDATION_ERROR'])
  assert.match(whole.body.error.details, /^messages\[1\]: the entry must be an object/)
  const none = await client.post('/v1/sms/bulk', { from: 'PAMOJA', messages: [{ to: 5, message: 'Habari' }] })
  assert.deepEqual([none.status, none.body.error.code], [422, 'INVALID_PHONE'])
  assert.equal(await balanceOf(client), 9.2)
})

test('of many bad entries the first thousand are explained, and each has its verdict', async () => {
  const { client } = await world.account({ balance: 10 })
  const messages = [...Array(1_001).fill({ to: '0712' }), { to: '+254711000001', message: 'Habari' }]
  const { status, body } = await client.post('/v1/sms/bulk', { from: 'PAMOJA', messages })
  assert.deepEqual([status, body.accepted, body.rejected], [200, 1, 1_001])
  const [last, over] = [body.messages[999], body.messages[1_000]]
  assert.match(last.error, /^message is required; to must be E\.164/)
  assert.deepEqual([over.index, over.to, over.error_code], [1_000, '0712', 'VALIDATION_ERROR'])
  assert.match(over.error, /as the 1000 bad ones before it do: mend those first/)
})

test('what is no text in a list of recipients is a bad number, and stops nobody', async () => {
  const { client } = await world.account({ balance: 10 })
  const to = ['+254711000001', 254711000002, null, ['+254711000003']]
  const { status, body, text } = await client.post('/v1/sms/send', { ...message, to })
  assert.equal(status, 200, text)
  assert.deepEqual(
    body.messages.map((one: { to: string; error_code: string }) => [one.to, one.error_code]),
    [
      ['+254711000001', null],
      ['254711000002', 'INVALID_PHONE'],
      ['null', 'INVALID_PHONE'],
      ['["+254711000003"]', 'INVALID_PHONE'],
    ],
  )
  assert.equal((await client.post('/v1/sms/estimate', { ...message, to })).body.recipients, 1)
  const { body: refused } = await client.post('/v1/sms/send', { ...message, to: [5] })
  assert.equal(refused.error.code, 'INVALID_PHONE')
  assert.equal(await balanceOf(client), 9.2)
})

test('a bulk larger than the plan’s minute is taken whole and goes out minute by minute', async () => {
  const limited = await startWorld({ PAMOJA_RATE_LIMITS: 'on' })
  try {
    const { client } = await limited.account({ plan: 'free', balance: 100 })
    const messages = Array.from({ length: 25 }, (_, i) => ({ to: `+2547110001${i + 10}`, message: 'Habari' }))
    const { status, body } = await client.post('/v1/sms/bulk', { from: 'PAMOJA', messages })
    assert.deepEqual([status, body.accepted], [200, 25])
    const gone = async () => {
      const { counts } = (await client.get(`/v1/sms/bulk/${body.batch_id}`)).body
      return counts.sent + counts.delivered
    }
    const last = `/v1/sms/${body.messages[24].message_id}`
    for (const expected of [10, 20, 25]) {
      await eventually(async () => (await gone()) === expected, `${expected} messages`)
      if (expected === 10) assert.equal((await client.patch(last, { metadata: { order: 7 } })).status, 200)
      if (expected === 20) assert.equal((await client.get(last)).body.status, 'queued', 'a change keeps its turn')
      await client.post('/v1/sandbox/clock', { advance_seconds: 60 })
    }
  } finally {
    await limited.stop()
  }
})

test('a bulk request that the wallet cannot cover, or that must be whole and is not, accepts nothing', async () => {
  const { client } = await world.account({ balance: 1 })
  const messages = [
    { to: '+254711000001', message: 'One', reference: 'a' },
    { to: '+254711000002', message: 'Two', reference: 'b' },
  ]
  const poor = await client.post('/v1/sms/bulk', { from: 'PAMOJA', messages })
  assert.deepEqual([poor.status, poor.body.error.code], [402, 'INSUFFICIENT_BALANCE'])
  const whole = await client.post('/v1/sms/bulk', {
    from: 'PAMOJA',
    allow_partial: false,
    messages: [messages[0], { to: '0712', message: 'x' }],
  })
  assert.deepEqual([whole.status, whole.body.error.code], [422, 'INVALID_PHONE'])
  assert.equal(whole.body.error.errors[0].index, 1)
  assert.equal(await balanceOf(client), 1)
  assert.deepEqual((await client.get('/v1/sms')).body.data, [])
  const one = await client.post('/v1/sms/bulk', { from: 'PAMOJA', allow_partial: false, messages: [messages[0]] })
  assert.equal(one.body.accepted, 1, 'the references were not used up')
})

test('all or nothing is nothing when one of the recipients has opted out', async () => {
  const { client } = await world.account({ balance: 10 })
  const [willing, out] = ['+254711000001', '+254711000031']
  await client.post('/v1/sms/opt-outs', { phone: out })
  const bulk = { from: 'PAMOJA', messages: [willing, out].map((to) => ({ to, message: 'Habari', reference: to })) }
  const whole = await client.post('/v1/sms/bulk', { ...bulk, allow_partial: false })
  assert.deepEqual([whole.status, whole.body.error?.code], [403, 'OPTED_OUT'], whole.text)
  assert.equal(whole.body.error.details, `messages[1]: ${out} has opted out of messages from PAMOJA`)
  assert.deepEqual((await client.get('/v1/sms')).body.data, [])
  assert.equal(await balanceOf(client), 10)
  const partial = await client.post('/v1/sms/bulk', bulk)
  assert.equal(partial.status, 200, 'the references were not used up')
  assert.equal(partial.body.messages[1].error, `${out} has opted out of messages from PAMOJA`)
})

test('a batch counts the segments of what costs nothing, and not of what is not sent', async () => {
  const { client } = await world.account({ balance: 100, currency: 'MWK' })
  const price = { area: 'sms', unit: 'segment', country: 'KE', network: 'Airtel', amount: 0, currency: 'MWK' }
  await world.operator.post('/v1/operator/prices', price)
  const free = { to: '+254733000001', message: 'Habari' }
  await eventually(
    async () => (await client.post('/v1/sms/estimate', { ...free, from: 'PAMOJA' })).body.cost === 0,
    'the price of the network',
  )
  const { body } = await client.post('/v1/sms/bulk', {
    from: 'PAMOJA',
    messages: [free, { to: '+254711000001', message: 'x'.repeat(161) }, { to: '+254711000011', message: 'Habari' }],
  })
  assert.equal(body.segments, 3)
})

test('ten thousand messages are accepted at once, and a repeated request sends none of them twice', async () => {
  const { client } = await world.account({ balance: 10_000 })
  const messages = Array.from({ length: 10_000 }, (_, i) => ({
    to: `+25471${String(1_100_000 + i)}`,
    message: `Habari ${i}`,
    reference: `r${i}`,
  }))
  const sent = await client.post('/v1/sms/bulk', { from: 'PAMOJA', messages })
  assert.equal(sent.status, 200, sent.text.slice(0, 500))
  assert.deepEqual([sent.body.accepted, sent.body.rejected, sent.body.cost], [10_000, 0, 8_000])
  assert.equal(await balanceOf(client), 2_000)
  const again = await client.post('/v1/sms/bulk', { from: 'PAMOJA', messages })
  assert.deepEqual([again.status, again.body.error.code], [409, 'DUPLICATE_REFERENCE'])
  assert.equal(again.body.error.existing_id, sent.body.messages[0].message_id)
  assert.equal(again.body.error.errors[999].existing_id, sent.body.messages[999].message_id)
  assert.equal(await balanceOf(client), 2_000)
  const { body } = await client.get(`/v1/sms/bulk/${sent.body.batch_id}`)
  assert.equal(body.counts.queued, 10_000)
})

test('a scheduled message that is rewritten keeps the encoding that was asked for', async () => {
  const { client } = await world.account({ balance: 10 })
  const scheduled_at = new Date(world.app.clock.nowMs() + 3_600_000).toISOString()
  const schedule = async (encoding: string) => {
    const sent = await client.post('/v1/sms/send', { ...message, scheduled_at, encoding })
    return `/v1/sms/${sent.body.message_id}`
  }
  const wide = await schedule('ucs2')
  for (const text of ['Habari', 'Habari tena']) {
    const { body } = await client.patch(wide, { message: text })
    assert.deepEqual([body.message, body.encoding], [text, 'ucs2'])
  }
  const narrow = await schedule('gsm7')
  const plain = await client.patch(narrow, { message: 'Nenda ‘sokoni’' })
  assert.deepEqual([plain.body.message, plain.body.encoding], ["Nenda 'sokoni'", 'gsm7'])
  const refused = await client.patch(narrow, { message: '你好' })
  assert.deepEqual([refused.status, refused.body.error.code], [422, 'ENCODING_ERROR'])
  const any = await schedule('auto')
  assert.equal((await client.patch(any, { message: '你好' })).body.encoding, 'ucs2')
  assert.equal((await client.patch(any, { message: 'Habari' })).body.encoding, 'gsm7')
})

test('a scheduled message can be moved, rewritten at its new price, and cancelled with its money back', async () => {
  const { client } = await world.account({ balance: 10 })
  const at = new Date(world.app.clock.nowMs() + 3_600_000).toISOString()
  const { body: hook } = await client.post('/v1/sandbox/hooks', {})
  const sent = await client.post('/v1/sms/send', { ...message, scheduled_at: at, callback_url: hook.url })
  assert.deepEqual([sent.status, sent.body.status, sent.body.scheduled_at], [200, 'queued', at], sent.text)
  const path = `/v1/sms/${sent.body.message_id}`
  const later = new Date(world.app.clock.nowMs() + 7_200_000).toISOString()
  const moved = await client.patch(path, { scheduled_at: later, metadata: { a: 1 } })
  assert.deepEqual([moved.status, moved.body.scheduled_at, moved.body.metadata], [200, later, { a: 1 }], moved.text)
  assert.equal(await balanceOf(client), 9.2)
  const longer = await client.patch(path, { message: 'x'.repeat(400) })
  assert.deepEqual([longer.body.segments, longer.body.cost, longer.body.scheduled_at], [3, 2.4, later])
  assert.equal(await balanceOf(client), 7.6)
  const shorter = await client.patch(path, { message: 'x' })
  assert.deepEqual([shorter.body.segments, shorter.body.cost], [1, 0.8])
  assert.equal(await balanceOf(client), 9.2)
  assert.deepEqual((await client.get('/v1/sms?scheduled=true')).body.data.length, 1)
  const bad = await client.patch(path, { scheduled_at: '2020-01-01T00:00:00Z' })
  assert.deepEqual([bad.status, bad.body.error.code], [422, 'VALIDATION_ERROR'])

  const cancelled = await client.delete(path)
  const { body: failed } = await client.get('/v1/sms?error_code=CANCELLED')
  assert.deepEqual(
    failed.data.map((one: { message_id: string }) => one.message_id),
    [sent.body.message_id],
  )
  assert.deepEqual(
    [cancelled.status, cancelled.body.status, cancelled.body.error_code],
    [200, 'failed', 'CANCELLED'],
    cancelled.text,
  )
  assert.equal(await balanceOf(client), 10)
  const { body: log } = await client.get(`/v1/audit-log?target=${sent.body.message_id}`)
  assert.deepEqual(
    log.data.map(({ action }: { action: string }) => action),
    ['sms.cancel', 'sms.change', 'sms.change', 'sms.change', 'sms.send'],
  )
  assert.deepEqual(
    cancelled.body.timeline.map((one: { status: string }) => one.status),
    ['queued', 'failed'],
  )
  for (const refused of [
    await client.delete(path),
    await client.post(`${path}/cancel`),
    await client.patch(path, { message: 'x' }),
  ])
    assert.deepEqual(
      [refused.status, refused.body.error.code, refused.body.error.current_status],
      [409, 'MESSAGE_NOT_CANCELLABLE', 'failed'],
    )
  assert.equal(await balanceOf(client), 10, 'given back once')
  const caught = await eventually(async () => {
    const { body } = await client.get(`/v1/sandbox/hooks/${hook.id}/requests`)
    return body.data.length > 0 && body.data
  }, 'the callback')
  assert.equal(caught.length, 1)
  const told = typeof caught[0].body === 'string' ? JSON.parse(caught[0].body) : caught[0].body
  assert.deepEqual(
    [told.event, told.message_id, told.status, told.error_code],
    ['sms.status', sent.body.message_id, 'failed', 'CANCELLED'],
  )
  for (const name of ['sms.status', 'sms.failed'])
    assert.equal((await client.get(`/v1/events?event=${name}`)).body.data.length, 1, name)
})

test('a message may be scheduled from a minute ago to a year ahead', async () => {
  const { client } = await world.account({ balance: 10 })
  const table: [seconds: number, isTaken: boolean][] = [
    [-75, false],
    [-45, true],
    [365 * 86_400 - 15, true],
    [365 * 86_400 + 15, false],
  ]
  for (const [seconds, isTaken] of table) {
    const scheduled_at = new Date(world.app.clock.nowMs() + seconds * 1_000).toISOString()
    for (const { status, body } of [
      await client.post('/v1/sms/send', { ...message, scheduled_at }),
      await client.post('/v1/sms/bulk', { from: 'PAMOJA', scheduled_at, messages: [message] }),
      await client.post('/v1/sms/bulk', { from: 'PAMOJA', messages: [{ ...message, scheduled_at }] }),
    ]) {
      assert.equal(status, isTaken ? 200 : 422, `${seconds}`)
      if (!isTaken) assert.equal(body.error.code, 'VALIDATION_ERROR')
    }
  }
})

test('a bulk is taken up to ten thousand entries and eight mebibytes', async () => {
  const { client } = await world.account({ balance: 10 })
  const many = await client.post('/v1/sms/bulk', { from: 'PAMOJA', messages: Array(10_001).fill(message) })
  assert.deepEqual([many.status, many.body.error.code], [422, 'VALIDATION_ERROR'])
  assert.match(many.body.error.details, /^messages must be a list of 1 to 10000/)
  const large = { from: 'PAMOJA', messages: [message], note: 'x'.repeat(8 * 1024 * 1024) }
  const refused = await client.post('/v1/sms/bulk', large)
  assert.deepEqual([refused.status, refused.body.error.code], [413, 'PAYLOAD_TOO_LARGE'])
  const fits = { ...large, note: 'x'.repeat(8 * 1024 * 1024 - 200) }
  assert.equal((await client.post('/v1/sms/bulk', fits)).status, 200)
})

test('what of a batch still waits can be cancelled, each message told of and paid back once', async () => {
  const { client } = await world.account({ balance: 10 })
  const at = new Date(world.app.clock.nowMs() + 3_600_000).toISOString()
  const sent = await client.post('/v1/sms/bulk', {
    from: 'PAMOJA',
    messages: [
      { to: '+254711000001', message: 'Now' },
      { to: '+254711000002', message: 'Later', scheduled_at: at },
      { to: '+254711000003', message: 'Later', scheduled_at: at },
    ],
  })
  assert.equal(await balanceOf(client), 7.6)
  for (const _ of ['once', 'twice']) {
    const { status, body, text } = await client.post(`/v1/sms/bulk/${sent.body.batch_id}/cancel`)
    assert.equal(status, 200, text)
    assert.deepEqual(body.counts, { queued: 1, sent: 0, delivered: 0, failed: 2 })
    assert.deepEqual([body.status, body.cost], ['queued', 0.8], 'what was given back is not paid for')
    assert.equal(await balanceOf(client), 9.2)
  }
  const whole = await client.post('/v1/sms/bulk', {
    from: 'PAMOJA',
    metadata: { run: 'b' },
    scheduled_at: at,
    messages: [
      { to: '+254711000001', message: 'x'.repeat(161) },
      { to: '0712', message: 'x' },
    ],
  })
  assert.equal((await client.post(`/v1/sms/bulk/${whole.body.batch_id}/cancel`)).body.status, 'cancelled')
  const told = await eventually(async () => {
    const { body } = await client.get('/v1/events?event=sms.batch_completed')
    return body.data.length > 0 && body.data
  }, 'the end of the batch')
  assert.equal(told.length, 1, 'the other batch is not over')
  const { completed_at, created_at, event_id, timestamp, ...payload } = told[0].payload
  assert.deepEqual(payload, {
    event: 'sms.batch_completed',
    batch_id: whole.body.batch_id,
    status: 'cancelled',
    total: 2,
    accepted: 1,
    rejected: 1,
    segments: 2,
    cost: 0,
    currency: 'KES',
    counts: { queued: 0, sent: 0, delivered: 0, failed: 1 },
    metadata: { run: 'b' },
  })
  assert.ok(Date.parse(completed_at) >= Date.parse(created_at) && event_id && timestamp)
  const later = await client.get(`/v1/sms/${sent.body.messages[1].message_id}`)
  assert.deepEqual([later.body.status, later.body.error_code], ['failed', 'CANCELLED'])
  for (const name of ['sms.status', 'sms.failed'])
    assert.equal((await client.get(`/v1/events?event=${name}`)).body.data.length, 3, name)
})

test('a message that a node is just taking goes its way, and whoever cancels its batch gets no money for it', async () => {
  const { client } = await world.account({ balance: 10 })
  const at = new Date(world.app.clock.nowMs() + 3_600_000).toISOString()
  const messages = ['+254711000001', '+254711000002'].map((to) => ({ to, message: 'Later', scheduled_at: at }))
  const { body: sent } = await client.post('/v1/sms/bulk', { from: 'PAMOJA', messages })
  const [taken, other] = sent.messages.map((one: { message_id: string }) => one.message_id)
  const node = lookInto(world)
  await node.connect()
  try {
    const job = `select m.job from sms.messages m where m.id = '${uuidOf('sms', taken)}'`
    await node.query(`begin; update work.jobs set attempt = 1 where id = (${job})`)
    const cancelling = client.post(`/v1/sms/bulk/${sent.batch_id}/cancel`)
    const waiting = 'select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))'
    await eventually(async () => (await node.query(waiting)).rowCount === 1, 'the cancelling to wait for the node')
    await node.query('commit')
    assert.deepEqual((await cancelling).body.counts, { queued: 1, sent: 0, delivered: 0, failed: 1 })
  } finally {
    await node.end()
  }
  assert.equal(await balanceOf(client), 9.2)
  assert.equal((await client.get(`/v1/sms/${taken}`)).body.status, 'queued')
  assert.equal((await client.get(`/v1/sms/${other}`)).body.error_code, 'CANCELLED')
})

test('the id that a list of recipients was answered with cancels them all', async () => {
  const { client } = await world.account({ balance: 10 })
  const scheduled_at = new Date(world.app.clock.nowMs() + 3_600_000).toISOString()
  const many = { ...message, to: ['+254711000001', '+254711000002'], scheduled_at }
  for (const cancel of [
    (id: string) => client.delete(`/v1/sms/${id}`),
    (id: string) => client.post(`/v1/sms/${id}/cancel`),
  ]) {
    const { body: sent } = await client.post('/v1/sms/send', many)
    const { status, body } = await cancel(sent.message_id)
    assert.deepEqual([status, body.batch_id, body.status, body.cost], [200, sent.message_id, 'cancelled', 0])
    assert.equal((await client.get(`/v1/sms/${sent.messages[1].message_id}`)).body.error_code, 'CANCELLED')
    assert.equal(await balanceOf(client), 10)
  }
})

test('a message that is due is no longer the customer’s to cancel', async () => {
  const { client } = await world.account({ balance: 10 })
  const { body } = await client.post('/v1/sms/send', message)
  const refused = await client.post(`/v1/sms/${body.message_id}/cancel`)
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'MESSAGE_NOT_CANCELLABLE'])
  assert.equal(await balanceOf(client), 9.2)
  const scheduled = await client.post('/v1/sms/send', {
    ...message,
    scheduled_at: new Date(world.app.clock.nowMs() + 600_000).toISOString(),
  })
  await client.post('/v1/sandbox/clock', { advance_seconds: 600 })
  const late = await client.delete(`/v1/sms/${scheduled.body.message_id}`)
  assert.deepEqual([late.status, late.body.error?.code], [409, 'MESSAGE_NOT_CANCELLABLE'], 'by the account’s own clock')
  const { body: clock } = await client.get('/v1/sandbox/clock')
  const soon = new Date(Date.parse(clock.now) + 600_000).toISOString()
  const { body: frozen } = await client.post('/v1/sms/send', { ...message, scheduled_at: soon })
  await client.post('/v1/sandbox/clock', { advance_seconds: 599.2 })
  const tooLate = await client.patch(`/v1/sms/${frozen.message_id}`, { message: 'x' })
  assert.equal(tooLate.body.error?.code, 'MESSAGE_NOT_CANCELLABLE', 'in its last second it is the carrier’s')
  const slightlyPast = new Date(Date.parse(soon) - 30_000).toISOString()
  const now = await client.post('/v1/sms/send', { ...message, scheduled_at: slightlyPast })
  assert.deepEqual([now.status, now.body.scheduled_at], [200, null], 'a time just past is now')
})

test('messages are listed newest first, by what is asked, and as CSV', async () => {
  const { client } = await world.account({ balance: 100 })
  const ids: string[] = []
  for (const [to, text] of [
    ['+254711000001', 'Alpha'],
    ['+255711000001', 'Beta'],
    ['+254711000001', '=Gamma, "x"'],
  ])
    ids.push((await client.post('/v1/sms/send', { ...message, to, message: text })).body.message_id)
  const found = async (query: string) =>
    (await client.get(`/v1/sms?${query}`)).body.data.map((one: { message_id: string }) => ids.indexOf(one.message_id))
  assert.deepEqual(await found(''), [2, 1, 0])
  assert.deepEqual(await found('order=asc'), [0, 1, 2])
  assert.deepEqual(await found(`to=${encodeURIComponent('+254711000001')}`), [2, 0])
  assert.deepEqual(await found('to=+255711000001'), [1], 'a plus that was not encoded')
  assert.deepEqual(await found('country=TZ'), [1])
  assert.deepEqual(await found('q=beta'), [1])
  assert.deepEqual(await found('status=sent'), [])
  assert.deepEqual(await found('direction=outbound&from=PAMOJA'), [2, 1, 0])
  assert.deepEqual(await found('batch_id=smb_x'), [])
  assert.deepEqual(await found('scheduled=false'), [2, 1, 0])
  assert.deepEqual(await found('scheduled=true'), [])
  assert.deepEqual(await found('error_code=CANCELLED'), [])
  for (const bad of ['limit=0', 'limit=201', 'status=lost', 'direction=up', 'scheduled=soon', 'country=ke', 'q='])
    assert.equal((await client.get(`/v1/sms?${bad}`)).body.error?.code, 'INVALID_REQUEST', bad)
  const day = new Date(world.app.clock.nowMs()).toISOString().slice(0, 10)
  for (const [start, end] of [
    ['start_date', 'end_date'],
    ['from_date', 'to_date'],
  ]) {
    assert.deepEqual(await found(`${start}=${day}&${end}=${day}`), [2, 1, 0])
    assert.deepEqual(await found(`${end}=2020-01-01`), [])
    assert.deepEqual(await found(`${start}=2100-01-01`), [])
    for (const range of [`${start}=x`, `${end}=x`, `${start}=2026-02-01&${end}=2026-01-01`]) {
      const { status, body } = await client.get(`/v1/sms?${range}`)
      assert.deepEqual([status, body.error?.code], [400, 'INVALID_DATE_RANGE'], range)
    }
  }
  const page = await client.get('/v1/sms?limit=2')
  assert.equal(page.body.has_more, true)
  const next = await client.get(`/v1/sms?limit=2&cursor=${page.body.next_cursor}`)
  assert.deepEqual(
    next.body.data.map((one: { message_id: string }) => one.message_id),
    [ids[0]],
  )
  const csv = await client.get('/v1/sms', { headers: { accept: 'text/csv' } })
  const lines = csv.text.trimEnd().split('\r\n')
  assert.match(lines[0] ?? '', /^message_id,status,direction,to,from,message,segments/)
  assert.equal(lines.length, 4)
  assert.ok(lines[1]?.includes(`"'=Gamma, ""x"""`), lines[1])
})

test('who opted out is not written to until they come back', async () => {
  const { client } = await world.account({ balance: 10 })
  const phone = '+254711000020'
  const made = await client.post('/v1/sms/opt-outs', { phone, from: 'PAMOJA', reason: 'asked' })
  assert.equal(made.status, 201, made.text)
  assert.equal(made.headers.location, `/api/v1/sms/opt-outs/${phone}`)
  const { created_at, ...record } = made.body.data
  assert.ok(Date.parse(created_at) > 0)
  assert.deepEqual(record, { phone, from: 'PAMOJA', reason: 'asked', source: 'api' })
  const again = await client.post('/v1/sms/opt-outs', { phone, from: 'PAMOJA', reason: 'again' })
  assert.deepEqual([again.status, again.body.reason], [201, 'asked'], 'the first one stands')

  const refused = await client.post('/v1/sms/send', { ...message, to: phone, reference: 'x' })
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'OPTED_OUT'])
  const other = await client.post('/v1/sms/send', { ...message, to: phone, from: 'OTHER', reference: 'x' })
  assert.equal(other.status, 200, 'another sender, and the reference was not used up')
  await client.post('/v1/sms/opt-outs', { phone })
  assert.equal((await client.post('/v1/sms/send', { ...message, to: phone, from: 'OTHER' })).status, 403, 'now of all')
  assert.deepEqual(
    (await client.get('/v1/sms/opt-outs')).body.data.map((one: { from: string }) => one.from),
    ['*', 'PAMOJA'],
  )
  assert.equal((await client.get(`/v1/sms/opt-outs/${phone}`)).body.opt_outs.length, 2)
  const eve = await world.account({ balance: 10 })
  assert.equal((await eve.client.post('/v1/sms/send', { ...message, to: phone })).status, 200, 'another account')

  const removed = await client.delete(`/v1/sms/opt-outs/${phone}`)
  assert.deepEqual([removed.status, removed.body.data], [200, { id: phone, phone, deleted: true, removed: 2 }])
  assert.equal((await client.delete(`/v1/sms/opt-outs/${phone}`)).status, 404)
  assert.equal((await client.post('/v1/sms/send', { ...message, to: phone })).status, 200)
  const events = (await client.get('/v1/events')).body.data.map((one: { event: string }) => one.event)
  assert.deepEqual(events.filter((name: string) => name.startsWith('sms.opted')).sort(), [
    'sms.opted_in',
    'sms.opted_in',
    'sms.opted_out',
    'sms.opted_out',
  ])
})

test('the text of a message goes after 90 days, unless it still waits to be sent; the rest of it stays', async () => {
  const { client } = await world.account({ balance: 100 })
  const { body: old } = await client.post('/v1/sms/send', { ...message, to: ['+254711000011', '+254711000001'] })
  const [over, waiting] = old.messages.map((one: { message_id: string }) => `/v1/sms/${one.message_id}`)
  const textOf = async (path: string) => (await client.get(path)).body.message
  const nowMs = world.app.clock.nowMs()
  await forgetTexts(world.app, nowMs + 89 * dayMs)
  assert.equal(await textOf(over), 'Habari Ada')
  await forgetTexts(world.app, nowMs + 91 * dayMs)
  assert.equal(await textOf(over), null)
  assert.equal(await textOf(waiting), 'Habari Ada')
  assert.equal((await client.get(over)).body.segments, 1)
})

test('figures tell how messages fared, by country and by what went wrong', async () => {
  const { client } = await world.account({ balance: 100 })
  const later = new Date(world.app.clock.nowMs() + 3_600_000).toISOString()
  await client.post('/v1/sms/send', { ...message, message: 'x'.repeat(161) })
  await client.post('/v1/sms/send', { ...message, to: ['+255711000001', '+254711000011'] })
  const { body: sent } = await client.post('/v1/sms/send', { ...message, scheduled_at: later })
  await client.delete(`/v1/sms/${sent.message_id}`)
  const { status, body, text } = await client.get('/v1/sms/analytics')
  assert.equal(status, 200, text)
  assert.deepEqual(
    [body.messages, body.queued, body.failed, body.delivered, body.delivery_rate, body.segments, body.cost],
    [4, 2, 2, 0, 0, 5, 2.4],
  )
  assert.deepEqual(body.latency_seconds, { p50: null, p95: null, p99: null })
  assert.deepEqual(
    body.countries.map((one: { country: string; messages: number; cost: number }) => [
      one.country,
      one.messages,
      one.cost,
    ]),
    [
      ['KE', 3, 1.6],
      ['TZ', 1, 0.8],
    ],
  )
  const ofKenya = body.networks.filter((one: { country: string }) => one.country === 'KE')
  assert.equal(
    ofKenya.reduce((sum: number, one: { messages: number }) => sum + one.messages, 0),
    3,
  )
  assert.ok(ofKenya.some((one: { network: string | null }) => one.network === 'Safaricom'))
  assert.deepEqual(
    new Set(body.errors.map((one: { error_code: string }) => one.error_code)),
    new Set(['CANCELLED', 'OPTED_OUT']),
  )
  assert.equal((await client.get('/v1/sms/analytics?country=TZ')).body.messages, 1)
  for (const range of ['from_date=x', 'from_date=2020-01-01', 'from_date=2026-02-01&to_date=2026-01-01'])
    assert.equal((await client.get(`/v1/sms/analytics?${range}`)).body.error.code, 'INVALID_DATE_RANGE')
})

test('a number is looked up by the numbering plans', async () => {
  const { client } = await world.account()
  const { body } = await client.get('/v1/sms/lookup/+254711000001')
  const { checked_at, ...found } = body.data
  assert.ok(Date.parse(checked_at) > 0)
  assert.deepEqual(found, {
    phone: '+254711000001',
    valid: true,
    country: 'KE',
    calling_code: '254',
    national_format: '0711 000001',
    type: 'mobile',
    network: 'Safaricom',
    mcc_mnc: '63902',
    original_network: 'Safaricom',
    ported: null,
    source: 'prefix',
    reachable: null,
  })
  const odd = await client.get('/v1/sms/lookup/+254000')
  assert.deepEqual([odd.body.valid, odd.body.country], [false, 'KE'])
  assert.equal((await client.get('/v1/sms/lookup/0712')).status, 404)
})

test('after all of this the books balance', async () => {
  const { problems, ...counted } = await verifyLedger(world.app.db)
  assert.deepEqual(problems, [], JSON.stringify(counted))
})
