// SPDX-License-Identifier: Apache-2.0
// Whoever comes in comes in by the same rules, however the address is written and wherever the credential stands.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { connect } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { eventually, startWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

test('a path that is written in another way is the same path to every check', async () => {
  const { client } = await world.account()
  const { body: narrow } = await client.post('/v1/api-keys', { name: 'Narrow', scopes: ['sms:read'] })
  const holder = world.stranger.as(narrow.key)
  for (const path of ['/v1/account', '/%76%31/account', '/v%31/%61ccount']) {
    assert.equal((await world.stranger.get(path)).status, 401, path)
    const refused = await holder.get(path)
    assert.deepEqual([refused.status, refused.body.error.required_scope], [403, 'account:read'], path)
    assert.equal(refused.headers['x-ratelimit-limit'], '100', 'the limit of the key, not that of strangers')
    assert.equal((await client.get(path)).status, 200, path)
    assert.equal((await world.stranger.request('PUT', path)).status, 401, path)
  }
})

test('of several things that are wrong with a request the first in the order of the checks is told', async () => {
  const { client } = await world.account()
  const { body: narrow } = await client.post('/v1/api-keys', { name: 'Narrow', scopes: ['sms:read'] })
  const holder = world.stranger.as(narrow.key)
  const used = { 'idempotency-key': 'order-of-checks' }
  assert.equal((await client.post('/v1/api-keys', { name: 'First' }, { headers: used })).status, 201)
  const text = { 'content-type': 'text/plain' }
  const large = `{"text": "${'x'.repeat(1024 * 1024)}`
  const rows: [who: typeof client, method: string, path: string, sent: object, status: number, details: RegExp][] = [
    [world.stranger, 'PUT', '/v1/account', { raw: '{' }, 401, /missing/],
    [holder, 'PUT', '/v1/account', { raw: '{' }, 405, /takes/],
    [world.stranger, 'POST', '/v1/nope', { raw: '{', headers: text }, 401, /missing/],
    [client, 'POST', '/v1/nope', { raw: '{', headers: text }, 404, /no POST \/v1\/nope/],
    [client, 'POST', '/v1/nope', { raw: large }, 404, /no POST/],
    [client, 'POST', '/v1/nope', { raw: '{' }, 404, /no POST/],
    [world.stranger, 'POST', '/nope', { raw: '{', headers: text }, 404, /below \/api\/v1/],
    [holder, 'POST', '/v1/api-keys', { raw: '{', headers: text }, 403, /keys:write/],
    [client, 'POST', '/v1/api-keys', { raw: '{', headers: text }, 415, /text\/plain/],
    [client, 'POST', '/v1/api-keys', { raw: large }, 413, /bytes/],
    [client, 'POST', '/v1/api-keys', { raw: '{', headers: { 'idempotency-key': 'a b' } }, 400, /not JSON/],
    [client, 'POST', '/v1/api-keys', { raw: '{}', headers: { 'idempotency-key': 'a b' } }, 400, /idempotency key/],
    [client, 'POST', '/v1/api-keys', { raw: '{}', headers: used }, 409, /different request/],
    [client, 'POST', '/v1/notes', { raw: '{"text": 5}' }, 422, /text/],
    [client, 'POST', '/v1/notes', { raw: '{"text": "x"}' }, 402, /costs|balance|wallet/],
  ]
  for (const [who, method, path, sent, status, details] of rows) {
    const reply = await who.request(method, path, sent)
    assert.equal(reply.status, status, `${method} ${path}: ${reply.text}`)
    assert.match(reply.body.error.details, details)
  }
})

