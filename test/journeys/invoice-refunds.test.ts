// SPDX-License-Identifier: Apache-2.0
// Money of an invoice that is given back: what the invoice says then, what is due, and what the customer has in hand.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { uuidOf } from '../../src/kernel/ids.ts'
import { advance, becomes, dayS, nairobi, plan, subscriptions, tells, toldTimes } from '../billing.ts'
import type { Client } from '../client.ts'
import { lookInto } from '../looking.ts'
import { runs } from '../properties.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World

before(async () => {
  world = await startWorld({ PAMOJA_SANDBOX_TIME_SCALE: 0.05 })
})
after(() => world.stop())

const invoices = '/v1/billing/invoices'

test('a paid invoice stays paid, and says what was given back', async () => {
  const { client } = await world.account({ balance: 10_000 })
  const { invoice_id, hosted_url } = await invoice(client, 1000)
  const payment = await pay(client, invoice_id, 1)
  await refund(client, payment, 400)
  const [event] = await toldTimes(client, 'invoice.refunded', 1)
  assert.deepEqual(
    [event.payload.invoice_id, event.payload.payment_id, event.payload.invoice.amount_refunded],
    [invoice_id, payment, 400],
  )
  const shown = (await client.get(`${invoices}/${invoice_id}`)).body
  assert.deepEqual([shown.status, shown.amount_paid, shown.amount_due, shown.amount_refunded], ['paid', 1000, 0, 400])
  assert.match((await world.stranger.get(new URL(hosted_url).pathname)).text, /Refunded<\/th><td>KES\s400\.00/)
  await refund(client, payment, 600)
  await toldTimes(client, 'invoice.refunded', 2)
  assert.equal((await client.get(`${invoices}/${invoice_id}`)).body.amount_refunded, 1000)
  const refused = await client.post(`${invoices}/${invoice_id}/void`, {})
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'INVALID_STATE'])
})

test('what is given back of an open invoice is due again, and with nothing paid it can be taken back', async () => {
  const { client } = await world.account({ balance: 10_000 })
  const { invoice_id } = await invoice(client, 1000)
  const at = `${invoices}/${invoice_id}`
  const part = await pay(client, invoice_id, 1, 300)
  const refused = await client.post(`${at}/void`, {})
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'INVALID_STATE'])
  await refund(client, part, 300)
  await toldTimes(client, 'invoice.refunded', 1)
  const open = (await client.get(at)).body
  assert.deepEqual(
    [open.status, open.amount_paid, open.amount_due, open.amount_refunded, open.payments],
    ['open', 0, 1000, 0, [part]],
  )
  await pay(client, invoice_id, 2)
  assert.equal((await client.get(at)).body.status, 'paid')
  const { invoice_id: other } = await invoice(client, 500)
  await refund(client, await pay(client, other, 3, 200), 200)
  await toldTimes(client, 'invoice.refunded', 2)
  assert.equal((await client.post(`${invoices}/${other}/void`, {})).body.status, 'void')
})

test('what was paid twice is given back once: out of what the customer has in hand', async () => {
  const { client } = await world.account({ balance: 10_000 })
  const { invoice_id, customer } = await invoice(client, 1000)
  const [, second = ''] = await payTwice(client, invoice_id)
  assert.deepEqual(await credits(client, customer.customer_id), [{ currency: 'KES', amount: 1000 }])
  await refund(client, second, 250)
  await eventually(
    async () => (await credits(client, customer.customer_id))[0]?.amount === 750,
    'the credit to be less',
  )
  await refund(client, second, 750)
  await eventually(async () => (await credits(client, customer.customer_id)).length === 0, 'the credit to be gone')
  const shown = (await client.get(`${invoices}/${invoice_id}`)).body
  assert.deepEqual([shown.status, shown.amount_paid, shown.amount_refunded], ['paid', 1000, 0])
  assert.deepEqual(await tells(client, 'invoice.refunded'), [])
})

test('what was spent in the meantime is missing at the invoice that it paid', async () => {
  const { client } = await world.account({ balance: 10_000 })
  const { invoice_id, customer } = await invoice(client, 1000)
  const [first = '', second = ''] = await payTwice(client, invoice_id)
  const next = await invoice(client, 900)
  assert.deepEqual([next.status, next.credit_applied], ['paid', 900])
  await refund(client, second, 1000)
  const [told] = await toldTimes(client, 'invoice.refunded', 1)
  assert.deepEqual(
    [told.payload.invoice_id, told.payload.payment_id, told.payload.invoice.amount_refunded],
    [next.invoice_id, second, 900],
  )
  assert.deepEqual(await credits(client, customer.customer_id), [])
  await refund(client, first, 1000)
  await toldTimes(client, 'invoice.refunded', 2)
  for (const [id, back] of [
    [invoice_id, 1000],
    [next.invoice_id, 900],
  ]) {
    const shown = (await client.get(`${invoices}/${id}`)).body
    assert.deepEqual([shown.status, shown.amount_due, shown.amount_refunded], ['paid', 0, back])
  }
})

