// SPDX-License-Identifier: Apache-2.0
// Subscriptions where two things meet: a card that is gone and a wish to end, a pause and a charge that fails, a bill of your
// own, several changes in one period.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { advance, becomes, dayS, nairobi, payUp, plan, subscriptions, tells, toldTimes } from '../billing.ts'
import type { Client } from '../client.ts'
import { runs } from '../properties.ts'
import { eventually, startWorld, type World } from '../world.ts'

let world: World

before(async () => {
  world = await startWorld({ PAMOJA_SANDBOX_TIME_SCALE: 0.05 })
})
after(() => world.stop())

const invoices = '/v1/billing/invoices'
const customer = { name: 'Asha', email: 'asha@example.com' }
const byPhone = (ending: string) => ({ type: 'mobile_money', phone: `+25470000${ending}` })

test('who has no card left to pay with can still let it end', async () => {
  const { client } = await nairobi(world)
  const payment_method = await byCard(client)
  const id = await subscribed(client, { payment_method })
  await client.delete(`/v1/payments/cards/${payment_method.card_token}`)
  const at = `${subscriptions}/${id}`
  const more = await client.patch(at, { quantity: 2 })
  assert.deepEqual([more.status, more.body.error.code], [422, 'INVALID_CARD'])
  const ending = await client.patch(at, { cancel_at_period_end: true })
  assert.deepEqual([ending.status, ending.body.cancel_at_period_end], [200, true], ending.text)
})

test('what is less than a card can be charged is given to the customer, and nobody is asked for it', async () => {
  const { client } = await nairobi(world)
  const payment_method = await byCard(client)
  const id = await subscribed(client, { plan_id: await plan(client, { amount: 10, currency: 'USD' }), payment_method })
  const at = `${subscriptions}/${id}`
  const other = await plan(client, { amount: 9.7, currency: 'USD' })
  const unused = await subscribed(client, { plan_id: other, payment_method })
  await client.delete(`${subscriptions}/${unused}?prorate=true`)
  const { customer_id } = (await client.get(at)).body.customer
  const inHand = async () => (await client.get(`/v1/billing/customers/${customer_id}`)).body.credits[0]?.amount
  assert.equal(await inHand(), 9.7)
  await advance(client, 31 * dayS)
  const renewed = await becomes(client, id, ({ cycles }) => cycles === 2)
  const bill = (await client.get(`${invoices}/${renewed.latest_invoice_id}`)).body
  assert.deepEqual([renewed.status, bill.status, bill.credit_applied, bill.payments], ['active', 'paid', 10, []])
  // In the last hour another one costs a cent or two.
  await advance(client, (Date.parse(renewed.current_period_end) - (await nowMs(client))) / 1_000 - 3_600)
  const changed = await client.patch(at, { quantity: 2 })
  assert.equal(changed.status, 200, changed.text)
  const rest = (await client.get(`${invoices}/${changed.body.latest_invoice_id}`)).body
  assert.ok(rest.total > 0 && rest.total < 0.5, `${rest.total}`)
  assert.deepEqual([rest.status, rest.credit_applied, rest.payments], ['paid', rest.total, []])
  assert.deepEqual(await tells(client, 'invoice.payment_failed'), [])
})

test('a bill that one phone refused is asked of another, in units that it can pay', async () => {
  const { client } = await nairobi(world)
  const plan_id = await plan(client, { amount: 1000 })
  // This one would pay cents.
  const payment_method = { type: 'mobile_money', phone: '+254733000002' }
  const made = await client.post(subscriptions, { plan_id, customer, payment_method, billing_anchor: 18 })
  const { subscription_id: id, latest_invoice_id } = made.body
  await toldTimes(client, 'invoice.payment_failed', 1)
  const before = (await client.get(`${invoices}/${latest_invoice_id}`)).body
  const cents = Math.round((before.amount_due % 1) * 100) / 100
  assert.ok(before.credit_applied === 0 && cents > 0, `${before.amount_due}`)
  const moved = await client.patch(`${subscriptions}/${id}`, { payment_method: byPhone('0001') })
  assert.equal(moved.status, 200, moved.text)
  await becomes(client, id, ({ status }) => status === 'active')
  const bill = (await client.get(`${invoices}/${latest_invoice_id}`)).body
  assert.deepEqual([bill.status, bill.credit_applied, bill.payments.length], ['paid', cents, 1])
  const { body: asha } = await client.get(`/v1/billing/customers/${bill.customer.customer_id}`)
  assert.deepEqual(asha.credits, [])
  assert.equal((await tells(client, 'invoice.payment_failed')).length, 1)
})

