// SPDX-License-Identifier: Apache-2.0
// Subscriptions from the first bill to the last, by the clock of a test account that is moved: every state, every way into
// it and out of it, and what is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { step } from '../../src/areas/billing/subscriptions/renew.ts'
import { bucketOf, uuidOf } from '../../src/kernel/ids.ts'
import { suspendedMs } from '../../src/platform/work/suspended.ts'
import { nextMarchMs, payUp } from '../billing.ts'
import { type Client, refusal } from '../client.ts'
import { moveClockAlone } from '../looking.ts'
import { startMarket } from '../market.ts'
import { runs } from '../properties.ts'
import { type Account, eventually } from '../world.ts'

const { world, sql } = await startMarket(0.05)

const path = '/v1/billing/subscriptions'
const customer = { name: 'Asha', email: 'asha@example.com' }
const hourS = 3_600
const dayS = 24 * hourS
const byPhone = (ending = '0001') => ({ type: 'mobile_money', phone: `+25470000${ending}` })

/** An account in Nairobi where it is ten in the morning of the first of next March. */
async function account(balance = 0): Promise<Account> {
  const made = await world.account({ balance })
  await made.client.patch('/v1/account', { timezone: 'Africa/Nairobi' })
  const nowMs = (await timeOf(made.client)).getTime()
  await advance(made.client, (nextMarchMs(nowMs) - nowMs) / 1_000)
  return made
}

test('a customer who pays by invoice is active at once, and gets one for every period', async () => {
  const { client } = await account()
  const { plan_id } = await plan(client, { tax_rate: 16, setup_fee: 100 })
  const made = await client.post(path, { plan_id, customer, quantity: 2, reference: 'sub-1', metadata: { seat: 'a' } })
  assert.equal(made.status, 201, made.text)
  const first = made.body
  assert.equal(made.headers.location, `/api${path}/${first.subscription_id}`)
  assert.match(first.subscription_id, /^sub_[0-9a-z]{26}$/)
  assert.match(first.customer.customer_id, /^cus_/)
  const year = first.created_at.slice(0, 4)
  assert.deepEqual(
    [first.status, first.plan_id, first.quantity, first.amount, first.currency, first.billing_anchor, first.cycles],
    ['active', plan_id, 2, 3000, 'KES', `${year}-03-01`, 1],
  )
  assert.deepEqual(first.payment_method, { type: 'invoice', phone: null, provider: null, card_token: null })
  assert.equal(first.current_period_end.slice(0, 10), `${year}-04-01`)
  assert.equal(first.next_billing_at, first.current_period_end)
  const bill = await invoice(client, first.latest_invoice_id)
  assert.deepEqual([bill.status, bill.total, bill.subscription_id], ['open', 3596, first.subscription_id])
  assert.deepEqual(
    bill.items.map(({ quantity, unit_amount, tax }: Item) => [quantity, unit_amount, tax]),
    [
      [2, 1500, 480],
      [1, 100, 16],
    ],
  )
  assert.equal(bill.sent_at, null)
  assert.deepEqual(await events(client), ['invoice.opened', 'subscription.created'])
  await advance(client, 31 * dayS)
  const second = await becomes(client, first, ({ cycles }) => cycles === 2)
  assert.deepEqual(
    [second.status, second.current_period_start, second.current_period_end.slice(0, 10)],
    ['active', first.current_period_end, `${year}-05-01`],
  )
  assert.notEqual(second.latest_invoice_id, first.latest_invoice_id)
  const next = await invoice(client, second.latest_invoice_id)
  assert.deepEqual([next.total, next.items.length], [3480, 1])
  assert.match(next.items[0].description, new RegExp(`${year}-04-01 to ${year}-05-01`))
  await client.post(`/v1/billing/invoices/${next.invoice_id}/pay`, { phone: '+254700000001' })
  await told(client, 'subscription.renewed')
  assert.deepEqual((await client.get(`${path}/${first.subscription_id}`)).body.status, 'active')
  const listed = async (query: string) => (await client.get(`${path}?${query}`)).body.data.length
  for (const [query, count] of [
    ['status=active', 1],
    ['status=paused', 0],
    [`plan_id=${plan_id}`, 1],
    ['plan_id=plan_x', 0],
    [`customer_id=${first.customer.customer_id}`, 1],
    ['reference=sub-1', 1],
    ['reference=sub-2', 0],
    ['end_date=2020-01-01', 0],
  ] as const)
    assert.equal(await listed(query), count, query)
})

test('a payer’s phone is asked at once: incomplete until it is paid, and then every month', async () => {
  const { client } = await account()
  const { plan_id } = await plan(client)
  const { body: made } = await client.post(path, { plan_id, customer, payment_method: byPhone() })
  assert.deepEqual([made.status, made.next_billing_at], ['incomplete', null])
  const active = await becomes(client, made, ({ status }) => status === 'active')
  assert.equal((await invoice(client, made.latest_invoice_id)).status, 'paid')
  assert.equal(await balance(client), 1477.5)
  await advance(client, 31 * dayS)
  const renewed = await becomes(client, active, ({ cycles }) => cycles === 2)
  const payload = await told(client, 'subscription.renewed')
  assert.deepEqual(
    [payload.subscription_id, payload.status, payload.subscription.cycles],
    [made.subscription_id, 'active', 2],
  )
  assert.equal((await invoice(client, renewed.latest_invoice_id)).status, 'paid')
  assert.equal(await balance(client), 2955)
  assert.deepEqual(
    (await events(client)).filter((name) => !name.startsWith('payment.')),
    ['subscription.created', 'invoice.payment_succeeded', 'invoice.payment_succeeded', 'subscription.renewed'],
  )
})