test('of several that it paid the last miss it first, and what is open is due again', async () => {
  const { client } = await world.account({ balance: 10_000 })
  const { invoice_id, customer } = await invoice(client, 1000)
  const [, second = ''] = await payTwice(client, invoice_id)
  const paid = await invoice(client, 700)
  const open = await invoice(client, 500)
  assert.deepEqual([paid.status, open.status, open.amount_due], ['paid', 'open', 200])
  const states = async () => {
    const both = [paid, open].map(async (made) => (await client.get(`${invoices}/${made.invoice_id}`)).body)
    return (await Promise.all(both)).map((now) => [now.status, now.credit_applied, now.amount_due, now.amount_refunded])
  }
  await refund(client, second, 400)
  await toldTimes(client, 'invoice.refunded', 2)
  assert.deepEqual(await states(), [
    ['paid', 700, 0, 100],
    ['open', 0, 500, 0],
  ])
  assert.equal((await client.post(`${invoices}/${open.invoice_id}/void`, {})).body.status, 'void')
  assert.deepEqual(await credits(client, customer.customer_id), [])
  await refund(client, second, 600)
  await toldTimes(client, 'invoice.refunded', 3)
  assert.deepEqual((await states())[0], ['paid', 700, 0, 700])
})

test('however it is paid and given back, what is due and what was paid add up', async () => {
  const { client } = await world.account({ balance: 10_000 })
  let payers = 100
  const move = fc.record({ isRefund: fc.boolean(), units: fc.integer({ min: 1, max: 6 }) })
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 1, maxLength: 4 }), async (moves) => {
      const { invoice_id } = await invoice(client, 600)
      const at = `${invoices}/${invoice_id}`
      const left = new Map<string, number>()
      let [paid, back, isPaid] = [0, 0, false]
      for (const { isRefund, units } of moves) {
        const [first] = [...left].filter(([, rest]) => rest > 0)
        if (isRefund && first) {
          const amount = Math.min(units * 100, first[1])
          const told = (await tells(client, 'invoice.refunded')).length
          await refund(client, first[0], amount)
          await toldTimes(client, 'invoice.refunded', told + 1)
          left.set(first[0], first[1] - amount)
          if (isPaid) back += amount
          else paid -= amount
        } else if (!isPaid) {
          const amount = Math.min(units * 100, 600 - paid)
          left.set(await pay(client, invoice_id, payers++, amount), amount)
          paid += amount
          isPaid = paid === 600
        }
        const now = (await client.get(at)).body
        assert.deepEqual(
          [now.status, now.amount_paid, now.amount_due, now.amount_refunded],
          [isPaid ? 'paid' : 'open', paid, 600 - paid, back],
        )
      }
    }),
    { numRuns: runs(5) },
  )
})

test('what was given back of a period is not credited once more when the rest of it is not used', async () => {
  const { client } = await nairobi(world, 10_000)
  const made = await client.post(subscriptions, {
    plan_id: await plan(client, { amount: 3100 }),
    customer: { email: 'asha@example.com' },
    payment_method: { type: 'mobile_money', phone: '+254700000001' },
  })
  const { subscription_id: id, customer, latest_invoice_id } = made.body
  await becomes(client, id, ({ status }) => status === 'active')
  const { payments } = (await client.get(`${invoices}/${latest_invoice_id}`)).body
  await refund(client, payments[0], 3100)
  await toldTimes(client, 'invoice.refunded', 1)
  await advance(client, 10 * dayS)
  assert.equal((await client.get(`${subscriptions}/${id}`)).body.status, 'active')
  const over = await client.delete(`${subscriptions}/${id}?prorate=true`)
  assert.equal(over.body.status, 'cancelled')
  assert.deepEqual(await credits(client, customer.customer_id), [])
})