test('what is left of a bill and nobody can be asked for is given to the customer: the bill is paid', async () => {
  const { client } = await nairobi(world)
  const plan_id = await plan(client, { amount: 1000 })
  const payment_method = { type: 'mobile_money', phone: '+254733000002' }
  const made = await client.post(subscriptions, { plan_id, customer, payment_method })
  const { subscription_id: id, latest_invoice_id } = made.body
  await toldTimes(client, 'invoice.payment_failed', 1)
  const at = `${invoices}/${latest_invoice_id}`
  await client.post(`${at}/pay`, { phone: '+254733000001', amount: 999.6 })
  await eventually(async () => (await client.get(at)).body.amount_due === 0.4, 'the part that was paid')
  const moved = await client.patch(`${subscriptions}/${id}`, { payment_method: byPhone('0001') })
  assert.equal(moved.status, 200, moved.text)
  await becomes(client, id, ({ status }) => status === 'active')
  const bill = (await client.get(at)).body
  assert.deepEqual([bill.status, bill.credit_applied, bill.payments.length], ['paid', 0.4, 1])
})

test('a customer who is known pays by the phone that is known', async () => {
  const { client } = await nairobi(world)
  const phone = '+254700000001'
  const known = await client.post(invoices, {
    customer: { name: 'Asha', phone },
    currency: 'KES',
    items: [{ description: 'Setup', unit_amount: 1 }],
  })
  const { customer_id } = known.body.customer
  const body = { plan_id: await plan(client), payment_method: { type: 'mobile_money' } }
  const made = await client.post(subscriptions, { ...body, customer: { customer_id } })
  assert.deepEqual([made.status, made.body.payment_method?.phone], [201, phone], made.text)
  const without = await client.post(subscriptions, { ...body, customer })
  assert.deepEqual([without.status, without.body.error.code], [422, 'VALIDATION_ERROR'])
})

test('what could not be charged while it was paused is owed when it goes on: nothing more is billed before', async () => {
  const { client } = await nairobi(world)
  // At ten in the evening nobody is asked: the bill waits for the morning.
  await advance(client, 12 * 3_600)
  const id = await subscribed(client, { payment_method: byPhone('0001') })
  const at = `${subscriptions}/${id}`
  await client.patch(at, { payment_method: byPhone('0002') })
  await advance(client, 31 * dayS)
  await becomes(client, id, ({ cycles }) => cycles === 2)
  assert.equal((await client.post(`${at}/pause`)).body.status, 'paused')
  await advance(client, 12 * 3_600)
  await toldTimes(client, 'invoice.payment_failed', 1)
  assert.equal((await client.get(at)).body.status, 'paused')
  await advance(client, 40 * dayS)
  await client.patch(at, { payment_method: byPhone('0001') })
  const resumed = await client.post(`${at}/resume`)
  assert.equal(resumed.body.status, 'past_due', resumed.text)
  assert.equal((await tells(client, 'subscription.past_due')).length, 1)
  const now = await becomes(client, id, ({ status, cycles }) => status === 'active' && cycles === 3)
  assert.equal((await client.get(`${invoices}/${now.latest_invoice_id}`)).status, 200)
})

test('a bill of your own can go with a subscription, and changes nothing of it', async () => {
  const { client } = await nairobi(world)
  const id = await subscribed(client, {})
  const own = { customer, currency: 'KES', items: [{ description: 'A visit', unit_amount: 500 }], send: true }
  const made = await client.post(invoices, { ...own, subscription_id: id })
  assert.deepEqual([made.status, made.body.subscription_id], [201, id], made.text)
  for (const subscription_id of ['sub_x', 'sub_01jb2c3d4e5f6g7h8j9kamnpqr']) {
    const refused = await client.post(invoices, { ...own, subscription_id })
    assert.deepEqual([refused.status, refused.body.error.code], [404, 'NOT_FOUND'])
  }
  await client.post(`${invoices}/${made.body.invoice_id}/pay`, { phone: '+254700000001' })
  await toldTimes(client, 'invoice.payment_succeeded', 1)
  assert.deepEqual(await tells(client, 'subscription.renewed'), [])
  const listed = (await client.get(`${invoices}?subscription_id=${id}`)).body.data
  assert.equal(listed.length, 2)
})