test('who does not pay within 23 hours never subscribed', async () => {
  const { client } = await account()
  const { plan_id } = await plan(client)
  const { body: made } = await client.post(path, { plan_id, customer, payment_method: byPhone('0002') })
  await told(client, 'invoice.payment_failed')
  await advance(client, 22.9 * hourS)
  assert.equal((await client.get(`${path}/${made.subscription_id}`)).body.status, 'incomplete')
  await advance(client, 0.2 * hourS)
  const over = await becomes(client, made, ({ status }) => status === 'cancelled')
  assert.equal(over.cancel_reason, 'incomplete')
  assert.equal((await invoice(client, made.latest_invoice_id)).status, 'void')
  // Another way to pay in time would have helped.
  const { body: other } = await client.post(path, { plan_id, customer, payment_method: byPhone('0002') })
  await eventually(async () => (await tells(client, 'invoice.payment_failed')).length === 2, 'the refusal')
  await client.patch(`${path}/${other.subscription_id}`, { payment_method: byPhone() })
  await becomes(client, other, ({ status }) => status === 'active')
})

test('a trial costs nothing, is told to end, and is billed when it does', async () => {
  const { client } = await account()
  const { plan_id } = await plan(client, { trial_days: 14, setup_fee: 500 })
  const { body: made } = await client.post(path, { plan_id, customer, payment_method: byPhone() })
  assert.deepEqual([made.status, made.latest_invoice_id, made.cycles], ['trialing', null, 0])
  assert.deepEqual([made.trial_end, made.next_billing_at], [made.current_period_end, made.current_period_end])
  assert.equal(Date.parse(made.trial_end) - Date.parse(made.current_period_start), 14 * dayS * 1_000)
  await advance(client, 10.9 * dayS)
  assert.deepEqual(await tells(client, 'subscription.trial_ending'), [])
  await advance(client, 0.2 * dayS)
  assert.equal((await told(client, 'subscription.trial_ending')).status, 'trialing')
  await advance(client, 2.9 * dayS)
  const active = await becomes(client, made, ({ status }) => status === 'active')
  assert.deepEqual([active.cycles, active.current_period_start], [1, made.trial_end])
  await eventually(async () => (await balance(client)) === 1970, 'the first money')
  assert.equal((await tells(client, 'subscription.trial_ending')).length, 1)
  const { body: none } = await client.post(path, { plan_id, customer, trial_days: 0 })
  assert.deepEqual([none.status, none.trial_end], ['active', null])
  const start_date = new Date((await timeOf(client)).getTime() + 5 * dayS * 1_000).toISOString().slice(0, 10)
  const { body: later } = await client.post(path, { plan_id, customer, trial_days: 0, start_date })
  const midnight = new Date(Date.parse(`${start_date}T00:00:00Z`) - 3 * hourS * 1_000).toISOString()
  assert.deepEqual([later.status, later.trial_end, later.billing_anchor], ['trialing', midnight, start_date])
})

test('a charge that fails is tried again after 1, 3, 5 and 7 days, and then it is over', async () => {
  const { client } = await account()
  const made = await paying(client)
  await client.patch(`${path}/${made.subscription_id}`, { payment_method: byPhone('0002') })
  await advance(client, 31 * dayS)
  const late = await becomes(client, made, ({ status }) => status === 'past_due')
  const failedAt = await timeOf(client)
  assert.equal(late.cycles, 2)
  assert.equal((await tells(client, 'subscription.past_due')).length, 1)
  for (const [tries, days] of [
    [2, 1],
    [3, 3],
    [4, 5],
    [5, 7],
  ] as const) {
    const { body: now } = await client.get(`${path}/${made.subscription_id}`)
    assert.equal(days, Math.round((Date.parse(now.next_billing_at) - failedAt.getTime()) / 1_000 / dayS))
    await advanceTo(client, now.next_billing_at)
    await eventually(async () => (await tells(client, 'invoice.payment_failed')).length === tries, `failure ${tries}`)
  }
  const over = await becomes(client, made, ({ status }) => status === 'cancelled')
  assert.deepEqual([over.cancel_reason, over.next_billing_at], ['dunning', null])
  assert.equal((await told(client, 'subscription.cancelled')).cancel_reason, 'dunning')
  assert.equal((await invoice(client, over.latest_invoice_id)).status, 'open')
  assert.equal((await tells(client, 'subscription.past_due')).length, 1)
  await advance(client, 60 * dayS)
  assert.deepEqual(await refusal(client.patch(`${path}/${made.subscription_id}`, {})), [409, 'INVALID_STATE'])
  assert.equal((await tells(client, 'invoice.payment_failed')).length, 5)
})

