// SPDX-License-Identifier: Apache-2.0
// Bad input as tables: always the documented code, never a 500, nothing stored, nothing charged.
import assert from 'node:assert/strict'
import { connect as connectTcp } from 'node:net'
import { after, before, test } from 'node:test'
import { connect } from 'node:tls'
import type { Client } from '../client.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World
let ada: Account
before(async () => {
  world = await startWorld()
  ada = await world.account({ balance: 100 })
})
after(async () => {
  const { body } = await world.operator.get(`/v1/operator/accounts/${ada.id}`)
  await world.stop()
  assert.equal(body.wallets[1].balance + body.wallets[0].balance, 100, 'nothing was charged')
})

const note = (fields: object) => ({ text: 'Habari', ...fields })

test('bodies that break a rule are 422, and each field is named', async () => {
  const rows: [unknown, string, string][] = [
    [{}, 'VALIDATION_ERROR', 'text'],
    [{ text: '' }, 'VALIDATION_ERROR', 'text'],
    [{ text: 'x'.repeat(1531) }, 'VALIDATION_ERROR', 'text'],
    [{ text: 1 }, 'VALIDATION_ERROR', 'text'],
    [{ text: null }, 'VALIDATION_ERROR', 'text'],
    [{ text: ['x'] }, 'VALIDATION_ERROR', 'text'],
    [{ text: {} }, 'VALIDATION_ERROR', 'text'],
    [{ text: true }, 'VALIDATION_ERROR', 'text'],
    [note({ to: '0711000001' }), 'INVALID_PHONE', 'to'],
    [note({ to: '+0711000001' }), 'INVALID_PHONE', 'to'],
    [note({ to: '+2547110000012345' }), 'INVALID_PHONE', 'to'],
    [note({ to: '+1' }), 'INVALID_PHONE', 'to'],
    [note({ to: ' +254711000001' }), 'INVALID_PHONE', 'to'],
    [note({ to: '+254711000001\n' }), 'INVALID_PHONE', 'to'],
    [note({ to: '' }), 'INVALID_PHONE', 'to'],
    [note({ to: 254711000001 }), 'INVALID_PHONE', 'to'],
    [note({ units: 0 }), 'VALIDATION_ERROR', 'units'],
    [note({ units: 1001 }), 'VALIDATION_ERROR', 'units'],
    [note({ units: -1 }), 'VALIDATION_ERROR', 'units'],
    [note({ units: 1.5 }), 'VALIDATION_ERROR', 'units'],
    [note({ units: '1' }), 'VALIDATION_ERROR', 'units'],
    [note({ units: 1e300 }), 'VALIDATION_ERROR', 'units'],
    [{ text: 5, to: 'x' }, 'VALIDATION_ERROR', 'text'],
    ['text', 'VALIDATION_ERROR', ''],
    [[], 'VALIDATION_ERROR', ''],
    [[note({})], 'VALIDATION_ERROR', ''],
    [7, 'VALIDATION_ERROR', ''],
    [null, 'VALIDATION_ERROR', ''],
    [true, 'VALIDATION_ERROR', ''],
  ]
  for (const [body, code, field] of rows) {
    const reply = await ada.client.post('/v1/notes', body)
    assert.equal(reply.status, 422, `${JSON.stringify(body).slice(0, 60)}: ${reply.text}`)
    assert.equal(reply.body.error.code, code, JSON.stringify(body).slice(0, 60))
    if (field)
      assert.ok(
        reply.body.error.fields.some((one: { field: string }) => one.field === field),
        reply.text,
      )
  }
  const both = await ada.client.post('/v1/notes', { text: 5, to: 'x', units: 0 })
  assert.deepEqual(
    both.body.error.fields.map(({ field }: { field: string }) => field),
    ['text', 'to', 'units'],
    'all problems at once',
  )
})

test('bodies at the edge of a rule are taken', async () => {
  const { client } = await world.account({ balance: 100_000 })
  for (const body of [
    note({ units: 1 }),
    note({ units: 1000 }),
    { text: 'x'.repeat(1530) },
    { text: '😀'.repeat(1530) },
    note({ to: '+12' }),
    note({ to: '+123456789012345' }),
    note({ to: null }),
    note({ units: null }),
  ]) {
    const reply = await client.post('/v1/notes', body)
    assert.equal(reply.status, 200, `${JSON.stringify(body).slice(0, 60)}: ${reply.text}`)
  }
})

