// SPDX-License-Identifier: Apache-2.0
// The page on which customers of an account look after webhooks: what its URL allows, and for how long.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { runInNewContext } from 'node:vm'
import type { Client } from '../client.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { startWorld, type World } from '../world.ts'

let world: World
let receiver: Receiver

before(async () => {
  world = await startWorld({})
  receiver = await startReceiver()
})
after(async () => {
  await receiver.stop()
  await world.stop()
})

test('a session opens the page, and its token looks after webhooks and nothing else', async () => {
  const { client } = await world.account()
  const opened = await client.post('/v1/webhooks/portal-session', { expires_in: 600 })
  assert.equal(opened.status, 200)
  const inSeconds = (Date.parse(opened.body.expires_at) - Date.now()) / 1_000
  assert.ok(inSeconds > 500 && inSeconds <= 600, String(inSeconds))
  const visitor = visitorOf(opened.body.url)
  const made = await visitor.post('/v1/webhooks', { url: receiver.url('/portal'), events: ['sms.*'] })
  assert.equal(made.status, 201)
  assert.equal((await visitor.post(`/v1/webhooks/${made.body.id}/test`, {})).body.delivered, true)
  assert.equal((await visitor.get(`/v1/webhooks/${made.body.id}/deliveries`)).body.data.length, 1)
  assert.equal((await visitor.get('/v1/webhooks/events')).status, 200)
  assert.equal((await visitor.get('/v1/account')).status, 403)
  assert.equal((await visitor.get('/v1/sms')).status, 403)
  assert.equal((await visitor.post('/v1/webhooks/portal-session', {})).status, 403, 'it does not renew itself')
})

test('a session is in the audit log without its URL, and ends no later than its key', async () => {
  const { client } = await world.account()
  const soon = new Date(Date.now() + 300_000).toISOString()
  const { body: key } = await client.post('/v1/api-keys', {
    name: 'Short',
    scopes: ['webhooks:write'],
    expires_at: soon,
  })
  const opened = await world.stranger.as(key.key).post('/v1/webhooks/portal-session', { expires_in: 3_600 })
  assert.ok(opened.body.expires_at <= soon, `${opened.body.expires_at} is not after ${soon}`)
  const { body: log } = await client.get('/v1/audit-log?action=webhook.open_portal')
  assert.deepEqual(
    log.data.map(({ target, after }: Record<string, unknown>) => [target, after]),
    [[key.id, { scopes: ['webhooks:read', 'webhooks:write'], expires_at: opened.body.expires_at }]],
  )
})

test('a session to look around changes nothing', async () => {
  const { client } = await world.account()
  const { body } = await client.post('/v1/webhooks/portal-session', { read_only: true })
  const visitor = visitorOf(body.url)
  assert.equal((await visitor.get('/v1/webhooks')).status, 200)
  assert.equal((await visitor.post('/v1/webhooks', { url: receiver.url('/x'), events: ['*'] })).status, 403)
})

test('a session has neither the secret of callbacks nor the events of the account', async () => {
  const { client } = await world.account()
  for (const read_only of [false, true]) {
    const { body } = await client.post('/v1/webhooks/portal-session', { read_only })
    const visitor = visitorOf(body.url)
    for (const refused of [
      await visitor.get('/v1/webhooks/callback-secret'),
      await visitor.post('/v1/webhooks/callback-secret/rotate', {}),
      await visitor.get('/v1/webhooks/listen'),
    ])
      assert.deepEqual([refused.status, refused.body.error.code], [403, 'FORBIDDEN'])
  }
  const { body: token } = await client.post('/v1/auth/token', { scope: 'webhooks:write', subject: 'ada' })
  const colleague = world.stranger.as(token.access_token)
  assert.equal((await colleague.get('/v1/webhooks/callback-secret')).status, 200, 'a token that was made for it may')
})

test('a session gives no more than the key has', async () => {
  const { client } = await world.account()
  const keyWith = async (scopes: string[]): Promise<Client> =>
    world.stranger.as((await client.post('/v1/api-keys', { name: 'Some', scopes })).body.key)
  const none = await (await keyWith(['sms:write'])).post('/v1/webhooks/portal-session', {})
  assert.deepEqual([none.status, none.body.error.required_scope], [403, 'webhooks:write'])
})

test('what a session may not be is told', async () => {
  const { client } = await world.account()
  for (const body of [{ expires_in: 59 }, { expires_in: 86_401 }, { expires_in: '600' }, { read_only: 'yes' }])
    assert.equal((await client.post('/v1/webhooks/portal-session', body)).status, 422, JSON.stringify(body))
})

test('the page and what it needs come from this server, and may be shown in other pages', async () => {
  const pages = [
    ['/portal/webhooks', 'text/html'],
    ['/portal/webhooks/portal.css', 'text/css'],
    ['/portal/webhooks/portal.js', 'text/javascript'],
  ] as const
  for (const [path, type] of pages) {
    const { status, headers, text } = await world.stranger.get(path)
    assert.equal(status, 200, path)
    assert.equal(headers['content-type'], `${type}; charset=utf-8`)
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'none'.*connect-src 'self'.*frame-ancestors \*/)
    assert.doesNotMatch(text, /https?:\/\/(?!app\.example)/, 'nothing from elsewhere')
  }
  const { text } = await world.stranger.get('/portal/webhooks')
  for (const [, address = ''] of text.matchAll(/(?:href|src)="([^"]+)"/g))
    assert.equal((await world.stranger.get(address)).status, 200, address)
})

test('the page shows every webhook, however many there are', async () => {
  const { client } = await world.account({ plan: 'enterprise' })
  const many = Array.from({ length: 101 }, (_, n) => ({ url: receiver.url(`/${n}`), events: ['*'], enabled: false }))
  for (const made of await Promise.all(many.map((webhook) => client.post('/v1/webhooks', webhook))))
    assert.equal(made.status, 201, made.text)
  const { body } = await client.post('/v1/webhooks/portal-session', {})
  const made = await elementsOf(body.url)
  assert.equal(made.filter((name) => name === 'article').length, 101)
})

/** Runs the script of the page where nothing is shown, and gives the names of the elements that it made. */
async function elementsOf(url: string): Promise<string[]> {
  const { text: script } = await world.stranger.get('/portal/webhooks/portal.js')
  const { hash, pathname, search } = new URL(url)
  const visitor = visitorOf(url)
  const made: string[] = []
  await runInNewContext(`(async () => {${script}})()`, {
    location: { hash, pathname, search },
    history: anything,
    navigator: { languages: ['en'], language: 'en' },
    sessionStorage: { setItem: () => undefined, getItem: () => null },
    document: {
      documentElement: {},
      querySelector: () => anything,
      querySelectorAll: () => [],
      createElement: (name: string) => {
        made.push(name)
        return anything
      },
    },
    URLSearchParams,
    fetch: async (path: string, { method, headers }: { method: string; headers: Record<string, string> }) => {
      const { status, body } = await visitor.request(method, path, { headers })
      return { ok: status === 200, status, json: async () => body }
    },
  })
  return made
}

/** Whatever is asked of it, it is there. */
const anything: unknown = new Proxy(() => anything, { get: () => anything, set: () => true })

/** Whoever was given the URL: the token stands behind the #, which no server is sent. */
function visitorOf(url: string): Client {
  const { pathname, hash } = new URL(url)
  assert.equal(pathname, '/portal/webhooks')
  return world.stranger.as(hash.slice(1))
}