test('a retry that succeeds makes it active again; the account may keep what was never paid', async () => {
  const { client } = await account()
  const settings = { dunning_days: [2], dunning_end: 'keep_past_due' }
  assert.equal((await client.patch('/v1/account', { settings })).status, 200)
  for (const bad of [{ dunning_days: Array(11).fill(1) }, { dunning_end: 'shout' }])
    assert.deepEqual(await refusal(client.patch('/v1/account', { settings: bad })), [422, 'VALIDATION_ERROR'])
  for (const [days, why] of [
    [[0, 2], 'settings.dunning_days[0] must be 1 to 60 days'],
    [[5, 3], 'settings.dunning_days must rise'],
    [[1, 1], 'settings.dunning_days must rise'],
  ] as const) {
    const { error } = (await client.patch('/v1/account', { settings: { dunning_days: days } })).body
    assert.ok(error.code === 'VALIDATION_ERROR' && error.details.startsWith(why), error.details)
    assert.doesNotMatch(error.details, /accepted forms/)
  }
  const made = await paying(client)
  const at = `${path}/${made.subscription_id}`
  await client.patch(at, { payment_method: byPhone('0002') })
  await advance(client, 31 * dayS)
  await becomes(client, made, ({ status }) => status === 'past_due')
  assert.deepEqual(await refusal(client.post(`${at}/pause`)), [409, 'INVALID_STATE'])
  assert.deepEqual(await refusal(client.patch(at, { quantity: 2 })), [409, 'INVALID_STATE'])
  await advance(client, 2 * dayS)
  await eventually(async () => (await tells(client, 'invoice.payment_failed')).length === 2, 'the last try')
  const kept = (await client.get(at)).body
  assert.deepEqual([kept.status, kept.next_billing_at], ['past_due', null])
  await advance(client, 40 * dayS)
  assert.equal((await client.get(at)).body.cycles, 2, 'nothing more is billed')
  await client.patch(at, { payment_method: byPhone() })
  const again = await becomes(client, made, ({ status, cycles }) => status === 'active' && cycles === 3)
  assert.equal(again.billing_anchor, made.billing_anchor)
  const bill = await invoice(client, again.latest_invoice_id)
  assert.ok(bill.total > 0 && bill.total < 1500, 'only what is left of the period')
  assert.equal(again.current_period_end.slice(8, 10), '01')
})

test('a charge that the account’s own rules block fails like every other, and is tried again', async () => {
  const { client } = await account()
  const { plan_id } = await plan(client)
  const { body: made } = await client.post(path, { plan_id, customer, payment_method: byPhone() })
  await becomes(client, made, ({ status }) => status === 'active')
  const conditions = [{ field: 'amount', operator: 'gte', value: 1 }]
  const rule = await client.post('/v1/payments/fraud/rules', { name: 'Nobody', action: 'block', conditions })
  await advance(client, 31 * dayS)
  const due = await becomes(client, made, ({ status }) => status === 'past_due')
  assert.equal((await tells(client, 'invoice.payment_failed')).length, 1, 'by the payment that was blocked')
  const open = `/v1/billing/invoices/${due.latest_invoice_id}/pay?wait=0`
  const refused = await client.post(open, { phone: byPhone().phone })
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'PAYMENT_BLOCKED'], refused.text)
  // Whoever subscribes now is refused with everything that was to follow: no payment is named that is not there.
  const count = async () => (await client.get('/v1/payments/transactions')).body.data.length
  const before = await count()
  for (const reply of [
    await client.post(path, { plan_id, customer, payment_method: byPhone() }),
    await client.post(path, { plan_id, customer, payment_method: byPhone(), reference: 'again' }),
  ]) {
    assert.deepEqual([reply.status, reply.body.error.code], [403, 'PAYMENT_BLOCKED'], reply.text)
    assert.deepEqual([reply.body.error.rule_id, 'payment_id' in reply.body.error], [rule.body.rule_id, false])
  }
  assert.equal(await count(), before)
  assert.equal((await client.get(path)).body.data.length, 1)
  await client.delete(`/v1/payments/fraud/rules/${rule.body.rule_id}`)
  await advance(client, 2 * dayS)
  await becomes(client, made, ({ status }) => status === 'active')
})

test('an invoice that is taken back is not asked for, and whoever paid it at the link has paid', async () => {
  const { client } = await account()
  const made = await paying(client)
  const at = `${path}/${made.subscription_id}`
  await client.patch(at, { payment_method: byPhone('0002') })
  await advance(client, 31 * dayS)
  const late = await becomes(client, made, ({ status }) => status === 'past_due')
  await client.post(`/v1/billing/invoices/${late.latest_invoice_id}/void`, {})
  assert.equal((await client.get(at)).body.status, 'active')
  await advance(client, 30 * dayS)
  const later = await becomes(client, made, ({ status, cycles }) => status === 'past_due' && cycles === 3)
  await client.post(`/v1/billing/invoices/${later.latest_invoice_id}/pay`, { phone: '+254700000001' })
  await becomes(client, made, ({ status }) => status === 'active')
  await told(client, 'subscription.renewed')
})

test('a saved card is charged at any hour, and one that is gone fails like every charge', async () => {
  const { client } = await account()
  const card = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '123' }
  const saved = await client.post('/v1/payments', { amount: 5, currency: 'KES', card, save_card: true })
  assert.equal(saved.status, 201, saved.text)
  const { card_token } = saved.body
  const payment_method = { type: 'card', card_token }
  await advance(client, 16 * hourS)
  const { plan_id } = await plan(client, { amount: 99.5 })
  const { body: made } = await client.post(path, { plan_id, customer, payment_method, billing_anchor: 1 })
  assert.equal(made.payment_method.card_token, card_token)
  assert.equal(made.status, 'incomplete')
  await becomes(client, made, ({ status }) => status === 'active')
  await advanceTo(client, made.current_period_end)
  const second = await becomes(client, made, ({ cycles }) => cycles === 2)
  await told(client, 'subscription.renewed')
  const bill = await invoice(client, second.latest_invoice_id)
  assert.deepEqual([bill.status, bill.total, bill.credit_applied], ['paid', 99.5, 0])
  const gone = await client.delete(`/v1/payments/cards/${card_token}`)
  assert.equal(gone.status, 200, gone.text)
  await advanceTo(client, second.current_period_end)
  const late = await becomes(client, made, ({ status }) => status === 'past_due')
  assert.deepEqual([late.cycles, (await tells(client, 'subscription.past_due')).length], [3, 1])
  const failed = await tells(client, 'invoice.payment_failed')
  assert.deepEqual(
    failed.map(({ payload }: { payload: Failed }) => [payload.invoice_id, payload.payment_id, payload.status]),
    [[late.latest_invoice_id, null, 'open']],
  )
  assert.deepEqual(await refusal(client.patch(`${path}/${made.subscription_id}`, { payment_method })), [
    422,
    'INVALID_CARD',
  ])
  await client.patch(`${path}/${made.subscription_id}`, { payment_method: { type: 'invoice' } })
  await client.post(`/v1/billing/invoices/${late.latest_invoice_id}/pay`, { phone: '+254733000001' })
  await becomes(client, made, ({ status }) => status === 'active')
})