test('what is not JSON that means one thing is 400, with the place', async () => {
  const deep = (depth: number) => `{"text":"x","a":${'['.repeat(depth)}${']'.repeat(depth)}}`
  const rows: [string | Buffer, RegExp][] = [
    ['{', /position 1/],
    ['{"text":"x"', /position/],
    ['{"text":"x",}', /position 12/],
    ["{'text':'x'}", /position 1/],
    ['{"text":undefined}', /position/],
    ['NaN', /not JSON/],
    ['{"text":"x"}{"text":"y"}', /position 12/],
    ['\ufeff{"text":"x"}', /position 0/],
    ['text=x', /not JSON/],
    [Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]), /UTF-8/],
    [Buffer.from([0xc3, 0x28]), /UTF-8/],
    [Buffer.from('{"text":"x"}', 'utf16le'), /position|UTF-8/],
    ['{"text":"x","text":"y"}', /same key twice/],
    ['{"text":"x","a":{"b":1,"b":2}}', /same key twice/],
    ['{"text":"x","__proto__":{"polluted":true}}', /__proto__/],
    ['{"text":"x","a":{"__proto__":1}}', /__proto__/],
    ['{"text":"x","constructor":{"prototype":{"polluted":true}}}', /constructor/],
    ['{"text":"x\\u0000y"}', /U\+0000/],
    ['{"text\\u0000":"x"}', /U\+0000/],
    ['{"text":"\\ud800"}', /surrogate pair at position 8/],
    ['{"text":"x","tags":{"\\ud800":"y"}}', /surrogate pair at position 20/],
    [deep(32), /deeper than 32/],
    ['['.repeat(100_000), /position|deeper/],
    [`${'['.repeat(50_000)}${']'.repeat(50_000)}`, /deeper than 32/],
  ]
  for (const [raw, details] of rows) {
    const reply = await ada.client.request('POST', '/v1/notes', { raw })
    assert.equal(reply.status, 400, `${raw.toString().slice(0, 60)}: ${reply.text}`)
    assert.equal(reply.body.error.code, 'INVALID_REQUEST')
    assert.match(reply.body.error.details, details, raw.toString().slice(0, 60))
  }
  assert.equal('polluted' in {}, false)
  const { client } = await world.account({ balance: 10 })
  assert.equal((await client.request('POST', '/v1/notes', { raw: deep(31) })).status, 200)
  assert.equal(
    (await client.request('POST', '/v1/notes', { raw: '{"text":"a:\\"b\\":c","x":"{\\"a\\":1}"}' })).status,
    200,
    'colons inside texts are no keys',
  )
  assert.equal(
    (await client.request('POST', '/v1/notes', { raw: '{"text":"x","constructor":1,"toString":2}' })).status,
    200,
  )
})

test('the content type and the size of a body are checked before what it says', async () => {
  const types: [string, number][] = [
    ['application/json', 200],
    ['application/json; charset=utf-8', 200],
    ['APPLICATION/JSON; Charset="UTF-8"', 200],
    ['application/vnd.pamoja+json', 200],
    ['application/json; charset=latin1', 415],
    ['text/plain', 415],
    ['application/xml', 415],
    ['multipart/form-data; boundary=x', 415],
    ['application/x-www-form-urlencoded', 415],
    ['nonsense', 415],
  ]
  const { client } = await world.account({ balance: 100 })
  for (const [type, status] of types) {
    const reply = await client.post('/v1/notes', { text: 'x' }, { headers: { 'content-type': type } })
    assert.equal(reply.status, status, type)
    if (status === 415) assert.equal(reply.body.error.code, 'UNSUPPORTED_MEDIA_TYPE')
  }
  const fits = await client.request('POST', '/v1/notes', {
    raw: `{"text":"x","pad":"${'p'.repeat(1024 * 1024 - 22)}"}`,
  })
  assert.equal(fits.status, 200, fits.text.slice(0, 200))
  const large = await client.request('POST', '/v1/notes', { raw: `{"text":"x","pad":"${'p'.repeat(1024 * 1024)}"}` })
  assert.equal(large.status, 413)
  assert.equal(large.body.error.code, 'PAYLOAD_TOO_LARGE')
})

test('an empty body is an empty object where nothing is required', async () => {
  const { client } = await world.account({ balance: 1 })
  const { body: key } = await client.post('/v1/api-keys', { name: 'x' })
  for (const options of [{}, { raw: '' }, { raw: '', headers: { 'content-type': 'application/json' } }, { raw: '{}' }])
    assert.equal(
      (await client.request('POST', `/v1/api-keys/${key.id}/rotate`, options)).status === 201 ||
        options.raw !== undefined,
      true,
    )
  assert.equal((await client.request('POST', '/v1/notes', {})).body.error.code, 'VALIDATION_ERROR')
  assert.equal((await client.request('POST', '/v1/notes', { raw: '' })).status, 422)
})

