// SPDX-License-Identifier: Apache-2.0
// Two who are at the money of one customer at once. Whoever bills a subscription has it and goes on to what the customer has
// in hand; so nobody may have that and wait for the subscription.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { uuidOf } from '../../src/kernel/ids.ts'
import { nairobi, plan, subscriptions, toldTimes } from '../billing.ts'
import type { Client } from '../client.ts'
import { startMarket } from '../market.ts'
import { settled } from '../paying.ts'
import { eventually } from '../world.ts'

const { world, sql } = await startMarket(0.02)

const invoices = '/v1/billing/invoices'
const who = { name: 'Asha', email: 'asha@example.com' }

test('money that pays a bill and is more than that leaves the credit to others while it waits for the subscription', async () => {
  const { client, subscription, bill, customer } = await subscribed()
  await meanwhile(subscription, customer, async () => {
    for (const payment of await asked(client, bill, 1_000)) await settled(client, payment)
  })
  const { status, amount_paid } = (await client.get(`${invoices}/${bill}`)).body
  assert.deepEqual([status, amount_paid], ['paid', 1_500])
  assert.equal(await inHand(client, customer), 600)
})

test('so does money that is given back', async () => {
  const { client, subscription, bill, customer } = await subscribed()
  const made = await client.post(`${invoices}/${bill}/pay?wait=0`, { phone: '+254700300001' })
  await settled(client, made.body.payment_id)
  const refunded = async () => (await client.get(`${invoices}/${bill}`)).body.amount_refunded
  await meanwhile(subscription, customer, async () => {
    const { status, text } = await client.post(`/v1/payments/${made.body.payment_id}/refund`, { amount: 400 })
    assert.ok(status < 300, text)
    await eventually(async () => (await refunded()) === 400, 'the money to be back')
  })
  assert.equal(await inHand(client, customer), 100)
})

test('a bill of your own that credit pays waits for no subscription', async () => {
  const { client, subscription, customer } = await subscribed()
  await held(subscription, async () => {
    const made = await ownBill(client, 40, { subscription_id: subscription })
    assert.deepEqual([made.status, made.credit_applied, made.subscription_id], ['paid', 40, subscription])
  })
  assert.equal(await inHand(client, customer), 60)
})

test('money that comes while the clock is moved waits for that, and leaves the jobs to whoever moves it', async () => {
  const { client, id } = await nairobi(world)
  const account = uuidOf('account', id)
  const payment_method = { type: 'mobile_money', phone: '+254700300002' }
  const made = await client.post(subscriptions, { plan_id: await plan(client), customer: who, payment_method })
  const { latest_invoice_id: bill } = made.body
  await toldTimes(client, 'invoice.payment_failed', 1)
  let paying = Promise.resolve({ status: 0 })
  await sql.query('begin')
  try {
    for (const table of ['sandbox_clocks', 'held_clocks'])
      await sql.query(`select from accounts.${table} where account_id = $1 for update`, [account])
    paying = client.post(`${invoices}/${bill}/pay?wait=0`, { phone: '+254700300001' })
    await somebodyWaits('the clock')
    const jobs = `select from work.jobs where account_id = $1 and lane = 'payments.watch' for update nowait`
    assert.equal((await sql.query(jobs, [account])).rows.length, 1)
  } finally {
    await sql.query('commit')
  }
  assert.equal((await paying).status, 201)
  await eventually(async () => (await client.get(`${invoices}/${bill}`)).body.status === 'paid', 'the money')
})

/** A subscription with a bill over 1,500, of somebody who has 100 in hand. */
async function subscribed() {
  const { client } = await nairobi(world)
  const made = await client.post(subscriptions, { plan_id: await plan(client), customer: who })
  assert.equal(made.status, 201, made.text)
  const { subscription_id: subscription, latest_invoice_id: bill, customer } = made.body
  const { invoice_id } = await ownBill(client, 100)
  for (const payment of await asked(client, invoice_id, 100)) await settled(client, payment)
  const { customer_id } = customer
  assert.equal(await inHand(client, customer_id), 100)
  return { client, subscription, bill, customer: customer_id }
}

/** While somebody else has the subscription, and something waits for that, the credit can be had. */
async function meanwhile(subscription: string, customer: string, act: () => Promise<void>): Promise<void> {
  let acting = Promise.resolve()
  await held(subscription, async () => {
    acting = act()
    await somebodyWaits('the subscription')
    const taken = 'select from billing.credits where customer_id = $1 for update nowait'
    assert.equal((await sql.query(taken, [uuidOf('customer', customer)])).rows.length, 1)
  })
  await acting
}

async function somebodyWaits(what: string): Promise<void> {
  const waiting = 'select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))'
  await eventually(async () => (await sql.query(waiting)).rows.length > 0, `somebody to wait for ${what}`)
}

async function held(subscription: string, act: () => Promise<void>): Promise<void> {
  await sql.query('begin')
  try {
    await sql.query('select from billing.subscriptions where id = $1 for update', [
      uuidOf('subscription', subscription),
    ])
    await act()
  } finally {
    await sql.query('commit')
  }
}

/** Two payers who are asked for so much before either has paid. */
async function asked(client: Client, invoice: string, amount: number): Promise<string[]> {
  const both = await Promise.all(
    ['+254700100001', '+254700200001'].map((phone) =>
      client.post(`${invoices}/${invoice}/pay?wait=0`, { phone, amount }),
    ),
  )
  return both.map(({ status, body, text }) => {
    assert.equal(status, 201, text)
    return body.payment_id
  })
}

async function ownBill(client: Client, unit_amount: number, more: object = {}) {
  const items = [{ description: 'A visit', unit_amount }]
  const { status, body, text } = await client.post(invoices, {
    customer: who,
    currency: 'KES',
    items,
    send: true,
    ...more,
  })
  assert.equal(status, 201, text)
  return body
}

async function inHand(client: Client, customer: string): Promise<number | undefined> {
  return (await client.get(`/v1/billing/customers/${customer}`)).body.credits[0]?.amount
}