test('nobody is asked at night', async () => {
  const { client } = await account()
  const made = await paying(client)
  // Renewed at ten in the morning by the anchor: moved to two in the morning by an anchor of its own.
  await client.delete(`${path}/${made.subscription_id}`)
  await advance(client, 16 * hourS)
  const { plan_id } = await plan(client, { interval: 'day' })
  const { body: nightly } = await client.post(path, { plan_id, customer, payment_method: byPhone() })
  await becomes(client, nightly, ({ status }) => status === 'active')
  const asked = async () => (await client.get('/v1/payments/transactions')).body.data.length
  assert.equal(await asked(), 2, 'who has just subscribed expects it at any hour')
  await advance(client, dayS)
  const second = await becomes(client, nightly, ({ cycles }) => cycles === 2)
  assert.equal(await asked(), 2)
  assert.equal((await invoice(client, second.latest_invoice_id)).status, 'open')
  await advance(client, 5.9 * hourS)
  assert.equal(await asked(), 2)
  await advance(client, 0.2 * hourS)
  await told(client, 'subscription.renewed')
  assert.equal(await asked(), 3)
})

test('it is cancelled now, at the end of the period, or after so many', async () => {
  const { client } = await account()
  const { plan_id } = await plan(client, { amount: 3100 })
  const { body: now } = await client.post(path, { plan_id, customer })
  const cancelled = await client.delete(`${path}/${now.subscription_id}?reason=moved`)
  assert.deepEqual([cancelled.status, cancelled.body.status, cancelled.body.cancel_reason], [200, 'cancelled', 'moved'])
  assert.ok(cancelled.body.cancelled_at)
  assert.equal((await told(client, 'subscription.cancelled')).cancel_reason, 'moved')
  const twice = await client.delete(`${path}/${now.subscription_id}?reason=other`)
  assert.deepEqual([twice.status, twice.body.cancel_reason], [200, 'moved'])
  const { body: later } = await client.post(path, { plan_id, customer })
  const body = { at_period_end: true, reason: 'season' }
  const marked = await client.delete(`${path}/${later.subscription_id}`, { body })
  assert.deepEqual([marked.body.status, marked.body.cancel_at_period_end], ['active', true])
  assert.equal(marked.body.next_billing_at, null)
  const { body: kept } = await client.post(path, { plan_id, customer, cancel_at_period_end: true })
  const changed = await client.patch(`${path}/${kept.subscription_id}`, { cancel_at_period_end: false })
  assert.equal(changed.body.cancel_at_period_end, false)
  const { body: few } = await client.post(path, { plan_id, customer, max_cycles: 1 })
  assert.equal(few.next_billing_at, null)
  await advance(client, 31 * dayS)
  assert.equal((await becomes(client, later, ({ status }) => status === 'cancelled')).cancel_reason, 'season')
  assert.equal((await becomes(client, few, ({ status }) => status === 'cancelled')).cancel_reason, 'max_cycles')
  await becomes(client, kept, ({ status, cycles }) => status === 'active' && cycles === 2)
  // What is paid and not used is given back where it is asked for: a day of thirty.
  const paid = await paying(client, { amount: 3000, tax_rate: 10 })
  await advanceTo(client, new Date(Date.parse(paid.current_period_end) - dayS * 1_000).toISOString())
  await client.delete(`${path}/${paid.subscription_id}?prorate=true`)
  const { body: asha } = await client.get(`/v1/billing/customers/${paid.customer.customer_id}`)
  const days = (Date.parse(paid.current_period_end) - Date.parse(paid.current_period_start)) / 1_000 / dayS
  assert.ok(Math.abs(asha.credits[0].amount - 3300 / days) < 0.01, JSON.stringify(asha))
  const unpaid = await client.post(path, { plan_id, customer: { email: 'other@example.com' } })
  await client.delete(`${path}/${unpaid.body.subscription_id}?prorate=true`)
  const { body: other } = await client.get(`/v1/billing/customers/${unpaid.body.customer.customer_id}`)
  assert.deepEqual(other.credits, [], 'nothing was paid')
  const { body: stuck } = await client.post(path, { plan_id, customer, payment_method: byPhone('0003') })
  const end = await client.delete(`${path}/${stuck.subscription_id}?at_period_end=true`)
  assert.deepEqual([end.status, end.body.error.code, end.body.error.status], [409, 'INVALID_STATE', 'incomplete'])
  await client.delete(`${path}/${stuck.subscription_id}`)
  assert.equal((await invoice(client, stuck.latest_invoice_id)).status, 'void')
})