test('a query may hold U+0000 nowhere: not in a value, nor in one of several, nor in a name', async () => {
  const paths = [
    '/v1/sms',
    '/v1/payouts',
    '/v1/payments/transactions',
    '/v1/refunds',
    '/v1/billing/invoices',
    '/v1/events',
    '/v1/audit-log',
  ]
  const queries = ['reference=%00', 'reference=x&reference=%00', 'metadata[%00]=1', 'metadata[a]=1&metadata[a]=%00']
  for (const path of paths)
    for (const query of [...queries, 'to=x&to=%00', 'resource_id=x&resource_id=%00', 'action=x&action=%00', '%00=1']) {
      const reply = await ada.client.get(`${path}?${query}`)
      assert.deepEqual([reply.status, reply.body.error?.code], [400, 'INVALID_REQUEST'], `${path}?${query}`)
      assert.match(reply.body.error.details, /U\+0000/)
    }
})

test('the largest amount is decided on, and one more is refused wherever money is asked for', async () => {
  const { id, client } = await world.account({ balance: 1_000 })
  const paid = await client.post('/v1/payments', { amount: 100, currency: 'KES', phone: '+254700000001' })
  await eventually(
    async () => (await client.get(`/v1/payments/${paid.body.payment_id}`)).body.status === 'completed',
    'the payment to be completed, so that its refund is judged by its amount',
  )
  const ofAccount = `/v1/operator/accounts/${id}`
  const sku = { currency: 'UGX', description: 'Rent' }
  const conditions = (value: number) => [{ field: 'amount', operator: 'gte', value }]
  const phone = '+254700000001'
  const duka = { name: 'Duka', country: 'KE', currency: 'KES' }
  const rows: [Client, 'post' | 'patch', string, (amount: number) => object][] = [
    [
      world.operator,
      'post',
      `${ofAccount}/credit`,
      (amount) => ({ ...sku, amount, environment: 'test', reference: 'x' }),
    ],
    [world.operator, 'post', `${ofAccount}/overdraft`, (amount) => ({ amount, currency: 'KES', environment: 'test' })],
    [world.operator, 'post', '/v1/operator/accounts', (play_money) => ({ ...duka, play_money })],
    [world.operator, 'post', '/v1/operator/voice/rates', (minute) => ({ prefix: '+25471', currency: 'KES', minute })],
    [
      world.operator,
      'post',
      '/v1/operator/prices',
      (amount) => ({ area: 'sms', unit: 'segment', currency: 'KES', amount }),
    ],
    [client, 'post', '/v1/payments', (amount) => ({ amount, currency: 'UGX', phone: '+256770000001' })],
    [client, 'post', '/v1/payments/links', (amount) => ({ ...sku, amount })],
    [client, 'post', `/v1/payments/${paid.body.payment_id}/refund`, (amount) => ({ amount })],
    [
      client,
      'post',
      '/v1/payments/fraud/rules',
      (amount) => ({ name: 'Large', action: 'flag', conditions: conditions(amount) }),
    ],
    [client, 'post', '/v1/payouts', (amount) => ({ amount, currency: 'UGX', phone: '+256770000001' })],
    [client, 'post', '/v1/wallet/topup', (amount) => ({ amount, currency: 'KES', phone: '+254700000001' })],
    [client, 'post', '/v1/wallet/auto-recharge', (amount) => ({ enabled: true, threshold: amount, amount, phone })],
    [client, 'patch', '/v1/account', (threshold) => ({ settings: { low_balance_threshold: threshold } })],
    [client, 'post', '/v1/billing/plans', (amount) => ({ name: 'Rent', amount, currency: 'UGX', interval: 'month' })],
    [
      client,
      'post',
      '/v1/billing/invoices',
      (unit_amount) => ({
        currency: 'UGX',
        customer: { name: 'Otieno' },
        items: [{ description: 'Rent', unit_amount }],
      }),
    ],
  ]
  for (const [caller, method, path, body] of rows) {
    const most = await caller[method](path, body(9_000_000_000_000))
    assert.ok(most.status < 500 && most.status !== 404, `${path}: ${most.text}`)
    const more = await caller[method](path, body(9_000_000_000_001))
    assert.deepEqual([more.status, more.body.error?.code], [422, 'VALIDATION_ERROR'], `${path}: ${more.text}`)
    if (!path.endsWith('/fraud/rules')) assert.match(more.body.error.details, /takes at most 9000000000000/, path)
  }
})

