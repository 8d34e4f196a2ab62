// SPDX-License-Identifier: Apache-2.0
// A charge that failed is told to the payer by text, at each step once; where that cannot be, nothing else is held up.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { uuidOf } from '../../src/kernel/ids.ts'
import { advance, advanceTo, becomes, dayS, nairobi, plan, subscriptions, toldTimes } from '../billing.ts'
import type { Client } from '../client.ts'
import { startMarket } from '../market.ts'
import { type Account, eventually, tenantOf } from '../world.ts'

const { world, sql } = await startMarket(0.05)

const payer = '+254711000001'
const byPhone = (phone: string) => ({ type: 'mobile_money', phone })

test('each charge that fails is told by text with the link, and the last says that it is over', async () => {
  const account = await selling()
  const { client } = account
  const id = await failing(client, { name: 'Asha', phone: payer })
  const { latest_invoice_id } = await becomes(client, id, ({ status }) => status === 'past_due')
  const bill = (await client.get(`/v1/billing/invoices/${latest_invoice_id}`)).body
  const head = `Ada: invoice ${bill.number}, KES 1500.00, could not be charged.`
  const expected: string[] = []
  for (const [failure, day] of [
    [1, '02'],
    [2, '04'],
    [3, '06'],
    [4, '08'],
  ] as const) {
    await toldTimes(client, 'invoice.payment_failed', failure)
    const { next_billing_at } = (await client.get(`${subscriptions}/${id}`)).body
    assert.equal(next_billing_at.slice(5, 10), `04-${day}`)
    const again = failure === 4 ? 'a last time' : 'again'
    expected.push(`${head} We try ${again} on ${next_billing_at.slice(0, 10)}. To pay now: ${bill.hosted_url}`)
    await texted(client, failure)
    await advanceTo(client, next_billing_at)
  }
  await becomes(client, id, ({ status }) => status === 'cancelled')
  expected.push(`${head} Your subscription has ended. To pay what is open: ${bill.hosted_url}`)
  const texts = await texted(client, 5)
  assert.deepEqual(
    texts.map(({ message }) => message),
    expected,
  )
  assert.deepEqual(
    [new Set(texts.map(({ to }) => to)), new Set(texts.map(({ from }) => from))],
    [new Set([payer]), new Set(['ACME'])],
  )
  // The job of a step that runs again, as after a crash, sends nothing more.
  await remindAgain(account, latest_invoice_id)
  assert.equal((await textsOf(client)).length, 5)
})

test('who is kept is told to pay, and who is not asked for a phone number is told at the phone that pays', async () => {
  const { client } = await selling({ dunning_days: [], dunning_end: 'keep_past_due' })
  await failing(client, { email: 'asha@example.com' })
  const [text] = await texted(client, 1)
  assert.equal(text?.to, '+254700000002')
  assert.match(text?.message ?? '', /could not be charged\. Please pay here: https:/)
})

test('where no text can be sent the rest goes its way', async () => {
  // Who opted out, and whose text the wallet cannot pay for.
  for (const phone of ['+254711000011', '+254711000010']) {
    const { client } = await selling()
    const id = await failing(client, { name: 'Asha', phone })
    const late = await becomes(client, id, ({ status }) => status === 'past_due')
    await eventually(async () => (await jobs(client)) === 0, 'the reminder to be done')
    await advanceTo(client, late.next_billing_at)
    await toldTimes(client, 'invoice.payment_failed', 2)
    assert.deepEqual(await textsOf(client), [])
  }
})

test('nobody is woken: a card that fails at night is told of in the morning, unless it was paid by then', async () => {
  for (const isPaid of [false, true]) {
    const { client } = await selling()
    const card = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '123' }
    const saved = await client.post('/v1/payments', { amount: 5, currency: 'KES', card, save_card: true })
    const { card_token } = saved.body
    await advance(client, 16 * 3_600)
    const made = await client.post(subscriptions, {
      plan_id: await plan(client),
      customer: { name: 'Asha', phone: payer },
      payment_method: { type: 'card', card_token },
    })
    const { subscription_id: id } = made.body
    const first = await becomes(client, id, ({ status }) => status === 'active')
    await client.delete(`/v1/payments/cards/${card_token}`)
    await advanceTo(client, first.current_period_end)
    const late = await becomes(client, id, ({ status }) => status === 'past_due')
    assert.deepEqual(await textsOf(client), [])
    if (isPaid) {
      await client.post(`/v1/billing/invoices/${late.latest_invoice_id}/pay`, { phone: '+254733000001' })
      await becomes(client, id, ({ status }) => status === 'active')
    }
    await advance(client, 6.1 * 3_600)
    if (isPaid) {
      await eventually(async () => (await jobs(client)) === 0, 'the reminder to be done')
      assert.deepEqual(await textsOf(client), [])
    } else await texted(client, 1)
  }
})

interface Text {
  to: string
  from: string
  message: string
}

/** The account whose tenant a client belongs to, for looking at its jobs. */
const accounts = new Map<Client, Account>()

async function selling(settings: object = {}): Promise<Account> {
  const account = await nairobi(world, 1_000)
  accounts.set(account.client, account)
  const { status, text } = await account.client.patch('/v1/account', {
    settings: { default_sender: 'ACME', ...settings },
  })
  assert.equal(status, 200, text)
  return account
}

/** A subscription whose first period was paid, and whose second could not be charged. */
async function failing(client: Client, customer: object): Promise<string> {
  const plan_id = await plan(client)
  const made = await client.post(subscriptions, { plan_id, customer, payment_method: byPhone('+254700000001') })
  assert.equal(made.status, 201, made.text)
  const { subscription_id: id } = made.body
  await becomes(client, id, ({ status }) => status === 'active')
  await client.patch(`${subscriptions}/${id}`, { payment_method: byPhone('+254700000002') })
  await advance(client, 31 * dayS)
  return id
}

/** Oldest first. */
async function textsOf(client: Client): Promise<Text[]> {
  return (await client.get('/v1/sms?order=asc&limit=100')).body.data
}

async function texted(client: Client, count: number): Promise<Text[]> {
  return eventually(async () => {
    const texts = await textsOf(client)
    return texts.length >= count && texts
  }, `text ${count}`)
}

async function jobs(client: Client): Promise<number> {
  const account = accounts.get(client)
  const { rows } = await sql.query(
    `select count(*)::int as waiting from work.jobs where account_id = $1 and lane = 'billing.remind'`,
    [account ? tenantOf(account).account : null],
  )
  return rows[0].waiting
}

async function remindAgain(account: Account, invoice: string): Promise<void> {
  const { bucket, account: id } = tenantOf(account)
  const payload = {
    invoice: uuidOf('invoice', invoice),
    phone: payer,
    failure: 5,
    nextTry: null,
    isLast: false,
    isOver: true,
  }
  await sql.query(
    `insert into work.jobs (bucket, id, lane, run_at, account_id, environment, attempt, payload)
     values ($1, gen_random_uuid(), 'billing.remind', now(), $2, 'test', 0, $3)`,
    [bucket, id, JSON.stringify(payload)],
  )
  await eventually(async () => (await jobs(account.client)) === 0, 'the reminder to be done')
}