test('nothing is billed while it is paused', async () => {
  const { client } = await account()
  const { plan_id } = await plan(client)
  const { body: made } = await client.post(path, { plan_id, customer })
  const at = `${path}/${made.subscription_id}`
  assert.deepEqual(await refusal(client.post(`${at}/resume`)), [409, 'INVALID_STATE'])
  assert.deepEqual([(await client.post(`${at}/pause`)).body.status], ['paused'])
  assert.deepEqual(await refusal(client.post(`${at}/pause`)), [409, 'INVALID_STATE'])
  await advance(client, dayS)
  const same = (await client.post(`${at}/resume`)).body
  assert.deepEqual([same.status, same.current_period_end, same.cycles], ['active', made.current_period_end, 1])
  await client.post(`${at}/pause`)
  await advance(client, 75 * dayS)
  const paused = (await client.get(at)).body
  assert.deepEqual([paused.status, paused.cycles, paused.next_billing_at], ['paused', 1, null])
  await client.post(`${at}/resume`)
  const resumed = await becomes(client, made, ({ cycles }) => cycles === 2)
  const { total, items } = await invoice(client, resumed.latest_invoice_id)
  const [start, end] = [resumed.current_period_start, resumed.current_period_end].map((text) => Date.parse(text))
  assert.equal(resumed.current_period_end.slice(5, 10), '06-01')
  assert.ok(Math.abs(total - (1500 * ((end ?? 0) - (start ?? 0))) / (31 * dayS * 1_000)) <= 0.01, String(total))
  assert.match(items[0].description, /part of a period/)
  const { body: free } = await client.post(path, { plan_id, customer, proration: 'none', billing_anchor: 20 })
  assert.deepEqual([free.status, free.latest_invoice_id, free.cycles], ['active', null, 1])
})