test('a bill that was taken back gives nobody credit, whether it ends or its number changes', async () => {
  const { client } = await nairobi(world)
  const isVoid = async () => {
    const id = await subscribed(client, {})
    const { latest_invoice_id, customer: who } = (await client.get(`${subscriptions}/${id}`)).body
    const taken = await client.post(`${invoices}/${latest_invoice_id}/void`, {})
    assert.equal(taken.body.status, 'void', taken.text)
    return { at: `${subscriptions}/${id}`, whose: `/v1/billing/customers/${who.customer_id}` }
  }
  const ending = await isVoid()
  assert.equal((await client.delete(`${ending.at}?prorate=true`)).body.status, 'cancelled')
  assert.deepEqual((await client.get(ending.whose)).body.credits, [])
  const changing = await isVoid()
  const { latest_invoice_id } = (await client.patch(changing.at, { quantity: 2 })).body
  const rest = (await client.get(`${invoices}/${latest_invoice_id}`)).body
  assert.deepEqual([rest.credit_applied, rest.amount_due], [0, rest.total])
})

test('a bill that was written off holds nothing up, and is credited only if its money came after all', async () => {
  const { client, id: account } = await nairobi(world)
  const writeOff = (invoice: string) =>
    world.operator.post(`/v1/operator/accounts/${account}/invoices/${invoice}/write-off`)
  const id = await subscribed(client, { payment_method: byPhone('0001') })
  await client.patch(`${subscriptions}/${id}`, { payment_method: byPhone('0002') })
  await advance(client, 31 * dayS)
  const owing = await becomes(client, id, ({ status }) => status === 'past_due')
  assert.equal((await writeOff(owing.latest_invoice_id)).body.status, 'uncollectible')
  const { status, next_billing_at, current_period_end } = (await client.get(`${subscriptions}/${id}`)).body
  assert.deepEqual([status, next_billing_at], ['active', current_period_end])
  await advance(client, 31 * dayS)
  await becomes(client, id, ({ cycles }) => cycles === 3)

  const given = await Promise.all(['never', 'late'].map((name) => byLink(client, `${name}@example.com`)))
  for (const { invoice } of given) assert.equal((await writeOff(invoice)).status, 200)
  const [never, late] = given
  assert.ok(never && late)
  assert.equal((await client.patch(never.at, { quantity: 2 })).status, 200)
  assert.deepEqual((await client.get(never.whose)).body.credits, [])
  await client.post(`${invoices}/${late.invoice}/pay`, { phone: '+254733000001' })
  await eventually(async () => (await client.get(`${invoices}/${late.invoice}`)).body.status === 'paid', 'late money')
  assert.equal((await client.delete(`${late.at}?prorate=true`)).body.status, 'cancelled')
  const [{ amount }] = (await client.get(late.whose)).body.credits
  assert.ok(amount > 1499 && amount <= 1500, `${amount}`)
})