test('a refund that meets a credit for the same bill takes it, and is completed at once', async () => {
  const { client } = await nairobi(world, 50_000)
  const card = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '123' }
  const { invoice_id, customer } = await invoice(client, 1000)
  const { card_token } = (await client.post('/v1/payments', { amount: 10, currency: 'KES', card, save_card: true }))
    .body
  const paid = await client.post(`${invoices}/${invoice_id}/pay`, { card_token })
  assert.equal(paid.body.status, 'completed', paid.text)
  const other = lookInto(world)
  await other.connect()
  await other.query('begin')
  const { rows } = await other.query('select * from billing.invoices where id = $1 for update', [
    uuidOf('invoice', invoice_id),
  ])
  const asked = client.post(`/v1/payments/${paid.body.payment_id}/refund`, { amount: 400 })
  await eventually(async () => {
    const waiting = await other.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return waiting.rows.length > 0
  }, 'the refund to wait for the invoice')
  const { bucket, account_id, environment, customer_id, currency, id } = rows[0]
  const owner = [bucket, account_id, environment, customer_id, currency]
  await other.query(
    `insert into billing.credit_entries (bucket, account_id, environment, customer_id, currency, source_id, step, amount,
       created_at) values ($1, $2, $3, $4, $5, $6, 'unused', 400000000, now())`,
    [...owner, id],
  )
  await other.query(
    `insert into billing.credits (bucket, account_id, environment, customer_id, currency, balance)
     values ($1, $2, $3, $4, $5, 400000000)`,
    owner,
  )
  await other.query('commit')
  await other.end()
  const { body, text } = await asked
  assert.equal(body.status, 'completed', text)
  assert.deepEqual(await credits(client, customer.customer_id), [])
})

test('what is given back of a bill is what was paid besides its period first', async () => {
  const account = await nairobi(world, 50_000)
  const { client } = account
  const made = await client.post(subscriptions, {
    plan_id: await plan(client, { amount: 3000, setup_fee: 500 }),
    customer: { email: 'asha@example.com' },
    payment_method: { type: 'mobile_money', phone: phone(1) },
  })
  const { subscription_id: id, customer, latest_invoice_id } = made.body
  await becomes(client, id, ({ status }) => status === 'active')
  const payment: string = (await client.get(`${invoices}/${latest_invoice_id}`)).body.payments[0]
  await refundCompleted(client, payment, 500)
  const more = await refundCompleted(client, payment, 1000)
  await toldTimes(client, 'invoice.refunded', 2)
  await takeBack(account, more)
  await client.delete(`${subscriptions}/${id}?prorate=true`)
  near((await credits(client, customer.customer_id))[0]?.amount, 3000)
})

test('what was given back before a bill was paid is due again, and credited as all of it is', async () => {
  const { client } = await nairobi(world, 10_000)
  const made = await client.post(subscriptions, {
    plan_id: await plan(client, { amount: 3100 }),
    customer: { email: 'asha@example.com' },
  })
  const { subscription_id: id, customer, latest_invoice_id } = made.body
  await refund(client, await pay(client, latest_invoice_id, 1, 1000), 1000)
  await toldTimes(client, 'invoice.refunded', 1)
  await pay(client, latest_invoice_id, 2)
  assert.equal((await client.get(`${invoices}/${latest_invoice_id}`)).body.status, 'paid')
  await client.delete(`${subscriptions}/${id}?prorate=true`)
  near((await credits(client, customer.customer_id))[0]?.amount, 3100)
})

test('what was credited because it is not used is taken back when its payment is given back', async () => {
  const { client } = await nairobi(world, 50_000)
  const { customer, payment, latest_invoice_id } = await yearly(client)
  near((await credits(client, customer.customer_id))[0]?.amount, 12_000)
  const next = await invoice(client, 9000)
  assert.deepEqual([next.status, next.credit_applied], ['paid', 9000])
  await refund(client, payment, 1000)
  await toldTimes(client, 'invoice.refunded', 1)
  near((await credits(client, customer.customer_id))[0]?.amount, 2000)
  await refund(client, payment, 11_000)
  // The bill and the invoice that its credit paid.
  await toldTimes(client, 'invoice.refunded', 3)
  assert.deepEqual(await credits(client, customer.customer_id), [])
  for (const [id, back] of [
    [latest_invoice_id, 12_000],
    [next.invoice_id, 9000],
  ]) {
    const shown = (await client.get(`${invoices}/${id}`)).body
    assert.deepEqual([shown.status, shown.amount_refunded], ['paid', back])
  }
})

test('what was given back of a bill before is not taken from its credit, and the rest of it is', async () => {
  const { client } = await nairobi(world, 50_000)
  const { customer, payment } = await yearly(client, 5000)
  near((await credits(client, customer.customer_id))[0]?.amount, 7000)
  await refund(client, payment, 7000)
  await toldTimes(client, 'invoice.refunded', 2)
  assert.deepEqual(await credits(client, customer.customer_id), [])
})