test('another plan counts from now on: what is not used is credited, what is left is billed', async () => {
  const { client } = await account()
  const { plan_id } = await plan(client, { amount: 3100 })
  const { plan_id: bigger } = await plan(client, { amount: 6200, name: 'Bigger' })
  const { plan_id: yearly } = await plan(client, { amount: 31_000, interval: 'year' })
  const { plan_id: foreign } = await plan(client, { currency: 'UGX' })
  const { plan_id: gone } = await plan(client, { active: false })
  const { body: made } = await client.post(path, { plan_id, customer })
  const at = `${path}/${made.subscription_id}`
  await payUp(client, made.latest_invoice_id)
  await advanceTo(client, new Date(Date.parse(made.current_period_end) - 10 * dayS * 1_000).toISOString())
  const changed = await client.patch(at, { plan_id: bigger })
  assert.equal(changed.status, 200, changed.text)
  assert.deepEqual(
    [changed.body.amount, changed.body.current_period_end, changed.body.cycles],
    [6200, made.current_period_end, 1],
  )
  const rest = await invoice(client, changed.body.latest_invoice_id)
  near(rest.total, 2000)
  near(rest.credit_applied, 1000)
  near(rest.amount_due, 1000)
  assert.match(rest.items[0].description, /^Bigger \(part of a period/)
  await payUp(client, rest.invoice_id)
  const two = await client.patch(at, { quantity: 2 })
  near((await invoice(client, two.body.latest_invoice_id)).amount_due, 2000)
  await payUp(client, two.body.latest_invoice_id)
  const fewer = await client.patch(at, { quantity: 1, plan_id })
  near((await invoice(client, fewer.body.latest_invoice_id)).total, 1000)
  const { body: asha } = await client.get(`/v1/billing/customers/${made.customer.customer_id}`)
  near(asha.credits[0].amount, 3000)
  const over = await client.patch(at, { plan_id: yearly })
  assert.deepEqual([over.body.cycles, over.body.amount], [2, 31_000])
  const year = Number(over.body.current_period_start.slice(0, 4))
  assert.equal(over.body.current_period_end, over.body.current_period_start.replace(String(year), String(year + 1)))
  near((await invoice(client, over.body.latest_invoice_id)).amount_due, 27_000)
  const same = await client.patch(at, { plan_id: yearly, quantity: 1 })
  assert.equal(same.body.latest_invoice_id, over.body.latest_invoice_id, 'nothing changed')
  const rows: [body: object, status: number, code: string][] = [
    [{ plan_id: foreign }, 422, 'VALIDATION_ERROR'],
    [{ plan_id: gone }, 409, 'INVALID_STATE'],
    [{ plan_id: 'plan_x' }, 404, 'NOT_FOUND'],
    [{ quantity: 0 }, 422, 'VALIDATION_ERROR'],
    [{ payment_method: { type: 'mobile_money' } }, 422, 'VALIDATION_ERROR'],
    [{ payment_method: { type: 'cowries' } }, 422, 'VALIDATION_ERROR'],
    [{ payment_method: { type: 'mobile_money', phone: '+12025550123' } }, 422, 'INVALID_PHONE'],
    [{ quantity: 1_000, payment_method: byPhone() }, 422, 'AMOUNT_TOO_HIGH'],
  ]
  for (const [body, status, code] of rows)
    assert.deepEqual(await refusal(client.patch(at, body)), [status, code], JSON.stringify(body))
  const { body: plain } = await client.post(path, { plan_id, customer: { email: 'b@example.com' }, proration: 'none' })
  const next = await client.patch(`${path}/${plain.subscription_id}`, { plan_id: bigger })
  assert.deepEqual([next.body.amount, next.body.latest_invoice_id], [6200, plain.latest_invoice_id])
  await advance(client, 31 * dayS)
  const renewed = await becomes(client, plain, ({ cycles }) => cycles === 2)
  assert.equal((await invoice(client, renewed.latest_invoice_id)).total, 6200)
  const { body: trial } = await client.post(path, { plan_id, customer, trial_days: 5 })
  const tried = await client.patch(`${path}/${trial.subscription_id}`, { plan_id: bigger })
  assert.deepEqual([tried.body.status, tried.body.amount, tried.body.latest_invoice_id], ['trialing', 6200, null])
})

test('the first period ends at the anchor and costs its part, in units that a phone can pay', async () => {
  const { client } = await account()
  const { plan_id } = await plan(client, { amount: 1000 })
  const { body: made } = await client.post(path, { plan_id, customer, payment_method: byPhone(), billing_anchor: 31 })
  assert.deepEqual([made.billing_anchor.slice(5), made.current_period_end.slice(5, 10)], ['03-31', '03-31'])
  const bill = await invoice(client, made.latest_invoice_id)
  // Thirty of the thirty-one days from the end of February on: 967.74.
  near(bill.total, 967.74)
  near(bill.credit_applied, 0.74)
  assert.equal(bill.amount_due, 967)
  await becomes(client, made, ({ status }) => status === 'active')
  await advance(client, 30 * dayS)
  const april = await becomes(client, made, ({ cycles }) => cycles === 2)
  assert.equal(april.current_period_end.slice(5, 10), '04-30')
  const { body: dated } = await client.post(path, { plan_id, customer, billing_anchor: '2020-02-29' })
  assert.equal(dated.billing_anchor, '2020-02-29')
  assert.equal(dated.current_period_end.slice(8, 10), '29')
})

test('what costs nothing is paid, and a plan can be free', async () => {
  const { client } = await account()
  const { plan_id } = await plan(client, { amount: 0 })
  const { body: made } = await client.post(path, { plan_id, customer, payment_method: byPhone('0002') })
  assert.equal(made.status, 'active')
  assert.deepEqual((await invoice(client, made.latest_invoice_id)).status, 'paid')
  await advance(client, 62 * dayS)
  await becomes(client, made, ({ cycles }) => cycles === 3)
  assert.equal((await tells(client, 'subscription.renewed')).length, 2)
})

test('what cannot be subscribed to is refused with a code, and leaves nothing', async () => {
  const { client } = await account()
  const { plan_id } = await plan(client)
  const { plan_id: gone } = await plan(client, { active: false })
  const { plan_id: daily } = await plan(client, { interval: 'day' })
  const { plan_id: dollars } = await plan(client, { currency: 'ZAR' })
  const { plan_id: odd } = await plan(client, { amount: 10.5 })
  const { plan_id: little } = await plan(client, { amount: 20, currency: 'UGX' })
  const good = { plan_id, customer }
  const rows: [body: object, status: number, code: string][] = [
    [{ customer }, 422, 'VALIDATION_ERROR'],
    [{ plan_id }, 422, 'VALIDATION_ERROR'],
    [{ ...good, plan_id: 'plan_01jb2c3d4e5f6g7h8j9kamnpqr' }, 404, 'NOT_FOUND'],
    [{ ...good, plan_id: gone }, 409, 'INVALID_STATE'],
    [{ ...good, customer: { name: 'Asha' } }, 422, 'VALIDATION_ERROR'],
    [{ ...good, customer: { email: 'no' } }, 422, 'VALIDATION_ERROR'],
    [{ ...good, customer: { customer_id: 'cus_x' } }, 404, 'NOT_FOUND'],
    [{ ...good, quantity: 0 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, quantity: 1_000_001 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, trial_days: 731 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, start_date: '2020-01-01' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, start_date: '2099-01-01' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, start_date: 'soon' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, billing_anchor: 32 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, billing_anchor: '2099-01-01' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, billing_anchor: '1999-01-01' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, plan_id: daily, billing_anchor: 5 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, max_cycles: 0 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, max_cycles: 10_001 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, proration: 'some' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, callback_url: 'ftp://example.com' }, 400, 'INVALID_URL'],
    [{ ...good, payment_method: { type: 'mobile_money' } }, 422, 'VALIDATION_ERROR'],
    [{ ...good, payment_method: { type: 'card' } }, 422, 'VALIDATION_ERROR'],
    [{ ...good, trial_days: 5, payment_method: { type: 'card', card_token: 'tok_x' } }, 422, 'INVALID_CARD'],
    [{ ...good, payment_method: { type: 'mobile_money', phone: '0700' } }, 422, 'INVALID_PHONE'],
    [{ ...good, payment_method: { ...byPhone(), provider: 'cowries' } }, 422, 'UNSUPPORTED_PROVIDER'],
    [{ ...good, plan_id: dollars, payment_method: byPhone() }, 422, 'UNSUPPORTED_METHOD'],
    [{ ...good, plan_id: odd, payment_method: byPhone() }, 422, 'VALIDATION_ERROR'],
    [{ ...good, quantity: 1_000, payment_method: byPhone() }, 422, 'AMOUNT_TOO_HIGH'],
    [
      { ...good, plan_id: little, payment_method: { type: 'mobile_money', phone: '+256770000001' } },
      422,
      'AMOUNT_TOO_LOW',
    ],
  ]
  for (const [body, status, code] of rows)
    assert.deepEqual(await refusal(client.post(path, body)), [status, code], JSON.stringify(body))
  assert.deepEqual((await client.get(path)).body.data, [])
  assert.deepEqual((await client.get('/v1/billing/invoices')).body.data, [])
  const { plan_id: dear } = await plan(client, { amount: 999_999_999_999 })
  assert.deepEqual(await refusal(client.post(path, { ...good, plan_id: dear, quantity: 2 })), [422, 'VALIDATION_ERROR'])
  assert.equal((await client.post(path, { ...good, plan_id: dear })).status, 201)
  const { body: first } = await client.post(path, { ...good, reference: 'once' })
  const { status, body } = await client.post(path, { ...good, reference: 'once' })
  assert.deepEqual(
    [status, body.error.code, body.error.original_id, body.error.original_status],
    [409, 'DUPLICATE_REFERENCE', first.subscription_id, 'active'],
  )
  for (const id of ['sub_x', 'plan_01jb2c3d4e5f6g7h8j9kamnpqr', 'sub_01jb2c3d4e5f6g7h8j9kamnpqr'])
    assert.deepEqual(await refusal(client.get(`${path}/${id}`)), [404, 'NOT_FOUND'], id)
})

test('a suspended account bills nobody', async () => {
  const { client, id } = await account()
  const { plan_id } = await plan(client)
  const { body: made } = await client.post(path, { plan_id, customer })
  const uuid = uuidOf('account', id) ?? ''
  const tenant = { bucket: bucketOf(uuid), account: uuid, environment: 'test' } as const
  await sql.query(`update accounts.accounts set status = 'suspended' where id = $1`, [uuid])
  await moveClockAlone(sql, uuid, 31 * dayS * 1_000)
  const subscription = uuidOf('subscription', made.subscription_id) ?? ''
  assert.equal(await step(world.app, tenant, subscription, 0), suspendedMs)
  await sql.query(`update accounts.accounts set status = 'active' where id = $1`, [uuid])
  assert.equal(await step(world.app, tenant, subscription, 0), 0)
  assert.equal((await client.get(`${path}/${made.subscription_id}`)).body.cycles, 2)
  assert.equal(await step(world.app, tenant, subscription, 0), null)
})

test('a period that is over is billed by what was agreed for it, before anything else is agreed', async () => {
  const { client, id } = await account()
  const { plan_id } = await plan(client)
  const { plan_id: large } = await plan(client, { amount: 9000 })
  const uuid = uuidOf('account', id) ?? ''
  const tenant = { bucket: bucketOf(uuid), account: uuid, environment: 'test' } as const
  const { body: made } = await client.post(path, { plan_id, customer, proration: 'none' })
  const at = `${path}/${made.subscription_id}`
  // Nobody has billed what fell due, as after an outage.
  await moveClockAlone(sql, uuid, 31 * dayS * 1_000)
  // Whoever asks is told the time anew.
  await client.patch('/v1/account', { name: 'Ada' })
  assert.deepEqual(await refusal(client.patch(at, { plan_id: large })), [409, 'CONFLICT'])
  assert.equal(await step(world.app, tenant, uuidOf('subscription', made.subscription_id) ?? '', 0), 0)
  const { latest_invoice_id, cycles } = (await client.get(at)).body
  assert.deepEqual([cycles, (await invoice(client, latest_invoice_id)).total], [2, 1500])
  const changed = await client.patch(at, { plan_id: large })
  assert.deepEqual([changed.status, changed.body.amount], [200, 9000], changed.text)
})

test('a period that another interval cuts short is not one of those it may have at most', async () => {
  const { client } = await account()
  const { plan_id } = await plan(client, { amount: 300 })
  const { plan_id: weekly } = await plan(client, { amount: 100, interval: 'week' })
  const { body: made } = await client.post(path, { plan_id, customer, max_cycles: 2 })
  await payUp(client, made.latest_invoice_id)
  await advance(client, 3 * dayS)
  const changed = await client.patch(`${path}/${made.subscription_id}`, { plan_id: weekly })
  assert.deepEqual([changed.status, changed.body.cycles, changed.body.max_cycles], [200, 2, 3], changed.text)
  await advance(client, 7 * dayS)
  await becomes(client, made, ({ cycles, status }) => cycles === 3 && status === 'active')
  await advance(client, 7 * dayS)
  const over = await becomes(client, made, ({ status }) => status === 'cancelled')
  assert.deepEqual([over.cycles, over.cancel_reason], [3, 'max_cycles'])
})

test('the day of the month outlives a year that ends in a short one', async () => {
  const { client } = await account()
  const { plan_id } = await plan(client, { amount: 10 })
  const { plan_id: yearly } = await plan(client, { amount: 100, interval: 'year' })
  const { body: made } = await client.post(path, { plan_id, customer, proration: 'none', billing_anchor: 31 })
  const at = `${path}/${made.subscription_id}`
  // To the thirtieth of April, from which the year is counted.
  await advanceTo(client, made.current_period_end)
  const short = await becomes(client, made, ({ cycles }) => cycles === 2)
  assert.equal(short.current_period_end.slice(5, 10), '04-30')
  assert.equal((await client.patch(at, { plan_id: yearly })).status, 200)
  await advanceTo(client, (await client.get(at)).body.current_period_end)
  await becomes(client, made, ({ cycles }) => cycles === 3)
  const back = await client.patch(at, { plan_id })
  assert.equal(back.body.current_period_end.slice(5, 10), '04-30', back.text)
  await advanceTo(client, back.body.current_period_end)
  const monthly = await becomes(client, made, ({ cycles }) => cycles === 4)
  assert.equal(monthly.current_period_end.slice(5, 10), '05-31')
})

test('a clock that is moved by a year finds every period once', async () => {
  const { client } = await account()
  const { plan_id } = await plan(client, { amount: 10 })
  const { body: made } = await client.post(path, { plan_id, customer, billing_anchor: 31 })
  await advance(client, 365 * dayS)
  const after = await becomes(client, made, ({ cycles }) => cycles === 13)
  assert.equal(after.current_period_end.slice(5, 10), '03-31')
  const bills = (await client.get(`/v1/billing/invoices?subscription_id=${made.subscription_id}`)).body.data
  assert.equal(bills.length, 13)
})

test('whatever is done to it in whatever order, every period is billed once and no state is left by a way there is not', async () => {
  const { client } = await account()
  const { plan_id: small } = await plan(client, { amount: 310 })
  const { plan_id: large } = await plan(client, { amount: 620, trial_days: 3 })
  const command = fc.oneof(
    fc.integer({ min: 1, max: 45 }).map((days) => ({ days })),
    fc.integer({ min: 1, max: 5 }).map((quantity) => ({ quantity })),
    fc.constantFrom({ plan_id: small }, { plan_id: large }),
    fc.constantFrom({ verb: 'pause' }, { verb: 'resume' }),
    fc.boolean().map((cancel_at_period_end) => ({ cancel_at_period_end })),
  )
  const mayBecome: Readonly<Record<string, readonly string[]>> = {
    trialing: ['trialing', 'active', 'cancelled'],
    active: ['active', 'paused', 'cancelled'],
    paused: ['paused', 'active', 'cancelled'],
    cancelled: ['cancelled'],
  }
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(small, large), fc.array(command, { maxLength: 8 }), async (plan_id, commands) => {
      const { body: made } = await client.post(path, { plan_id, customer })
      const at = `${path}/${made.subscription_id}`
      let status: string = made.status
      for (const one of commands) {
        if ('days' in one) await advance(client, one.days * dayS)
        else if ('verb' in one) await client.post(`${at}/${one.verb}`)
        else await client.patch(at, one)
        const now = await settledAt(client, at)
        assert.ok(mayBecome[status]?.includes(now.status), `${status} became ${now.status} by ${JSON.stringify(one)}`)
        status = now.status
      }
      const { rows } = await sql.query(
        `select cycle, starts_at, ends_at from billing.periods where subscription_id = $1 order by cycle`,
        [uuidOf('subscription', made.subscription_id)],
      )
      const { cycles } = (await client.get(at)).body
      assert.deepEqual(
        rows.map(({ cycle }) => cycle),
        Array.from({ length: cycles }, (_, i) => i + 1),
      )
      rows.forEach(({ starts_at }, i) => {
        assert.ok(i === 0 || starts_at >= rows[i - 1].ends_at, 'periods do not overlap')
      })
    }),
    { numRuns: runs(6) },
  )
})

