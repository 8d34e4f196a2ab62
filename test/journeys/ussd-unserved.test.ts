// SPDX-License-Identifier: Apache-2.0
// Pushes over a gateway that no node serves: refused, or free of charge where that was not known in time. This installation
// speaks to no network; what the database says of the gateway is what a node left that died.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { advance, pushShown } from '../../src/areas/ussd/advance.ts'
import { takeUssd } from '../../src/areas/ussd/intake.ts'
import { dialogNumber } from '../../src/areas/ussd/network/dialogs.ts'
import { namedSession } from '../../src/areas/ussd/store.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { statement } from '../../src/platform/db.ts'
import type { Tenant } from '../../src/platform/tenant.ts'
import type { Client } from '../client.ts'
import { eventually } from '../eventually.ts'
import { lookInto } from '../looking.ts'
import { priceLive } from '../texting.ts'
import { ended, newCode, newPhone } from '../ussd.ts'
import { startWorld, tenantOf } from '../world.ts'

const world = await startWorld({ PAMOJA_ROLES: ['api', 'dispatch', 'webhooks', 'timers'] })
const sql = lookInto(world)
await sql.connect()
after(async () => {
  const { problems } = await verifyLedger(world.app.db)
  await sql.end()
  await world.stop()
  assert.deepEqual(problems, [])
})

before(async () => {
  const gateway = { name: 'network', host: '127.0.0.1', port: 1, system_id: 'network', password: 'secret' }
  assert.equal((await world.operator.post('/v1/operator/ussd/smpp-gateways', gateway)).status, 201)
  await sql.query(`update ussd.smpp_gateways set is_up = true where name = 'network'`)
  await priceLive(world, { area: 'ussd', unit: 'session', amount: 0.5 })
})

/** A node has the gateway, and says nothing. */
async function holdGateway(): Promise<void> {
  await sql.query(
    `insert into platform.leases (name, owner, epoch, expires_at)
     values ('ussd.gateway:network', $1, 1, now() + interval '1 hour') on conflict do nothing`,
    [newUuid(Date.now())],
  )
}

const balance = async (live: Client) => (await live.get('/v1/wallet/balance')).body.balances[0].balance

async function shop(): Promise<{ live: Client; shortcode: string; tenant: Tenant }> {
  const { client, id } = await world.account()
  const credit = { amount: 10, currency: 'KES', environment: 'live', reference: `live-${id}` }
  assert.ok((await world.operator.post(`/v1/operator/accounts/${id}/credit`, credit)).status < 300)
  const { body: key } = await client.post('/v1/api-keys', { name: 'live', environment: 'live' })
  const shortcode = newCode()
  await world.operator.post('/v1/operator/ussd/shortcodes', { account_id: id, shortcode })
  const live = world.stranger.as(key.key)
  const made = await live.post('/v1/ussd/shortcodes', { shortcode, mode: 'webhook', url: 'https://shop.example/ussd' })
  assert.equal(made.status, 201, made.text)
  return { live, shortcode, tenant: { ...tenantOf({ id }), environment: 'live' } }
}

test('a push is refused when the node that had the gateway open is gone, whatever it said last', async () => {
  const { live, shortcode } = await shop()
  const refused = await live.post('/v1/ussd/send', { phone: newPhone(), shortcode, message: 'Hello', session_id: 'a' })
  assert.deepEqual([refused.status, refused.body.error?.code], [503, 'PROVIDER_UNAVAILABLE'])
  assert.equal(await balance(live), 10)
})