test('a key counts where it belongs: in the header, or in the form that OAuth 2 asks for', async () => {
  const { client } = await world.account()
  const { body: narrow } = await client.post('/v1/api-keys', { name: 'Narrow', scopes: ['sms:read'] })
  for (const path of ['/v1/api-keys', '/%76%31/api-keys']) {
    const sneaked = await world.stranger.post(path, { name: 'Sneaked', client_secret: narrow.key })
    assert.deepEqual([sneaked.status, sneaked.body.error.code], [401, 'UNAUTHORIZED'], path)
  }
  const form = (fields: Record<string, string>) => ({
    raw: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  const given = await world.stranger.request('POST', '/v1/auth/token', form({ client_secret: narrow.key }))
  assert.equal(given.status, 200, given.text)
  assert.deepEqual([given.headers['pamoja-environment'], given.headers['x-ratelimit-limit']], ['test', '100'])
  const nothing = await world.stranger.request('POST', '/v1/auth/token', form({ grant_type: 'client_credentials' }))
  assert.match(nothing.body.error.details, /client_secret/)
  const { body: live } = await client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  const sandboxed = await world.stranger.request('POST', '/sandbox/v1/auth/token', form({ client_secret: live.key }))
  assert.equal(sandboxed.status, 401, 'the sandbox takes no live key in a form either')
})

test('two credentials in one request are none', async () => {
  const [ada, ben] = [await world.account(), await world.account()]
  for (const second of [ben.key, ada.key]) {
    const both = `Authorization: Bearer ${ada.key}\r\nauthorization: Bearer ${second}\r\n`
    const answer = await raw(`GET /v1/auth/whoami HTTP/1.1\r\n${both}`)
    assert.match(answer, /^HTTP\/1\.1 401 [\s\S]*Authorization is given twice/)
  }
})

test('what outlives a token is not made with it', async () => {
  const { client } = await world.account()
  const { body: key } = await client.post('/v1/api-keys', { name: 'Other' })
  const { body: token } = await client.post('/v1/auth/token', {})
  const browser = world.stranger.as(token.access_token)
  assert.equal((await browser.get('/v1/api-keys')).status, 200)
  const refused = [
    await browser.post('/v1/api-keys', { name: 'For ever' }),
    await browser.post(`/v1/api-keys/${key.id}/rotate`, {}),
    await browser.patch(`/v1/api-keys/${key.id}`, { allowed_ips: [] }),
  ]
  for (const { status, body } of refused) {
    assert.deepEqual([status, body.error.code], [403, 'FORBIDDEN'])
    assert.match(body.error.message, /key or token .* See details/, 'another scope would not help')
  }
  assert.equal((await browser.delete(`/v1/api-keys/${key.id}`)).status, 200, 'to revoke one is always safe')
})

test('a whole URL where a path belongs, a method nobody knows, a body in another coding', async () => {
  const { client, key } = await world.account()
  for (const target of ['https://localhost/api/v1/auth/whoami', 'http://u:p@localhost:1/v1/auth/whoami?a=1'])
    assert.match(await raw(`GET ${target} HTTP/1.1\r\nAuthorization: Bearer ${key}\r\n`), /^HTTP\/1\.1 200 /, target)
  assert.match(await raw('GET https://localhost/v1/auth/whoami HTTP/1.1\r\n'), /^HTTP\/1\.1 401 /)

  const traced = await client.request('TRACE', '/v1/account')
  assert.deepEqual([traced.status, traced.headers.allow], [405, 'GET, PATCH, HEAD'])

  for (const path of ['/v1/sms/send', '/v1/sms/bulk', '/v1/payments/charge', '/v1/events/trigger'])
    for (const method of ['GET', 'HEAD']) {
      const refused = await client.request(method, path)
      assert.deepEqual([refused.status, refused.headers.allow], [405, 'POST'], `${method} ${path}`)
    }

  const zipped = await client.request('PATCH', '/v1/account', {
    raw: gzipSync('{"name":"Zipped"}'),
    headers: { 'content-encoding': 'gzip' },
  })
  assert.deepEqual([zipped.status, zipped.body.error.code], [415, 'UNSUPPORTED_MEDIA_TYPE'])
  assert.match(zipped.body.error.details, /gzip/)
  const plain = { headers: { 'content-encoding': 'identity' } }
  assert.equal((await client.patch('/v1/account', { name: 'Plain' }, plain)).status, 200)

  const big = await client.patch('/v1/account', { name: 'x'.repeat(1024 * 1024) })
  assert.equal(big.status, 413)
  assert.match(big.body.error.details, /1048576 bytes/)
})

test('what is refused before it is a request says what is missing, and can be asked about', async () => {
  const answer = await raw('GET /v1/auth/whoami HTTP/1.1\r\n', '')
  assert.match(answer, /^HTTP\/1\.1 400 /)
  assert.match(answer, /the request has no Host header/)
  const [, id] = /x-request-id: (req_\w+)/.exec(answer) ?? []
  assert.ok(id && answer.includes(`"request_id":"${id}"`), answer)
  assert.match(answer, /cache-control: no-store/)
})

test('a request that breaks off is its client’s affair, not that of the database', async (t) => {
  const { key } = await world.account()
  const [noted, warned] = [t.mock.method(world.app.log, 'debug'), t.mock.method(world.app.log, 'warn')]
  const said = ({ mock }: typeof noted): string[] => mock.calls.map((call) => String(call.arguments[1]))
  // Only what is being read already can break off, and nobody is told when that is.
  await eventually(async () => {
    await breakOff(key)
    return said(noted).includes('request aborted by its client: nothing to do') || said(warned).length > 0
  }, 'the server to notice')
  assert.deepEqual(said(warned), [])
})

/** Announces a body, and leaves when the server asks for it. */
async function breakOff(key: string): Promise<void> {
  const socket = connect({ port: world.node.port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const headers = ['Host: localhost', `Authorization: Bearer ${key}`, 'Expect: 100-continue', 'Content-Length: 100']
  socket.write(`PATCH /v1/account HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
  await once(socket, 'data')
  socket.destroy()
  await once(socket, 'close')
}

function raw(start: string, host = 'Host: localhost\r\n'): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: world.node.port, host: '127.0.0.1', rejectUnauthorized: false })
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
    socket.on('secureConnect', () => socket.write(`${start}${host}Connection: close\r\n\r\n`))
  })
}

test('a browser that goes to an address of the API, or to none, is shown a page; programs get JSON as ever', async () => {
  const browser = { headers: { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' } }
  for (const [path, status, words] of [
    ['/nowhere', 404, 'There is nothing here'],
    ['/api/v1/sms', 401, 'Unauthorized'],
    ['/v1/nowhere', 401, 'Unauthorized'],
  ] as const) {
    const shown = await world.stranger.get(path, browser)
    assert.deepEqual([shown.status, shown.headers['content-type']], [status, 'text/html; charset=utf-8'], path)
    assert.ok(shown.text.includes(words) && shown.text.includes('/docs/errors/'), shown.text)
    assert.match(shown.headers['content-security-policy'] ?? '', /default-src 'none'/)
    for (const accept of ['*/*', 'application/json', 'application/json, text/html']) {
      const told = await world.stranger.get(path, { headers: { accept } })
      assert.deepEqual([told.status, told.body.success], [status, false], `${path} as ${accept}`)
    }
  }
  const posted = await world.stranger.post('/v1/sms/send', {}, browser)
  assert.equal(posted.body.error.code, 'UNAUTHORIZED', 'what a browser sends is not shown')
  const hostile = await world.stranger.get('/%3Cscript%3Ealert(1)%3C/script%3E', browser)
  assert.ok(!hostile.text.includes('<script'))
})

test('whoever mistypes an address, its prefix or its method is told which was probably meant', async () => {
  const { client } = await world.account()
  for (const [method, path, status, details] of [
    [
      'POST',
      '/api/v1/payment/charge',
      404,
      'there is no POST /api/v1/payment/charge; did you mean POST /api/v1/payments/charge?',
    ],
    [
      'POST',
      '/api/v1/sms/sned',
      405,
      'this address takes GET, PATCH, DELETE, HEAD; did you mean POST /api/v1/sms/send?',
    ],
    ['POST', '/sandbox/api/v1/sms', 405, 'this address takes GET, HEAD; did you mean POST /sandbox/api/v1/sms/send?'],
    ['POST', '/sms/send', 404, 'there is no POST /sms/send; did you mean POST /api/v1/sms/send?'],
    [
      'GET',
      '/api/v1/wallets/balance',
      404,
      'there is no GET /api/v1/wallets/balance; did you mean GET /api/v1/wallet/balance?',
    ],
    [
      'GET',
      '/api/v1/nothing-like-it',
      404,
      'there is no GET /api/v1/nothing-like-it; GET /openapi.json lists what there is',
    ],
  ] as const) {
    // Outside /v1 a suggestion is made only so often a second for an address, and other tests have asked.
    const answered = await eventually(async () => {
      const told = await (method === 'GET' ? client.get(path) : client.post(path, {}))
      return told.body.error.details === details ? told : null
    }, details)
    assert.equal(answered.status, status)
  }
  const browser = { headers: { accept: 'text/html' } }
  const shown = await world.stranger.get('/sms/%3Cb%3E/sned"><script>', browser)
  assert.equal(shown.status, 404)
  assert.doesNotMatch(shown.text, /<script>|<b>/)
  const meant = /did you mean GET \/api\/v1\/wallet\/balance\?/
  await eventually(
    async () => meant.test((await world.stranger.get('/api/walet/balance', browser)).text),
    String(meant),
  )
})