test('what was credited by a change of the plan is missing at the bill that it paid', async () => {
  const { client } = await nairobi(world, 50_000)
  const made = await client.post(subscriptions, {
    plan_id: await plan(client, { amount: 3000 }),
    customer: { email: 'asha@example.com' },
  })
  const { subscription_id: id, latest_invoice_id: first } = made.body
  const payment = await pay(client, first, 1)
  const smaller = await client.patch(`${subscriptions}/${id}`, { plan_id: await plan(client, { amount: 1000 }) })
  assert.equal(smaller.status, 200, smaller.text)
  const { latest_invoice_id: second, customer } = smaller.body
  await refund(client, payment, 3000)
  await toldTimes(client, 'invoice.refunded', 2)
  near((await client.get(`${invoices}/${first}`)).body.amount_refunded, 3000)
  near((await client.get(`${invoices}/${second}`)).body.amount_refunded, 1000)
  assert.deepEqual(await credits(client, customer.customer_id), [])
  await client.delete(`${subscriptions}/${id}?prorate=true`)
  assert.deepEqual(await credits(client, customer.customer_id), [], 'and is not credited once more')
})

test('an invoice has again what the provider took back of a refund, and it can be given back once more', async () => {
  const account = await world.account({ balance: 10_000 })
  const { client } = account
  const { invoice_id } = await invoice(client, 1000)
  const at = `${invoices}/${invoice_id}`
  const payment = await pay(client, invoice_id, 1)
  const first = await refundCompleted(client, payment, 400)
  await toldTimes(client, 'invoice.refunded', 1)
  await takeBack(account, first)
  const [told] = await toldTimes(client, 'invoice.refunded', 2)
  assert.equal(told.payload.invoice.amount_refunded, 0)
  assert.deepEqual([(await client.get(at)).body.status, (await client.get(at)).body.amount_refunded], ['paid', 0])
  await refundCompleted(client, payment, 1000)
  await toldTimes(client, 'invoice.refunded', 3)
  assert.equal((await client.get(at)).body.amount_refunded, 1000)
})

test('what comes back to an open invoice is paid, and pays it when nothing is missing any more', async () => {
  const account = await world.account({ balance: 10_000 })
  const { client } = account
  const { invoice_id, customer } = await invoice(client, 1000)
  const at = `${invoices}/${invoice_id}`
  const part = await pay(client, invoice_id, 1, 300)
  const once = await refundCompleted(client, part, 300)
  await takeBack(account, once)
  const open = (await client.get(at)).body
  assert.deepEqual([open.status, open.amount_paid, open.amount_due], ['open', 300, 700])
  const twice = await refundCompleted(client, part, 300)
  await pay(client, invoice_id, 2, 700)
  assert.deepEqual([(await client.get(at)).body.status, (await client.get(at)).body.amount_due], ['open', 300])
  await takeBack(account, twice)
  const paid = (await client.get(at)).body
  assert.deepEqual([paid.status, paid.amount_paid, paid.amount_due], ['paid', 1000, 0])
  assert.deepEqual(await credits(client, customer.customer_id), [])
})

test('what comes back when the invoice was paid otherwise is the customer’s to have in hand', async () => {
  const account = await world.account({ balance: 10_000 })
  const { client } = account
  const { invoice_id, customer } = await invoice(client, 1000)
  const part = await pay(client, invoice_id, 1, 300)
  const back = await refundCompleted(client, part, 300)
  await pay(client, invoice_id, 2)
  await takeBack(account, back)
  assert.deepEqual(await credits(client, customer.customer_id), [{ currency: 'KES', amount: 300 }])
  const shown = (await client.get(`${invoices}/${invoice_id}`)).body
  assert.deepEqual([shown.status, shown.amount_paid, shown.amount_refunded], ['paid', 1000, 0])
})

