// SPDX-License-Identifier: Apache-2.0
// Two nodes on one database, and sessions that one of them began: it is killed in the middle, and the other goes on with them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { atOnce } from '../at-once.ts'
import { eventually } from '../eventually.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { application } from '../ussd.ts'
import { type Installation, startInstallation } from './harness.ts'

let installation: Installation
let receiver: Receiver
before(async () => {
  installation = await startInstallation({ nodes: 2, database: 'shared' })
  receiver = await startReceiver()
  application(receiver, {
    '/well': ({ step }) => ({ message: `Screen ${step}`, end_session: Number(step) >= 3 }),
    '/later': () => '',
  })
})
after(async () => {
  await receiver.stop()
  await installation.stop()
})

test('a screen that is sent to one node reaches the gateway that waits at the other', async () => {
  const { key } = await installation.account()
  const [here, there] = [installation.client(0, key), installation.client(1, key)]
  const call = { session_id: 'g-0', phone: '+254711000030', shortcode: '*500#', type: 'initiation', input: null }
  const waiting = here.post('/v1/ussd/callback', call)
  const session_id = await eventually(
    async () => (await there.get('/v1/ussd/sessions')).body.data[0]?.session_id,
    'the session at the other node',
  )
  const next = await there.post('/v1/ussd/continue', { session_id, input: '-', message: 'From the other node' })
  assert.equal(next.status, 200, next.text)
  assert.equal((await waiting).body.message, 'From the other node')
})

test('a dial of a stored menu that reaches two nodes many times at once begins one session, and each step has one answer', async () => {
  const account = await installation.account()
  const [here, there] = [installation.client(0, account.key), installation.client(1, account.key)]
  const before = await installation.balance(account)
  const nodes = {
    home: { text: 'Welcome', options: [{ label: 'Loan', next: 'amount' }] },
    amount: { text: 'How much?', input: { save: 'amount' }, next: 'done' },
    done: { text: 'You asked for {{data.amount}}', end: true },
  }
  const { body: menu } = await here.post('/v1/ussd/menus', { name: 'Loans', start: 'home', nodes })
  const shortcode = '*509#'
  const made = await here.post('/v1/ussd/shortcodes', { shortcode, mode: 'menu', menu_id: menu.id })
  assert.equal(made.status, 201, made.text)
  const call = { session_id: 'g-2', phone: '+254711000032', shortcode }
  const everywhere = async (step: object) => {
    const answers = await atOnce(20, (i) => (i % 2 ? here : there).post('/v1/ussd/callback', { ...call, ...step }))
    const shown = answers.map(({ body }) => `${body.session_id} ${body.message_id} ${body.action} ${body.message}`)
    assert.equal(new Set(shown).size, 1, shown.join('; '))
    return answers[0]?.body
  }
  const first = await everywhere({ type: 'initiation', input: null })
  assert.deepEqual([first.action, first.message], ['continue', 'Welcome\n1 Loan'])
  assert.equal((await everywhere({ type: 'response', input: '1', step: 1 })).message, 'How much?')
  const last = await everywhere({ type: 'response', input: '70', step: 2 })
  assert.deepEqual([last.action, last.message], ['end', 'You asked for 70'])
  const { body: session } = await there.get(`/v1/ussd/sessions/${first.session_id}`)
  assert.deepEqual([session.status, session.total_steps, session.data], ['completed', 3, { amount: '70' }])
  assert.equal((await here.get('/v1/ussd/sessions')).body.data.length, 1)
  assert.equal(await installation.balance(account), before - 0.5)
  const events = async () =>
    (await here.get('/v1/events?limit=50')).body.data.map(({ event }: { event: string }) => event).sort()
  assert.deepEqual(
    (await events()).filter((event: string) => event.startsWith('ussd.')),
    ['ussd.response', 'ussd.response', 'ussd.response', 'ussd.session_ended', 'ussd.session_started'],
  )
})