test('whoever is moved to invoices is sent what could not be charged, and goes on', async () => {
  const { client } = await nairobi(world)
  const payment_method = { type: 'invoice' }
  const sent = async () => (await tells(client, 'invoice.opened')).map(({ payload }: Told) => payload.invoice_id)

  const failed = await subscribed(client, { payment_method: byPhone('0001') })
  await client.patch(`${subscriptions}/${failed}`, { payment_method: byPhone('0002') })
  await advance(client, 31 * dayS)
  const owing = await becomes(client, failed, ({ status }) => status === 'past_due')
  const moved = await client.patch(`${subscriptions}/${failed}`, { payment_method })
  assert.deepEqual(
    [moved.status, moved.body.status, moved.body.next_billing_at],
    [200, 'active', owing.current_period_end],
  )
  assert.deepEqual(await sent(), [owing.latest_invoice_id])
  const { body: bill } = await client.get(`${invoices}/${owing.latest_invoice_id}`)
  assert.ok(bill.status === 'open' && bill.sent_at === null, JSON.stringify(bill))
  await advance(client, 31 * dayS)
  const next = await becomes(client, failed, ({ cycles }) => cycles === 3)
  assert.equal(next.status, 'active')
  assert.deepEqual(await sent(), [next.latest_invoice_id, owing.latest_invoice_id])

  // The first payment was refused: what is due is the customer's to pay now, for as long as it takes.
  const { body: first } = await client.post(subscriptions, {
    plan_id: await plan(client),
    customer: { email: 'juma@example.com' },
    payment_method: byPhone('0002'),
  })
  await toldTimes(client, 'invoice.payment_failed', 2)
  const complete = await client.patch(`${subscriptions}/${first.subscription_id}`, { payment_method })
  assert.equal(complete.body.status, 'active', complete.text)
  assert.equal((await sent())[0], first.latest_invoice_id)
  await advance(client, 2 * dayS)
  assert.equal((await client.get(`${subscriptions}/${first.subscription_id}`)).body.status, 'active')
})

test('a charge that fails after its payer was moved to invoices is left to the customer', async () => {
  const { client } = await nairobi(world)
  const id = await subscribed(client, { payment_method: byPhone('0001') })
  const at = `${subscriptions}/${id}`
  // Whoever is asked now does not answer.
  await client.patch(at, { payment_method: byPhone('0003') })
  const { latest_invoice_id } = (await client.patch(at, { quantity: 2 })).body
  assert.equal((await client.patch(at, { payment_method: { type: 'invoice' } })).body.status, 'active')
  assert.deepEqual(await tells(client, 'invoice.opened'), [])
  await advance(client, 3_600)
  await toldTimes(client, 'invoice.payment_failed', 1)
  const [{ payload }] = await toldTimes(client, 'invoice.opened', 1)
  assert.equal(payload.invoice_id, latest_invoice_id)
  assert.equal((await client.get(at)).body.status, 'active')
  assert.deepEqual(await tells(client, 'subscription.past_due'), [])
})

test('a plan is not changed while its bill is unpaid: what nobody paid is credited to nobody', async () => {
  const { client } = await nairobi(world)
  const small = await plan(client, { amount: 1000 })
  const large = await plan(client, { amount: 9000 })
  const id = await subscribed(client, { plan_id: small, payment_method: byPhone('0001') })
  const at = `${subscriptions}/${id}`
  // Whoever is asked now does not answer.
  await client.patch(at, { payment_method: byPhone('0003') })
  const upgraded = await client.patch(at, { plan_id: large })
  assert.equal(upgraded.status, 200, upgraded.text)
  const { latest_invoice_id, customer: who } = upgraded.body
  const inHand = async () => (await client.get(`/v1/billing/customers/${who.customer_id}`)).body.credits
  const back = await client.patch(at, { plan_id: small })
  assert.deepEqual(
    [back.status, back.body.error?.code, back.body.error?.invoice_id],
    [409, 'CONFLICT', latest_invoice_id],
  )
  assert.deepEqual(await inHand(), [])
  assert.equal((await client.post(`${invoices}/${latest_invoice_id}/void`, {})).body.status, 'void')
  const downgraded = await client.patch(at, { plan_id: small })
  assert.equal(downgraded.status, 200, downgraded.text)
  // What was paid for the small one has paid for it again, but for what a phone cannot be asked for.
  for (const { amount } of await inHand()) assert.ok(amount < 2, `${amount}`)
})