test('what was paid too much, or is not used, is in hand again when the provider took its refund back', async () => {
  const account = await world.account({ balance: 10_000 })
  const { client } = account
  const { invoice_id, customer } = await invoice(client, 1000)
  const [, second = ''] = await payTwice(client, invoice_id)
  const back = await refundCompleted(client, second, 250)
  await eventually(
    async () => (await credits(client, customer.customer_id))[0]?.amount === 750,
    'the credit to be less',
  )
  await takeBack(account, back)
  assert.deepEqual(await credits(client, customer.customer_id), [{ currency: 'KES', amount: 1000 }])

  const subscriber = await nairobi(world, 50_000)
  const { customer: asha, payment, latest_invoice_id } = await yearly(subscriber.client)
  const all = await refundCompleted(subscriber.client, payment, 12_000)
  await toldTimes(subscriber.client, 'invoice.refunded', 1)
  assert.deepEqual(await credits(subscriber.client, asha.customer_id), [])
  await takeBack(subscriber, all)
  near((await credits(subscriber.client, asha.customer_id))[0]?.amount, 12_000)
  const bill = (await subscriber.client.get(`${invoices}/${latest_invoice_id}`)).body
  assert.deepEqual([bill.status, bill.amount_refunded], ['paid', 0])
})

/** A subscription for a year that was paid, of which so much was given back, and that ended on its first day. */
async function yearly(client: Client, back = 0) {
  const made = await client.post(subscriptions, {
    plan_id: await plan(client, { amount: 12_000, interval: 'year' }),
    customer: { email: 'asha@example.com' },
    payment_method: { type: 'mobile_money', phone: phone(1) },
  })
  const { subscription_id: id, customer, latest_invoice_id } = made.body
  await becomes(client, id, ({ status }) => status === 'active')
  const payment: string = (await client.get(`${invoices}/${latest_invoice_id}`)).body.payments[0]
  if (back > 0) {
    await refund(client, payment, back)
    await toldTimes(client, 'invoice.refunded', 1)
  }
  assert.equal((await client.delete(`${subscriptions}/${id}?prorate=true`)).body.status, 'cancelled')
  return { customer, payment, latest_invoice_id }
}

async function invoice(client: Client, unit_amount: number) {
  const { status, text, body } = await client.post(invoices, {
    customer: { name: 'Asha', email: 'asha@example.com' },
    currency: 'KES',
    items: [{ description: 'Rent', unit_amount }],
    send: true,
  })
  assert.equal(status, 201, text)
  return body
}

/** Each payer has a phone of its own, which ends in 0001: it pays. Gives the payment when it is completed. */
async function pay(client: Client, id: string, payer: number, amount?: number): Promise<string> {
  const body = { phone: phone(payer), ...(amount === undefined ? {} : { amount }) }
  const made = await client.post(`${invoices}/${id}/pay?wait=0`, body)
  assert.ok(made.status < 300, made.text)
  return completed(client, made.body.payment_id)
}

async function payTwice(client: Client, id: string): Promise<string[]> {
  const both = await Promise.all(
    [11, 12].map((payer) => client.post(`${invoices}/${id}/pay?wait=0`, { phone: phone(payer) })),
  )
  const ids: string[] = []
  for (const { body } of both) ids.push(await completed(client, body.payment_id))
  // The one whose money was not needed any more comes second.
  const told = await tells(client, 'invoice.payment_succeeded')
  return ids.sort((a) => (a === told[0].payload.payment_id ? -1 : 1))
}

function phone(payer: number): string {
  return `+25470${String(payer).padStart(3, '0')}0001`
}

async function completed(client: Client, id: string): Promise<string> {
  await eventually(async () => (await client.get(`/v1/payments/${id}`)).body.status === 'completed', 'the payment')
  return id
}

async function refund(client: Client, payment: string, amount: number): Promise<void> {
  const { status, text } = await client.post(`/v1/payments/${payment}/refund`, { amount })
  assert.ok(status < 300, text)
}

/** Gives the refund when it is completed. */
async function refundCompleted(client: Client, payment: string, amount: number): Promise<string> {
  const { body, text } = await client.post(`/v1/payments/${payment}/refund`, { amount })
  const id: string = body.refund_id ?? assert.fail(text)
  await eventually(async () => (await client.get(`/v1/refunds/${id}`)).body.status === 'completed', 'the refund')
  return id
}

/** An operator notes that the provider has taken a completed refund back. */
async function takeBack({ id }: Account, refund: string): Promise<void> {
  const { body, text } = await world.operator.post(`/v1/operator/accounts/${id}/refunds/${refund}/fail`, {})
  assert.deepEqual([body.status, body.failure_reason], ['failed', 'REVERSED_BY_PROVIDER'], text)
}

async function credits(client: Client, customer: string): Promise<{ currency: string; amount: number }[]> {
  return (await client.get(`/v1/billing/customers/${customer}`)).body.credits
}

/** Seconds pass between requests, in which something is used. */
function near(figure: number | undefined, expected: number): void {
  assert.ok(Math.abs((figure ?? 0) - expected) < 1, `${figure} is not ${expected}`)
}