/** The subscription when nothing of it is due any more. */
async function settledAt(client: Client, at: string) {
  return eventually(async () => {
    const { body } = await client.get(at)
    const { rows } = await sql.query(
      `select next_at is null
              or next_at > now() + accounts.clock_offset_ms(account_id, 'test') * interval '1 millisecond' as settled
         from billing.subscriptions where id = $1`,
      [uuidOf('subscription', body.subscription_id)],
    )
    return rows[0].settled && (await client.get(at)).body
  }, `${at} to be at rest`)
}

interface Item {
  quantity: number
  unit_amount: number
  tax: number
}

interface Failed {
  invoice_id: string
  payment_id: string | null
  status: string
}

interface Shown {
  subscription_id: string
  status: string
  cycles: number
  next_billing_at: string | null
}

async function plan(client: Client, more: object = {}): Promise<{ plan_id: string }> {
  const body = { name: 'Monthly', amount: 1500, currency: 'KES', interval: 'month', ...more }
  const made = await client.post('/v1/billing/plans', body)
  assert.equal(made.status, 201, made.text)
  return made.body
}

/** A subscription whose first period is paid by phone. */
async function paying(client: Client, more: object = {}) {
  const { plan_id } = await plan(client, more)
  const made = await client.post(path, { plan_id, customer, payment_method: byPhone() })
  assert.equal(made.status, 201, made.text)
  return becomes(client, made.body, ({ status }) => status === 'active')
}

