// SPDX-License-Identifier: Apache-2.0
// An account that is suspended while something of it is under way: nothing new goes out, what others already have ends as it
// would have, what comes in is stored and told, and what waited goes on when the account is active again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bring } from '../../src/areas/sms/sandbox/bring.ts'
import { rechargeAll } from '../../src/areas/wallet/auto-recharge.ts'
import { topup } from '../../src/areas/wallet/topup.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { startMarket } from '../market.ts'
import { over, wallet } from '../paying.ts'
import { balance, ended, statusOf } from '../texting.ts'
import { type Account, eventually, tenantOf } from '../world.ts'

const { world, sql, receiver } = await startMarket(1)

test('a payout whose time comes waits, and is paid when the account is active again', async () => {
  const account = await world.account({ balance: 5_000 })
  const { client } = account
  const scheduled_at = inAnHour()
  const { body } = await client.post('/v1/payouts', { ...payoutTo('0001'), scheduled_at })
  await suspend(account)
  await sql.query('update payments.payouts set due_at = now() where id = $1', [uuidOf('payout', body.payout_id)])
  await fallDue(account, 'payments.payout')
  await putOff(account, 'payments.payout')
  assert.deepEqual(await payoutNow(body.payout_id), { status: 'pending', state: 'planned', tries: 0 })
  await activate(account)
  assert.deepEqual(await wallet(client), { balance: 5_000, held: 1_005 })
  await fallDue(account, 'payments.payout')
  assert.equal((await over(client, body.payout_id)).status, 'completed')
  assert.deepEqual(await wallet(client), { balance: 3_995, held: 0 })
})

test('a payout and a payment that a provider was asked for end as they would have, and are told', async () => {
  const account = await world.account({ balance: 5_000 })
  const { client } = account
  await client.post('/v1/webhooks', {
    url: receiver.url('/under-way'),
    events: ['payout.completed', 'payment.completed'],
  })
  const { body: out } = await client.post('/v1/payouts', payoutTo('0001'))
  const wanted = { amount: 700, currency: 'KES', phone: '+254700000001' }
  const { body: asked } = await client.post('/v1/payments', wanted)
  assert.deepEqual([out.status, asked.status], ['processing', 'processing'])
  await suspend(account)
  const told = [await receiver.next('/under-way'), await receiver.next('/under-way')].map((each) =>
    JSON.parse(each.body),
  )
  assert.deepEqual(told.map(({ event }) => event).sort(), ['payment.completed', 'payout.completed'])
})

test('payouts of a batch that the provider did not take yet wait', async () => {
  const account = await world.account({ balance: 5_000 })
  const items = ['0007', '0012'].map((ending) => ({ amount: 1_000, phone: `+25470000${ending}` }))
  const { status, text } = await account.client.post('/v1/payments/payout/bulk', { currency: 'KES', items })
  assert.equal(status, 201, text)
  const tried = async () => {
    const { rows } = await sql.query('select sum(tries)::int as tries from payments.payouts where account_id = $1', [
      uuid(account),
    ])
    return rows[0].tries
  }
  await eventually(async () => (await tried()) === 2, 'the first tries')
  await suspend(account)
  await waiting(account, 'payments.payouts_of_batch')
  await fallDue(account, 'payments.payouts_of_batch')
  await putOff(account, 'payments.payouts_of_batch')
  assert.equal(await tried(), 2)
  await activate(account)
  await fallDue(account, 'payments.payouts_of_batch')
  await eventually(async () => (await tried()) === 4, 'the next tries')
})

test('a payout that got lost on its way is not sent again until the account is active', async () => {
  const account = await world.account({ balance: 5_000 })
  const { client } = account
  const { body } = await client.post('/v1/payouts', payoutTo('0016'))
  await eventually(async () => (await payoutNow(body.payout_id)).state === 'unknown', 'the doubt')
  await suspend(account)
  await sql.query('update payments.payouts set lost = true, missed_at = now() where id = $1', [
    uuidOf('payout', body.payout_id),
  ])
  const looks = await attemptOf(account)
  await fallDue(account, 'payments.payout')
  await eventually(async () => (await attemptOf(account)) > looks, 'the next look')
  await waiting(account, 'payments.payout')
  assert.deepEqual(await payoutNow(body.payout_id), { status: 'processing', state: 'unknown', tries: 0 })
  await activate(account)
  await fallDue(account, 'payments.payout')
  assert.equal((await over(client, body.payout_id)).status, 'completed')
})

test('texts whose time comes wait, and go out when the account is active again', async () => {
  const account = await world.account({ balance: 10 })
  const { client } = account
  const common = { from: 'PAMOJA', message: 'Habari', scheduled_at: inAnHour() }
  const ids: string[] = []
  for (const to of ['+254711000001', '+254711000021']) {
    const { status, body, text } = await client.post('/v1/sms/send', { ...common, to })
    assert.equal(status, 200, text)
    ids.push(body.message_id)
  }
  await suspend(account)
  await fallDue(account, 'sms.submit')
  await putOff(account, 'sms.submit')
  await activate(account)
  for (const id of ids) assert.equal(await statusOf(account, id), 'queued')
  await fallDue(account, 'sms.submit')
  for (const id of ids) assert.equal((await ended(account, id)).status, 'delivered')
})

