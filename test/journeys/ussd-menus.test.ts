// SPDX-License-Identifier: Apache-2.0
// Stored menus: they are checked, versioned, tried by a dry run, and answer subscribers by themselves.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startMarket } from '../market.ts'
import { application, dial, newCode, newPhone, type } from '../ussd.ts'
import { eventually } from '../world.ts'

const { world, receiver } = await startMarket(0.04)
application(receiver, {
  '/balance': ({ data }) => ({ data: { balance: Number(Object(data).account) * 10 } }),
  '/nowhere': () => 'garbage',
})

const loans = {
  name: 'Loans',
  languages: ['sw', 'en'],
  start: 'home',
  nodes: {
    home: {
      text: { sw: 'Karibu', en: 'Welcome' },
      options: [
        { label: { sw: 'Mkopo', en: 'Loan' }, next: 'amount' },
        { label: { sw: 'Salio', en: 'Balance' }, next: 'account' },
      ],
    },
    amount: {
      text: { sw: 'Kiasi?', en: 'How much?' },
      input: { save: 'amount', pattern: '^\\d+$', error: { sw: 'Nambari tu', en: 'Digits only' } },
      next: 'done',
    },
    done: { text: { sw: 'Umeomba {{data.amount}}', en: 'You asked for {{data.amount}}' }, end: true },
    account: { text: { sw: 'Akaunti?', en: 'Account?' }, input: { save: 'account' }, next: 'balance' },
    balance: { text: 'KES {{data.balance}}', fetch: { url: receiver.url('/balance') }, end: true },
  },
}

test('a stored menu answers a subscriber, in the language of the code, and asks the application at fetch nodes only', async () => {
  const { client } = await world.account({ balance: 10 })
  const { body: menu } = await client.post('/v1/ussd/menus', loans)
  assert.match(menu.id, /^usn_/)
  const shortcode = newCode()
  const made = await client.post('/v1/ussd/shortcodes', {
    shortcode,
    mode: 'menu',
    menu_id: menu.id,
    language_default: 'en',
  })
  assert.equal(made.status, 201, made.text)
  const { body: first } = await dial(client, shortcode)
  assert.deepEqual([first.message, first.action], ['Welcome\n1 Loan\n2 Balance', 'continue'])
  const { session_id } = first
  assert.equal(
    (await type(client, session_id, '7')).body.message,
    'Wrong choice. Try again.\nWelcome\n1 Loan\n2 Balance',
  )
  assert.equal((await type(client, session_id, '1')).body.message, 'How much?')
  assert.equal((await type(client, session_id, 'x')).body.message, 'Digits only\nHow much?')
  assert.equal((await type(client, session_id, '00')).body.message, 'Welcome\n1 Loan\n2 Balance')
  assert.equal((await type(client, session_id, '2')).body.message, 'Account?')
  const last = await type(client, session_id, '7')
  assert.deepEqual([last.body.message, last.body.action], ['KES 70', 'end'])
  const { body: session } = await client.get(`/v1/ussd/sessions/${session_id}`)
  assert.deepEqual([session.reason, session.data, session.language], ['completed', { account: '7', balance: 70 }, 'en'])
})

test('parts of the dialled code walk through the menu', async () => {
  const { client } = await world.account({ balance: 10 })
  const { body: menu } = await client.post('/v1/ussd/menus', loans)
  const shortcode = newCode()
  await client.post('/v1/ussd/shortcodes', { shortcode, mode: 'menu', menu_id: menu.id })
  const { body } = await dial(client, shortcode.replace('#', '*1*500#'))
  assert.deepEqual([body.message, body.action], ['Umeomba 500', 'end'])
})

test('each save is a version, and a session stays on the one that it began with', async () => {
  const { client } = await world.account({ balance: 10 })
  const { body: menu } = await client.post('/v1/ussd/menus', loans)
  const shortcode = newCode()
  await client.post('/v1/ussd/shortcodes', { shortcode, mode: 'menu', menu_id: menu.id })
  const { body: old } = await dial(client, shortcode)
  const other = { name: 'Closed', start: 'home', nodes: { home: { text: 'Closed', end: true } } }
  const { body: saved } = await client.request('PUT', `/v1/ussd/menus/${menu.id}`, { body: other })
  assert.deepEqual([saved.version, saved.name], [2, 'Closed'])
  assert.equal((await type(client, old.session_id, '1')).body.message, 'Kiasi?')
  assert.equal((await dial(client, shortcode)).body.message, 'Closed')
  const kept = await client.request('DELETE', `/v1/ussd/menus/${menu.id}`)
  assert.deepEqual([kept.status, kept.body.error.code], [409, 'CONFLICT'])
  await client.request('DELETE', `/v1/ussd/shortcodes/${encodeURIComponent(shortcode)}`)
  assert.equal((await client.request('DELETE', `/v1/ussd/menus/${menu.id}`)).status, 200)
})