test('nor while its bill waits for the morning, or lies with the customer', async () => {
  const { client } = await nairobi(world)
  const small = await plan(client, { amount: 1000 })
  const large = await plan(client, { amount: 3000 })
  await advance(client, 12 * 3_600)
  const nightly = await subscribed(client, { plan_id: large, payment_method: byPhone('0001') })
  const byLink = await subscribed(client, { plan_id: large, customer: { email: 'juma@example.com' } })
  await advance(client, 31 * dayS)
  for (const id of [nightly, byLink]) {
    const at = `${subscriptions}/${id}`
    const { status, latest_invoice_id, customer: who } = await becomes(client, id, ({ cycles }) => cycles === 2)
    assert.equal(status, 'active')
    const refused = await client.patch(at, { plan_id: small })
    assert.deepEqual(
      [refused.status, refused.body.error?.code, refused.body.error?.invoice_id],
      [409, 'CONFLICT', latest_invoice_id],
    )
    const credits = async () => (await client.get(`/v1/billing/customers/${who.customer_id}`)).body.credits
    assert.deepEqual(await credits(), [])
    await payUp(client, latest_invoice_id)
    assert.equal((await client.patch(at, { plan_id: small })).status, 200)
    const [{ amount }] = await credits()
    assert.ok(Math.abs(amount - 2000) < 1, `${amount}`)
  }
})

test('however often the number changes within a period, what was billed less what is in hand is what was used', async () => {
  const { client } = await nairobi(world)
  const plan_id = await plan(client, { amount: 3100, tax_rate: 16 })
  const change = fc.record({ days: fc.integer({ min: 1, max: 5 }), quantity: fc.integer({ min: 1, max: 4 }) })
  let n = 0
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
      const email = `a${n++}@example.com`
      const made = (await client.post(subscriptions, { plan_id, customer: { email } })).body
      const at = `${subscriptions}/${made.subscription_id}`
      const start = Date.parse(made.current_period_start)
      const spanMs = Date.parse(made.current_period_end) - start
      let [used, quantity, from] = [0, 1, start]
      for (const { days, quantity: next } of changes) {
        await advance(client, days * dayS)
        await payUp(client, (await client.get(at)).body.latest_invoice_id)
        const changed = await client.patch(at, { quantity: next })
        assert.equal(changed.status, 200, changed.text)
        const atMs = await nowMs(client)
        used += (quantity * 3596 * (atMs - from)) / spanMs
        ;[quantity, from] = [next, atMs]
      }
      used += (quantity * 3596 * (start + spanMs - from)) / spanMs
      const bills: { total: number; credit_applied: number }[] = (
        await client.get(`${invoices}?subscription_id=${made.subscription_id}&limit=50`)
      ).body.data
      const { credits } = (await client.get(`/v1/billing/customers/${made.customer.customer_id}`)).body
      const inHand = credits[0]?.amount ?? 0
      const owed = bills.reduce((all, { total, credit_applied }) => all + total - credit_applied, 0)
      // A minor unit for each rounding, and the seconds that pass between requests.
      const slack = 0.02 * bills.length + (changes.length * 20 * 4 * 3596) / (spanMs / 1_000)
      assert.ok(Math.abs(owed - inHand - used) < slack, `${owed} - ${inHand} is not ${used}`)
    }),
    { numRuns: runs(6) },
  )
})

interface Told {
  payload: { invoice_id: string }
}

/** Somebody who pays by invoice, and the first one. */
async function byLink(client: Client, email: string) {
  const { body } = await client.post(subscriptions, { plan_id: await plan(client), customer: { email } })
  const { subscription_id, latest_invoice_id: invoice, customer: who } = body
  return { invoice, at: `${subscriptions}/${subscription_id}`, whose: `/v1/billing/customers/${who.customer_id}` }
}

/** A card that is saved, as a way to pay. */
async function byCard(client: Client): Promise<{ type: string; card_token: string }> {
  const card = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '123' }
  const saved = await client.post('/v1/payments', { amount: 5, currency: 'KES', card, save_card: true })
  assert.equal(saved.status, 201, saved.text)
  return { type: 'card', card_token: saved.body.card_token }
}

async function nowMs(client: Client): Promise<number> {
  return Date.parse((await client.get('/v1/sandbox/clock')).body.now)
}

/** A subscription that is active. */
async function subscribed(client: Client, more: object): Promise<string> {
  const { status, text, body } = await client.post(subscriptions, { plan_id: await plan(client), customer, ...more })
  assert.equal(status, 201, text)
  await becomes(client, body.subscription_id, (now) => now.status === 'active')
  return body.subscription_id
}
