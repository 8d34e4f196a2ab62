// SPDX-License-Identifier: Apache-2.0
// Applications that are slow, silent, or say what cannot be shown: the subscriber sees a clear last screen, and the account pays
// once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atOnce, statusesOf } from '../at-once.ts'
import { startMarket } from '../market.ts'
import { wallet } from '../paying.ts'
import { application, dial, ended, newCode, newPhone, type } from '../ussd.ts'
import { eventually } from '../world.ts'

const { world, receiver } = await startMarket(0.04)
application(receiver, {
  '/silent': () => null,
  '/garbage': () => 'what is this',
  '/long': () => `CON ${'x'.repeat(1_601)}`,
  '/long-letters': () => `CON ${'ሰ'.repeat(900)}`,
  '/lower': () => 'end bye',
  '/glued': () => 'ENDbye',
  '/half-said': () => 'END',
  '/empty': () => 'CON ',
  '/json-long': () => ({ message: 'x'.repeat(1_601) }),
  '/json-flag': () => ({ message: 'ok', end_session: 'no' }),
  '/json-digits': () => ({ message: 'ok', data: { id: 2 ** 53 } }),
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

const broken: readonly (readonly [what: string, mode: string, path: string, reason: string, detail: RegExp])[] = [
  ['garbage', 'text', '/garbage', 'app_error', /CON or END/],
  ['more than 1,600 characters', 'text', '/long', 'app_error', /1601 characters; at most 1600/],
  ['more than 10 pages', 'text', '/long-letters', 'app_error', /900 characters, which take \d\d pages; at most 10/],
  ['end in lower case', 'text', '/lower', 'app_error', /CON or END/],
  ['no space behind END', 'text', '/glued', 'app_error', /CON or END/],
  ['END and nothing', 'text', '/half-said', 'app_error', /empty/],
  ['nothing to show', 'text', '/empty', 'app_error', /empty/],
  ['a message of 1,601 characters', 'webhook', '/json-long', 'app_error', /1601 characters; at most 1600/],
  ['an end that is no boolean', 'webhook', '/json-flag', 'app_error', /end_session/],
  ['a number that loses digits', 'webhook', '/json-digits', 'app_error', /2\^53/],
  ['a message that is no text', 'webhook', '/json-number', 'app_error', /message is not a text/],
  ['a message with half a letter', 'webhook', '/json-half', 'app_error', /surrogate/],
  ['a message with U+0000', 'webhook', '/json-nul', 'app_error', /U\+0000/],
  ['data beyond the limit', 'webhook', '/json-data', 'app_error', /data has 5\d\d\d bytes/],
  ['nothing at all', 'text', '/silent', 'app_timeout', /(?:)/],
  ['OK and never a screen', 'webhook', '/ok', 'app_timeout', /^$/],
]

test('an application that says what cannot be shown, or nothing in time, ends its session with the code’s own words', async () => {
  await Promise.all(
    broken.map(async ([what, mode, path, reason, detail]) => {
      // The shorter time is for those that use all of it.
      const network_limit = reason === 'app_timeout' ? 3 : 60
      const { client, shortcode } = await shop({ mode, url: receiver.url(path), network_limit })
      const { body } = await dial(client, shortcode)
      assert.deepEqual([body.message, body.action], ['Samahani', 'end'], what)
      const session = await ended(client, body.session_id)
      assert.deepEqual([session.status, session.reason, session.cost], ['expired', reason, 0.5], what)
      assert.equal((await wallet(client)).balance, 9.5, what)
      assert.match(session.reason_detail ?? '', detail, what)
      const next = await type(client, body.session_id, '1')
      assert.deepEqual([next.status, next.body.error.code], [409, 'SESSION_EXPIRED'], what)
      assert.match(next.body.error.details, new RegExp(`\\(${reason}\\)$`), what)
      assert.match(next.body.error.details, reason === 'app_error' ? detail : /in time/, what)
      if (reason !== 'app_error') return
      const frames = await eventually(async () => {
        const { body: timeline } = await client.get(`/v1/ussd/sessions/${body.session_id}/timeline`)
        return timeline.frames.find((frame: { title: string }) => frame.title === 'ussd.response') && timeline.frames
      }, 'the timeline')
      const asked = frames.find((frame: { title: string }) => frame.title === 'ussd.response')
      assert.deepEqual([asked.is_ok, detail.test(asked.status)], [false, true], what)
      assert.match(frames.at(-1).status, detail, what)
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

test('of many dials at once a wallet begins those that it covers, and of the others nothing stays', async () => {
  const { client } = await world.account({ balance: 2 })
  const shortcode = newCode()
  await client.post('/v1/ussd/shortcodes', { shortcode, url: receiver.url('/well') })
  const answers = await atOnce(12, (n) =>
    client.post('/v1/ussd/callback', {
      ...{ session_id: `short-${n}`, phone: newPhone(), shortcode, type: 'initiation', input: null },
    }),
  )
  assert.deepEqual(statusesOf(answers), { 200: 4, 402: 8 })
  const begun = answers.flatMap(({ body }) => body.session_id ?? []).sort()
  const { body: sessions } = await client.get('/v1/ussd/sessions')
  assert.deepEqual(sessions.data.map(({ session_id }: { session_id: string }) => session_id).sort(), begun)
  const { body: events } = await client.get('/v1/events?event=ussd.session_started')
  assert.deepEqual(events.data.map(({ resource_id }: { resource_id: string }) => resource_id).sort(), begun)
  const { balance, held } = await wallet(client)
  assert.deepEqual([balance, held], [2, 2])
})