test('a text that waits until its time is over fails, and its money comes back', async () => {
  const account = await world.account({ balance: 10 })
  const wish = { to: '+254711000001', from: 'PAMOJA', message: 'Habari', scheduled_at: inAnHour() }
  const { body } = await account.client.post('/v1/sms/send', wish)
  await suspend(account)
  await fallDue(account, 'sms.submit')
  await putOff(account, 'sms.submit')
  await sql.query(`update sms.messages set scheduled_at = now() - interval '30 days' where id = $1`, [
    uuidOf('sms', body.message_id),
  ])
  await fallDue(account, 'sms.submit')
  await eventually(async () => {
    const { rows } = await sql.query('select status from sms.messages where id = $1', [uuidOf('sms', body.message_id)])
    return rows[0].status === 'failed'
  }, 'its end')
  await activate(account)
  const { status, error_code } = await ended(account, body.message_id)
  assert.deepEqual([status, error_code, await balance(account)], ['failed', 'EXPIRED', 10])
})

test('a wallet that fills itself asks nobody until the account is active again', async () => {
  const account = await world.account({ balance: 10 })
  const { client } = account
  const rule = { enabled: true, threshold: 500, amount: 1_000, phone: '+254700000001' }
  assert.equal((await client.post('/v1/wallet/auto-recharge', rule)).status, 200)
  const topups = async () => (await client.get('/v1/payments/transactions?type=topup')).body.data
  await suspend(account)
  await rechargeAll(world.app, topup)
  await activate(account)
  assert.deepEqual(await topups(), [])
  await rechargeAll(world.app, topup)
  assert.equal((await topups()).length, 1)
})

test('a text that comes in is stored and told, and nothing answers it', async () => {
  const account = await world.account({ balance: 10 })
  const { client } = account
  const url = receiver.url('/came-in')
  const { body: hook } = await client.post('/v1/webhooks', { url, events: ['sms.received'] })
  const keywords = [{ keyword: 'JOIN', auto_reply: 'Karibu!' }]
  assert.equal((await client.post('/v1/sms/numbers', { number: '22142', keywords })).status, 201)
  receiver.answer((_request, response) => void response.end(JSON.stringify({ reply: 'Asante!' })))
  await suspend(account)
  await bring(world.app, tenantOf(account), 0, { from: '+254711222333', to: '22142', text: 'Join' })
  assert.equal(JSON.parse((await receiver.next('/came-in')).body).message, 'Join')
  await eventually(async () => {
    const { rows } = await sql.query('select status from webhooks.deliveries where account_id = $1', [uuid(account)])
    return rows[0].status === 'delivered'
  }, 'the end of its delivery')
  await activate(account)
  const [delivery] = (await client.get(`/v1/webhooks/${hook.id}/deliveries`)).body.data
  const { body: told } = await client.get(`/v1/webhooks/${hook.id}/deliveries/${delivery.id}`)
  assert.match(told.attempts_log[0].reason, /The reply was not sent: the account is suspended/)
  assert.equal((await client.get('/v1/sms?direction=inbound')).body.data[0].message, 'Join')
  assert.deepEqual((await client.get('/v1/sms?direction=outbound')).body.data, [])
  assert.equal(await balance(account), 10)
})

function payoutTo(ending: string) {
  return { amount: 1_000, currency: 'KES', phone: `+25470000${ending}` }
}

function inAnHour(): string {
  return new Date(Date.now() + 3_600_000).toISOString()
}

function uuid({ id }: Account): string | null {
  return uuidOf('account', id)
}

async function suspend({ id }: Account): Promise<void> {
  const { status } = await world.operator.patch(`/v1/operator/accounts/${id}`, { status: 'suspended' })
  assert.equal(status, 200)
}

async function activate({ id }: Account): Promise<void> {
  const { status } = await world.operator.patch(`/v1/operator/accounts/${id}`, { status: 'active' })
  assert.equal(status, 200)
}

/** Whatever of the account waits in a lane has waited long enough. */
async function fallDue(account: Account, lane: string): Promise<void> {
  const { rowCount } = await sql.query('update work.jobs set run_at = now() where account_id = $1 and lane = $2', [
    uuid(account),
    lane,
  ])
  assert.ok(rowCount, `nothing waits in ${lane}`)
}

/** Waits until whatever of the account is in a lane was looked at, and is to be looked at again much later. */
async function putOff(account: Account, lane: string): Promise<void> {
  await eventually(async () => {
    const { rows } = await sql.query(
      `select run_at > now() + interval '1 minute' as late from work.jobs where account_id = $1 and lane = $2`,
      [uuid(account), lane],
    )
    return rows.length > 0 && rows.every(({ late }) => late)
  }, `${lane} to be put off`)
}

/** Waits until nobody has what is in a lane. */
async function waiting(account: Account, lane: string): Promise<void> {
  await eventually(async () => {
    const { rows } = await sql.query('select owner from work.jobs where account_id = $1 and lane = $2', [
      uuid(account),
      lane,
    ])
    return rows.length > 0 && rows.every(({ owner }) => owner === null)
  }, `${lane} to wait`)
}

async function attemptOf(account: Account): Promise<number> {
  const { rows } = await sql.query(`select attempt from work.jobs where account_id = $1 and lane = 'payments.payout'`, [
    uuid(account),
  ])
  return rows[0].attempt
}

async function payoutNow(id: string): Promise<{ status: string; state: string; tries: number }> {
  const { rows } = await sql.query('select status, state, tries from payments.payouts where id = $1', [
    uuidOf('payout', id),
  ])
  return rows[0]
}
