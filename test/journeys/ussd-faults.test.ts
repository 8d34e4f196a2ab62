// SPDX-License-Identifier: Apache-2.0
// Applications that are slow, silent, or say what cannot be shown: the subscriber sees a clear last screen, and the account pays
// once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startMarket } from '../market.ts'
import { wallet } from '../paying.ts'
import { application, dial, ended, newCode, newPhone, type } from '../ussd.ts'
import { eventually } from '../world.ts'

const { world, receiver } = await startMarket(0.04)
application(receiver, {
  '/silent': () => null,
  '/garbage': () => 'what is this',
  '/long': () => `CON ${'x'.repeat(183)}`,
  '/empty': () => 'CON ',
  '/json-long': () => ({ message: 'x'.repeat(183) }),
  '/json-number': () => ({ message: 7 }),
  '/json-half': () => ({ message: 'x\ud800' }),
  '/json-nul': () => ({ message: 'x\u0000' }),
  '/json-data': () => ({ message: 'ok', data: { x: 'x'.repeat(5_000) } }),
  '/ok': () => 'OK',
  '/well': ({ step }) => ({ message: `Screen ${step}` }),
})

async function shop(more: object) {
  const { client } = await world.account({ balance: 10 })
  const shortcode = newCode()
  const made = await client.post('/v1/ussd/shortcodes', { shortcode, error_message: 'Samahani', ...more })
  assert.equal(made.status, 201, made.text)
  return { client, shortcode }
}

const broken: readonly (readonly [what: string, mode: string, path: string, reason: string])[] = [
  ['garbage', 'text', '/garbage', 'app_error'],
  ['more than 182 characters', 'text', '/long', 'app_error'],
  ['nothing to show', 'text', '/empty', 'app_error'],
  ['a message of 183 characters', 'webhook', '/json-long', 'app_error'],
  ['a message that is no text', 'webhook', '/json-number', 'app_error'],
  ['a message with half a letter', 'webhook', '/json-half', 'app_error'],
  ['a message with U+0000', 'webhook', '/json-nul', 'app_error'],
  ['data beyond the limit', 'webhook', '/json-data', 'app_error'],
  ['nothing at all', 'text', '/silent', 'app_timeout'],
  ['OK and never a screen', 'webhook', '/ok', 'app_timeout'],
]

test('an application that says what cannot be shown, or nothing in time, ends its session with the code’s own words', async () => {
  await Promise.all(
    broken.map(async ([what, mode, path, reason]) => {
      // The shorter time is for those that use all of it.
      const network_limit = reason === 'app_timeout' ? 3 : 60
      const { client, shortcode } = await shop({ mode, url: receiver.url(path), network_limit })
      const { body } = await dial(client, shortcode)
      assert.deepEqual([body.message, body.action], ['Samahani', 'end'], what)
      const session = await ended(client, body.session_id)
      assert.deepEqual([session.status, session.reason, session.cost], ['expired', reason, 0.5], what)
      assert.equal((await wallet(client)).balance, 9.5, what)
    }),
  )
})

test('an application that cannot be reached is replaced by its fallback', async () => {
  const { client, shortcode } = await shop({
    url: 'https://localhost:1025/ussd',
    fallback_url: receiver.url('/well'),
  })
  const { body } = await dial(client, shortcode)
  assert.equal(body.message, 'Screen 1')
  // Both are in the timeline of the session, with how they went and without what was typed.
  const asked = await eventually(async () => {
    const { body: timeline } = await client.get(`/v1/ussd/sessions/${body.session_id}/timeline`)
    const frames = timeline.frames.filter(({ title }: { title: string }) => title === 'ussd.response')
    return frames.at(-1)?.is_ok && frames
  }, 'the requests to be in the timeline')
  const [first, last] = [asked[0], asked.at(-1)]
  assert.deepEqual([first.is_ok, first.peer, first.request], [false, 'https://localhost:1025/ussd', null])
  assert.deepEqual([last.is_ok, last.status, last.peer], [true, '200', receiver.url('/well')])
})

test('an input that comes while the application thinks is no second one', async () => {
  const { client, shortcode } = await shop({})
  const phone = newPhone()
  const call = (more: object) => client.post('/v1/ussd/callback', { session_id: 'g-1', phone, shortcode, ...more })
  const waiting = [call({ type: 'initiation', input: null }), call({ type: 'initiation', input: null })]
  const [first, second] = await Promise.all([
    ...waiting,
    (async () => {
      for (;;) {
        const { body } = await client.get('/v1/ussd/sessions')
        const session_id = body.data[0]?.session_id
        if (session_id)
          return client.post('/v1/ussd/continue', { session_id, input: '-', message: 'Once', end_session: true })
      }
    })(),
  ])
  assert.deepEqual([first?.body.message, second?.body.message], ['Once', 'Once'])
  assert.equal(first?.body.session_id, second?.body.session_id)
  assert.equal((await wallet(client)).balance, 9.5)
})

test('inputs of many handsets at once each get their own screens', async () => {
  const { client, shortcode } = await shop({ url: receiver.url('/well') })
  const sessions = await Promise.all(
    Array.from({ length: 15 }, async () => {
      const { body } = await dial(client, shortcode)
      assert.equal((await type(client, body.session_id, '1')).body.message, 'Screen 2')
      return body.session_id
    }),
  )
  assert.equal(new Set(sessions).size, 15)
  const { balance, held } = await wallet(client)
  assert.deepEqual([balance, held], [10, 7.5])
})