test('a node is killed while a subscriber waits: the repeated call is answered by the other, and is charged once', async () => {
  const account = await installation.account()
  const [here, there] = [installation.client(1, account.key), installation.client(0, account.key)]
  const before = await installation.balance(account)
  const phone = '+254711000031'
  const call = { session_id: 'g-1', phone, shortcode: '*501#', type: 'initiation', input: null }
  // Its application does not answer: it goes on by itself, later.
  const lost = here.post('/v1/ussd/callback', call).catch(() => null)
  const session_id = await eventually(
    async () => (await there.get('/v1/ussd/sessions')).body.data[0]?.session_id,
    'the session to be stored',
  )
  await installation.killNode(1)
  await lost
  const again = there.post('/v1/ussd/callback', call)
  const next = await there.post('/v1/ussd/continue', { session_id, input: '-', message: 'Still here' })
  assert.equal(next.status, 200, next.text)
  const { body } = await again
  assert.deepEqual([body.session_id, body.message, body.action], [session_id, 'Still here', 'continue'])
  const over = await there.post(`/v1/ussd/sessions/${session_id}/end`, {})
  assert.deepEqual([over.body.status, over.body.cost], ['completed', 0.5])
  assert.equal(await installation.balance(account), before - 0.5)
  await installation.startNode(1)
})

test('a node that is stopped leaves what waits for an application time, and then to the other', async () => {
  const account = await installation.account()
  const [here, there] = [installation.client(1, account.key), installation.client(0, account.key)]
  for (const shortcode of ['*503#', '*504#'])
    await there.post('/v1/ussd/shortcodes', { shortcode, url: receiver.url('/later'), network_limit: 60 })
  const call = (session_id: string, phone: string, shortcode: string) => ({
    ...{ session_id, phone, shortcode, type: 'initiation', input: null },
  })
  const [soon, never] = [call('g-3', '+254711000033', '*503#'), call('g-4', '+254711000034', '*504#')]
  const waiting = [here.post('/v1/ussd/callback', soon), here.post('/v1/ussd/callback', never)]
  const sessions = await eventually(async () => {
    const { body } = await there.get('/v1/ussd/sessions')
    return body.data.length === 2 && body.data
  }, 'both sessions')
  const idOf = (code: string) => sessions.find(({ shortcode }: { shortcode: string }) => shortcode === code).session_id
  const stopped = installation.stopNode(1)
  await there.post('/v1/ussd/continue', { session_id: idOf('*503#'), input: '-', message: 'In time' })
  const [answered, cut] = await Promise.all(waiting)
  assert.equal(answered?.body.message, 'In time')
  assert.deepEqual([cut?.status, cut?.body.error.code], [503, 'PROVIDER_UNAVAILABLE'])
  assert.equal(await stopped, 0)
  const again = there.post('/v1/ussd/callback', never)
  await there.post('/v1/ussd/continue', { session_id: idOf('*504#'), input: '-', message: 'Still here' })
  assert.deepEqual([(await again).body.session_id, (await again).body.message], [idOf('*504#'), 'Still here'])
  await installation.startNode(1)
})

test('timers of a node that was killed still end its sessions', async () => {
  const { key } = await installation.account()
  const [here, there] = [installation.client(1, key), installation.client(0, key)]
  await there.post('/v1/ussd/shortcodes', { shortcode: '*502#', url: receiver.url('/well'), timeout: 30 })
  const call = { session_id: 'g-2', phone: '+254711000032', shortcode: '*502#', type: 'initiation', input: null }
  const { body } = await here.post('/v1/ussd/callback', call)
  assert.equal(body.message, 'Screen 1')
  await installation.killNode(1)
  const second = await there.post('/v1/ussd/callback', { ...call, type: 'response', input: '1', step: 1 })
  assert.equal(second.body.message, 'Screen 2')
  await there.post('/v1/sandbox/clock', { advance_seconds: 31 })
  const over = await eventually(async () => {
    const { body: session } = await there.get(`/v1/ussd/sessions/${body.session_id}`)
    return session.status === 'expired' && session
  }, 'the timer at the node that is left')
  assert.equal(over.reason, 'expired')
  await installation.startNode(1)
})
