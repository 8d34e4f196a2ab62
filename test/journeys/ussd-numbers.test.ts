// SPDX-License-Identifier: Apache-2.0
// The numbers of the sandbox whose handsets and networks do something by themselves, and how sessions end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startMarket } from '../market.ts'
import { wallet } from '../paying.ts'
import { application, dial, ended, newCode, newPhone, type } from '../ussd.ts'
import { eventually } from '../world.ts'

const { world, receiver, sql } = await startMarket(0.04)

/** 50 lines of 31 characters: 10 pages. */
const catalogue = Array.from({ length: 50 }, (_, i) => `${String(i).padStart(2, '0')}.`.padEnd(31, 'x')).join('\n')

const asked = new Map<string, number>()
application(receiver, {
  '/three': ({ session_id, step }) => {
    const key = `${session_id} ${step}`
    asked.set(key, (asked.get(key) ?? 0) + 1)
    return { message: `Screen ${step}`, end_session: Number(step) >= 3 }
  },
  '/catalogue': ({ text }) => (text === '' ? `CON ${catalogue}` : `END You chose ${text}`),
  '/latin': () => Buffer.from('END Crédit épuisé', 'latin1'),
  '/on': ({ step }) => ({ message: `Screen ${step}` }),
})

async function shop(url: string, more: object = {}) {
  const { client } = await world.account({ balance: 10 })
  const shortcode = newCode()
  const made = await client.post('/v1/ussd/shortcodes', { shortcode, url: receiver.url(url), ...more })
  assert.equal(made.status, 201, made.text)
  return { client, shortcode }
}

test('01 answers 1 to each screen until the end', async () => {
  const { client, shortcode } = await shop('/three')
  const { body } = await dial(client, shortcode, '+254733000001')
  const session = await ended(client, body.session_id)
  assert.deepEqual([session.status, session.reason, session.total_steps], ['completed', 'completed', 3])
  assert.deepEqual(
    session.history.map(({ input }: { input: string }) => input),
    [null, '1', '1'],
  )
})

test('02 never answers, and its session expires', async () => {
  const { client, shortcode } = await shop('/on', { timeout: 10 })
  const { body } = await dial(client, shortcode, '+254733000002')
  await client.post('/v1/sandbox/clock', { advance_seconds: 11 })
  const session = await ended(client, body.session_id)
  assert.deepEqual([session.status, session.reason, session.total_steps], ['expired', 'expired', 1])
})

test('03 hangs up after the first screen', async () => {
  const { client, shortcode } = await shop('/on')
  const { body } = await dial(client, shortcode, '+254733000003')
  const session = await ended(client, body.session_id)
  assert.deepEqual([session.status, session.reason, session.cost], ['completed', 'user_cancelled', 0.5])
})

test('04 cannot be reached by a push, which costs nothing', async () => {
  const { client, shortcode } = await shop('/on')
  await client.post('/v1/ussd/send', { phone: '+254733000004', shortcode, message: 'Hello', session_id: 'four' })
  const session = await ended(client, 'four')
  assert.deepEqual([session.status, session.reason, session.cost], ['expired', 'undeliverable', 0])
  const { balance, held } = await wallet(client)
  assert.deepEqual([balance, held], [10, 0])
})

test('05 types, and its network releases the session in the middle', async () => {
  const { client, shortcode } = await shop('/on')
  const { body } = await dial(client, shortcode, '+254733000005')
  const session = await ended(client, body.session_id)
  assert.deepEqual([session.status, session.reason, session.total_steps], ['completed', 'network_released', 2])
})

test('06 has a gateway that repeats every input: the application is asked once for each, and the account pays once', async () => {
  const { client, shortcode } = await shop('/three')
  const { body } = await dial(client, shortcode, '+254733000006')
  const session = await ended(client, body.session_id)
  assert.deepEqual([session.reason, session.total_steps], ['completed', 3])
  assert.deepEqual(
    [1, 2, 3].map((step) => asked.get(`${body.session_id} ${step}`)),
    [1, 1, 1],
  )
  assert.equal((await wallet(client)).balance, 9.5)
})

test('07 answers a second before the time is over, by the account’s clock', async () => {
  const { client, shortcode } = await shop('/three', { timeout: 60 })
  const { body } = await dial(client, shortcode, '+254733000007')
  await eventually(async () => {
    const jobs = await sql.query("select from work.jobs where lane like 'ussd.answer_late%'")
    return jobs.rowCount === 1
  }, 'the handset to make up its mind')
  await client.post('/v1/sandbox/clock', { advance_seconds: 58.5 })
  assert.equal((await client.get(`/v1/ussd/sessions/${body.session_id}`)).body.total_steps, 1)
  await client.post('/v1/sandbox/clock', { advance_seconds: 0.6 })
  const session = await eventually(async () => {
    const { body: now } = await client.get(`/v1/ussd/sessions/${body.session_id}`)
    return now.total_steps > 1 && now
  }, 'the late answer')
  assert.notEqual(session.status, 'expired')
})