test('a menu texts the subscriber and asks their phone to pay, once', async () => {
  const { client } = await world.account({ balance: 10 })
  const { body: menu } = await client.post('/v1/ussd/menus', {
    name: 'Airtime',
    start: 'amount',
    nodes: {
      amount: { text: 'How much?', input: { save: 'amount', pattern: '^\\d+$' }, next: 'done' },
      done: {
        text: 'Approve it on your phone',
        end: true,
        sms: { message: 'You asked for {{data.amount}}', from: 'ACME' },
        pay: { amount: '{{data.amount}}', currency: 'KES' },
      },
    },
  })
  const shortcode = newCode()
  const made = await client.post('/v1/ussd/shortcodes', { shortcode, mode: 'menu', menu_id: menu.id })
  assert.equal(made.status, 201, made.text)
  const phone = newPhone()
  const { body: begun } = await dial(client, shortcode, phone)
  assert.equal((await type(client, begun.session_id, '50')).body.message, 'Approve it on your phone')
  const payment = await eventually(async () => {
    const { body } = await client.get('/v1/payments/transactions')
    return body.data[0]
  }, 'the payment')
  assert.deepEqual([payment.amount, payment.currency, payment.phone.slice(-4)], [50, 'KES', phone.slice(-4)])
  assert.deepEqual(payment.metadata, { ussd_session: begun.session_id })
  const sent = (await client.get('/v1/sms')).body.data
  assert.deepEqual([sent.length, sent[0].to, sent[0].from], [1, phone, 'ACME'])
  assert.equal((await client.get('/v1/payments/transactions')).body.data.length, 1)
})

test('a dry run shows the screens, and stores and charges nothing', async () => {
  const { client } = await world.account()
  const { body: menu } = await client.post('/v1/ussd/menus', loans)
  const tried = await client.post(`/v1/ussd/menus/${menu.id}/test`, { inputs: ['1', '500'], language: 'en' })
  assert.deepEqual(
    [tried.body.screens, tried.body.action, tried.body.variables],
    [
      [
        { input: null, message: 'Welcome\n1 Loan\n2 Balance' },
        { input: '1', message: 'How much?' },
        { input: '500', message: 'You asked for 500' },
      ],
      'end',
      { amount: '500' },
    ],
  )
  assert.deepEqual((await client.get('/v1/ussd/sessions')).body.data, [])
})

const wrong: readonly (readonly [what: string, nodes: object, sentence: RegExp])[] = [
  ['a dead end', { home: { text: 'Hello' } }, /home is a dead end/],
  [
    'a screen that nothing leads to',
    { home: { text: 'Bye', end: true }, lost: { text: 'x', end: true } },
    /lost cannot be reached/,
  ],
  ['a screen that does not exist', { home: { text: 'x', options: [{ label: 'y', next: 'gone' }] } }, /leads to gone/],
  ['a screen without a text', { home: { end: true } }, /home has no text/],
  [
    'an end that leads on',
    { home: { text: 'x', end: true, options: [{ label: 'y', next: 'home' }] } },
    /ends and leads/,
  ],
  [
    'two options with one key',
    {
      home: {
        text: 'x',
        options: [
          { key: '1', label: 'a', next: 'home' },
          { key: '1', label: 'b', next: 'home' },
        ],
      },
    },
    /two options/,
  ],
  ['an input that leads nowhere', { home: { text: 'x', input: { save: 'a' } } }, /no next/],
  [
    'a pattern that could take for ever',
    { home: { text: 'x', input: { save: 'a', pattern: '(a+)+$' }, next: 'home' } },
    /pattern/,
  ],
  [
    'pay in the middle',
    { home: { text: 'x', options: [{ label: 'y', next: 'home' }], pay: { amount: 1, currency: 'KES' } } },
    /asks for a payment/,
  ],
  ['no start', { other: { text: 'x', end: true } }, /start names the screen home/],
]

test('a menu that cannot be run is refused, and the screens are named', async () => {
  const { client } = await world.account()
  for (const [what, nodes, sentence] of wrong) {
    const { status, body } = await client.post('/v1/ussd/menus', { name: 'x', start: 'home', nodes })
    assert.deepEqual([status, body.error?.code], [422, 'MENU_INVALID'], what)
    assert.match(body.error.details, sentence, what)
  }
  const untold = { home: { text: { sw: 'Kwaheri' }, end: true } }
  const { body } = await client.post('/v1/ussd/menus', {
    name: 'x',
    languages: ['sw', 'en'],
    start: 'home',
    nodes: untold,
  })
  assert.match(body.error.details, /home has no text in en/)
  assert.deepEqual((await client.get('/v1/ussd/menus')).body.data, [])
})

test('a fetch node that is told nothing ends the session with the code’s own words', async () => {
  const { client } = await world.account({ balance: 10 })
  const nodes = { home: { text: 'x', fetch: { url: receiver.url('/nowhere') }, end: true } }
  const { body: menu } = await client.post('/v1/ussd/menus', { name: 'x', start: 'home', nodes })
  const shortcode = newCode()
  await client.post('/v1/ussd/shortcodes', { shortcode, mode: 'menu', menu_id: menu.id, error_message: 'Samahani' })
  const { body } = await dial(client, shortcode, newPhone())
  assert.deepEqual([body.message, body.action], ['Samahani', 'end'])
  const { body: session } = await client.get(`/v1/ussd/sessions/${body.session_id}`)
  assert.deepEqual([session.status, session.reason], ['expired', 'app_error'])
})