async function invoice(client: Client, id: string) {
  const { status, text, body } = await client.get(`/v1/billing/invoices/${id}`)
  assert.equal(status, 200, text)
  return body
}

async function becomes(client: Client, { subscription_id }: Shown, holds: (now: Shown) => boolean) {
  let last = ''
  return eventually(async () => {
    const { body, text } = await client.get(`${path}/${subscription_id}`)
    last = text
    return holds(body) && body
  }, `a change of ${subscription_id}`).catch((error) => assert.fail(`${error}: ${last}`))
}

async function timeOf(client: Client): Promise<Date> {
  return new Date((await client.get('/v1/sandbox/clock')).body.now)
}

async function advance(client: Client, seconds: number): Promise<void> {
  const { status, text } = await client.post('/v1/sandbox/clock', { advance_seconds: seconds })
  assert.equal(status, 200, text)
}

async function advanceTo(client: Client, moment: string): Promise<void> {
  await advance(client, Math.max(0, (Date.parse(moment) - (await timeOf(client)).getTime()) / 1_000))
}

/** Oldest first. */
async function events(client: Client): Promise<string[]> {
  const { body } = await client.get('/v1/events?limit=200&order=asc')
  return body.data.map(({ event }: { event: string }) => event)
}

async function tells(client: Client, event: string, limit = 50) {
  return (await client.get(`/v1/events?limit=${limit}&event=${event}`)).body.data
}

/** What the last event of its kind said. */
async function told(client: Client, event: string) {
  const [last] = await eventually(async () => {
    const found = await tells(client, event)
    return found.length > 0 && found
  }, event)
  return last.payload
}

async function balance(client: Client): Promise<number> {
  return (await client.get('/v1/wallet/balance')).body.balance
}

/** A second or two pass between requests. */
function near(figure: number, expected: number): void {
  assert.ok(Math.abs(figure - expected) < 0.2, `${figure} is not ${expected}`)
}