test('money is exact or refused', async () => {
  const { id, client } = await world.account()
  const credit = (amount: unknown, currency = 'KES') =>
    world.operator.post(`/v1/operator/accounts/${id}/credit`, {
      amount,
      currency,
      environment: 'test',
      reference: `${String(amount)}-${currency}`,
    })
  const rows: [unknown, string, number, string?][] = [
    [0.1, 'KES', 200],
    [0.2, 'KES', 200],
    ['0.30', 'KES', 200],
    [1, 'UGX', 200],
    [0, 'KES', 422],
    [-1, 'KES', 422],
    [0.001, 'KES', 422],
    [0.5, 'UGX', 422],
    [1e21, 'KES', 422],
    ['1e3', 'KES', 422],
    ['', 'KES', 422],
    ['12,5', 'KES', 422],
    [99_999_999_999_999, 'KES', 422],
    [true, 'KES', 422],
    [null, 'KES', 422],
    [1, 'XXX', 422, 'UNSUPPORTED_CURRENCY'],
    [1, 'kes', 422, 'UNSUPPORTED_CURRENCY'],
    [1, '__proto__', 422, 'UNSUPPORTED_CURRENCY'],
  ]
  for (const [amount, currency, status, code] of rows) {
    const reply = await credit(amount, currency)
    assert.equal(reply.status, status, `${amount} ${currency}: ${reply.text}`)
    if (code) assert.equal(reply.body.error.code, code)
    if (status === 422) assert.ok(reply.body.error.fields, 'the field is named')
  }
  const { body } = await world.operator.get(`/v1/operator/accounts/${id}`)
  const wallet = body.wallets.find(
    (one: { environment: string; currency: string }) => one.environment === 'test' && one.currency === 'KES',
  )
  assert.equal(wallet.balance, 0.6)
  const again = await credit(0.1)
  assert.equal(again.status, 409)
  assert.equal(again.body.error.code, 'DUPLICATE_REFERENCE')
  const { body: listed } = await client.get('/v1/wallet/transactions')
  const ids = listed.data.map(({ transaction_id }: { transaction_id: string }) => transaction_id)
  assert.ok(ids.includes(again.body.error.existing_id), 'it is in the list of the wallet')
})

test('bytes that are no request get an answer in JSON and harm nobody', async () => {
  const raw = (bytes: string | Buffer, plain = false): Promise<string> =>
    new Promise((resolve) => {
      const port = world.node.port
      const socket = plain
        ? connectTcp(port, '127.0.0.1')
        : connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk.toString()
      })
      socket.on('error', () => resolve(text))
      socket.on('close', () => resolve(text))
      socket.on(plain ? 'connect' : 'secureConnect', () => socket.write(bytes))
    })
  const close = 'Host: localhost\r\nConnection: close\r\n'
  const rows: [string | Buffer, RegExp][] = [
    ['NONSENSE\r\n\r\n', /^HTTP\/1\.1 400/],
    [`FOO /v1/account HTTP/1.1\r\n${close}\r\n`, /^HTTP\/1\.1 400.*GET, HEAD, POST, PUT, PATCH and DELETE/s],
    [`GET /v1/account HTTP/1.1\r\nConnection: close\r\n\r\n`, /^HTTP\/1\.1 400.*Host header/s],
    [`POST /v1/notes HTTP/1.1\r\n${close}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, /^HTTP\/1\.1 40[01]/],
    ['GET / HTTP/9.9\r\n\r\n', /^HTTP\/1\.1 (400|505)/],
    [Buffer.from([0, 1, 2, 3, 13, 10, 13, 10]), /^HTTP\/1\.1 400/],
    [`GET /v1/auth/whoami HTTP/1.1\r\n${close}X-Pad: ${'x'.repeat(20_000)}\r\n\r\n`, /^HTTP\/1\.1 431/],
    [
      `POST /v1/notes HTTP/1.1\r\n${close}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello`,
      /^HTTP\/1\.1 400/,
    ],
    [`GET /v1/%zz HTTP/1.1\r\n${close}\r\n`, /^HTTP\/1\.1 (400|401|404)/],
  ]
  for (const [bytes, status] of rows) {
    const answer = await raw(bytes)
    assert.match(answer, status, bytes.toString().slice(0, 40))
    const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
    assert.match(body, /"success":false/, answer)
    for (const header of ['x-ratelimit-limit: 20', 'x-ratelimit-remaining: ', 'x-ratelimit-reset: ', 'x-request-id: '])
      assert.ok(answer.includes(`\r\n${header}`), `${header} in ${answer}`)
    assert.match(answer, /\r\nstrict-transport-security: max-age=/)
  }
  assert.match(await raw('GET / HTTP/1.1\r\nHost: x\r\n\r\n', true), /403.*HTTPS_REQUIRED/s)
  assert.equal((await ada.client.get('/v1/auth/whoami')).status, 200)
})