test('a push that is ended or replaced before any network has shown it costs nothing; a notice on its way stays', async () => {
  const { live, shortcode } = await shop()
  await holdGateway()
  const [phone, other] = [newPhone(), newPhone()]
  const send = async (session_id: string, more: object) => {
    const pushed = await live.post('/v1/ussd/send', { phone, shortcode, message: 'Hello', session_id, ...more })
    assert.equal(pushed.status, 200, pushed.text)
  }
  await send('c', {})
  await send('d', {})
  const replaced = (await live.get('/v1/ussd/sessions/c')).body
  assert.deepEqual([replaced.status, replaced.reason, replaced.cost], ['completed', 'replaced', 0])
  const { body: over } = await live.post('/v1/ussd/sessions/d/end', {})
  assert.deepEqual([over.status, over.reason, over.cost], ['completed', 'completed', 0])
  assert.equal(await balance(live), 10)

  await send('e', { phone: other, end_session: true })
  await send('f', { phone: other })
  const { body: notice } = await live.post('/v1/ussd/sessions/e/end', {})
  assert.deepEqual([notice.status, notice.ended_at, notice.cost], ['initiated', null, 0.5], 'it may be on the screen')
  // What a network is known to have shown is paid for, whoever ends it.
  await sql.query(`update ussd.sessions set shown_at = now() where session_id = 'f'`)
  const { body: seen } = await live.post('/v1/ussd/sessions/f/end', {})
  assert.deepEqual([seen.status, seen.cost], ['completed', 0.5])
  assert.equal(await balance(live), 9.5)
})

test('a push that is ended or replaced while the network has not answered is paid for once it has taken it', async () => {
  const { live, shortcode, tenant } = await shop()
  const phone = newPhone()
  const pushed = async (session_id: string) => {
    const reply = await live.post('/v1/ussd/send', { phone, shortcode, message: 'Hello', session_id })
    assert.equal(reply.status, 200, reply.text)
    return (await namedSession(world.app, world.app.db, tenant, session_id)) ?? assert.fail()
  }
  const costOf = async (id: string) => (await live.get(`/v1/ussd/sessions/${id}`)).body.cost
  const first = await pushed('g')
  const second = await pushed('h')
  await live.post('/v1/ussd/sessions/h/end', {})
  assert.deepEqual([await costOf('g'), await costOf('h'), await balance(live)], [0, 0, 10])
  for (const session of [first, first, second]) await pushShown(world.app, session)
  assert.deepEqual([await costOf('g'), await costOf('h'), await balance(live)], [0.5, 0.5, 9])

  // The network shows it after it was read and before it is ended.
  const third = await pushed('i')
  await pushShown(world.app, third)
  const move = { kind: 'end', status: 'completed', reason: 'replaced' } as const
  assert.equal(await advance(world.app, third, move), null, 'it does not end free of charge')
  await pushed('j')
  assert.deepEqual([await costOf('i'), await balance(live)], [0.5, 8.5], 'what replaces it looks again')
})

test('a push that the network shows and closes at the same moment is over, and paid for', async () => {
  const { live, shortcode, tenant } = await shop()
  await holdGateway()
  const phone = newPhone()
  await live.post('/v1/ussd/send', { phone, shortcode, message: 'Hello', session_id: 'k' })
  const { gateway, dialog } = (await namedSession(world.app, world.app.db, tenant, 'k')) ?? assert.fail()
  await sql.query('begin')
  await sql.query(`update ussd.sessions set shown_at = now() where session_id = 'k'`)
  const closed = { op: 'released', dialog: dialogNumber(dialog), sequence: null, phone, code: '', text: '' } as const
  const taken = takeUssd(world.app, gateway, closed)
  const isWaiting = async () =>
    (await world.app.db.query(waitingForRows, {})).some(({ query }) => query.includes('ussd.advance'))
  await eventually(isWaiting, 'the end to wait for what is being noted')
  await sql.query('commit')
  await taken
  const { body } = await live.get('/v1/ussd/sessions/k')
  assert.deepEqual([body.status, body.reason, body.cost], ['completed', 'network_released', 0.5])
  assert.equal(await balance(live), 9.5)
})

const waitingForRows = statement.everywhere<object, { query: string }>(
  'test.waiting_for_rows',
  `select query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
)

test('a push that reaches no handset ends as undeliverable, and costs nothing', async () => {
  const { live, shortcode } = await shop()
  await holdGateway()
  const pushed = await live.post('/v1/ussd/send', { phone: newPhone(), shortcode, message: 'Hello', session_id: 'b' })
  assert.equal(pushed.status, 200, pushed.text)
  // Its time is over, without waiting for it.
  await sql.query(`update ussd.sessions set expires_at = now() where session_id = 'b'`)
  await sql.query(`update work.jobs set run_at = now() where lane = 'ussd.expire' and owner is null`)
  const session = await ended(live, 'b')
  assert.deepEqual([session.status, session.reason, session.cost], ['expired', 'undeliverable', 0])
  assert.equal(await balance(live), 10)
})