test('a subscriber hangs up', async () => {
  const { client, shortcode } = await shop('/on')
  const { body } = await dial(client, shortcode)
  const hung = await client.post('/v1/sandbox/ussd/cancel', { session_id: body.session_id })
  assert.deepEqual([hung.status, hung.body.action], [200, 'end'])
  assert.equal((await ended(client, body.session_id)).reason, 'user_cancelled')
  const late = await type(client, body.session_id, '1')
  assert.deepEqual([late.status, late.body.error.code], [409, 'SESSION_ENDED'])
  assert.equal((await client.post('/v1/sandbox/ussd/cancel', { session_id: 'nobody' })).status, 404)
})

test('a phone that dials a code again begins anew, and the first session was replaced', async () => {
  const { client, shortcode } = await shop('/on')
  const phone = newPhone()
  const first = await dial(client, shortcode, phone)
  const second = await dial(client, shortcode, phone)
  assert.notEqual(first.body.session_id, second.body.session_id)
  assert.equal((await ended(client, first.body.session_id)).reason, 'replaced')
  assert.equal((await type(client, second.body.session_id, '1')).body.message, 'Screen 2')
})

test('a redial soon after an expired session goes on with its data, and a later one does not', async () => {
  const { client, shortcode } = await shop('/on', { timeout: 10, resume_window: 60 })
  const phone = newPhone()
  const { body: first } = await dial(client, shortcode, phone)
  await client.post('/v1/ussd/continue', { session_id: first.session_id, input: '1', message: 'On', data: { cart: 3 } })
  await client.post('/v1/sandbox/clock', { advance_seconds: 11 })
  await ended(client, first.session_id)
  const { body: second } = await dial(client, shortcode, phone)
  const { body: resumed } = await client.get(`/v1/ussd/sessions/${second.session_id}`)
  assert.deepEqual([resumed.resumed_from, resumed.data], [first.session_id, { cart: 3 }])
  await client.post('/v1/sandbox/clock', { advance_seconds: 11 })
  await ended(client, second.session_id)
  await client.post('/v1/sandbox/clock', { advance_seconds: 61 })
  const { body: third } = await dial(client, shortcode, phone)
  const { body: fresh } = await client.get(`/v1/ussd/sessions/${third.session_id}`)
  assert.deepEqual([fresh.resumed_from, fresh.data], [null, {}])
})

test('a screen of an application may have 1,600 characters, which are paged', async () => {
  const { client, shortcode } = await shop('/catalogue', { mode: 'text' })
  const { body } = await dial(client, shortcode)
  const pages = [body.message]
  for (let page = 1; page < 10; page += 1) pages.push((await type(client, body.session_id, '98')).body.message)
  assert.ok(pages.every((page) => page.length <= 182))
  assert.equal((await client.get(`/v1/ussd/sessions/${body.session_id}`)).body.screen_pages, 10)
  const shown = pages.map((page) => page.replace(/\n0 Back/, '').replace(/\n98 More$/, '')).join('\n')
  assert.equal(shown, catalogue)
  assert.equal((await type(client, body.session_id, '7')).body.message, 'You chose 7')
})

test('the charset of an application’s answer is honoured', async () => {
  const { client, shortcode } = await shop('/latin', { mode: 'text' })
  const { body } = await dial(client, shortcode)
  assert.equal(body.message, 'Crédit épuisé')
})

test('the longest registered code answers, and what was dialled behind it are the first inputs', async () => {
  const { client } = await world.account({ balance: 10 })
  const code = newCode()
  const longer = code.replace('#', '*1#')
  application(receiver, {
    '/short': ({ text }) => `END short ${text}`,
    '/long': ({ text }) => `END long ${text}`,
    '/three': ({ step }) => ({ message: `Screen ${step}`, end_session: Number(step) >= 3 }),
    '/on': ({ step }) => ({ message: `Screen ${step}` }),
  })
  await client.post('/v1/ussd/shortcodes', { shortcode: code, mode: 'text', url: receiver.url('/short') })
  await client.post('/v1/ussd/shortcodes', { shortcode: longer, mode: 'text', url: receiver.url('/long') })
  assert.equal((await dial(client, code)).body.message, 'short')
  assert.equal((await dial(client, code.replace('#', '*2*5#'))).body.message, 'short 2*5')
  const { body } = await dial(client, code.replace('#', '*1*4#'))
  assert.equal(body.message, 'long 4')
  const { body: session } = await client.get(`/v1/ussd/sessions/${body.session_id}`)
  assert.deepEqual([session.shortcode, session.history[0].input], [longer, '4'])
})

test('a long screen is cut into pages, which the application does not see being turned', async () => {
  const { client, shortcode } = await shop('/on', { pages: { more: 'Zaidi', back: 'Rudi' } })
  const { body } = await dial(client, shortcode)
  const { session_id } = body
  const message = 'ọjọ́ '.repeat(35).trim()
  const { body: shown } = await client.post('/v1/ussd/continue', { session_id, input: '1', message })
  assert.ok(shown.screen_pages > 1)
  const turned = await eventually(async () => {
    const reply = await type(client, session_id, '98')
    return reply.status === 200 && reply.body
  }, 'the second page')
  assert.match(turned.message, /0 Rudi/)
  assert.match((await type(client, session_id, '0')).body.message, /98 Zaidi$/)
  const { body: session } = await client.get(`/v1/ussd/sessions/${session_id}`)
  assert.deepEqual([session.total_steps, session.screen_pages], [2, shown.screen_pages])
  assert.equal((await type(client, session_id, '5')).body.message, 'Screen 3')
})
