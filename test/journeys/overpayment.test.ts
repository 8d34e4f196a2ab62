// SPDX-License-Identifier: Apache-2.0
// Money for an invoice of which nothing was due any more: in hand, or sent back where the account wishes it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { giveBack } from '../../src/areas/billing/invoices/give-back.ts'
import { findInvoice } from '../../src/areas/billing/invoices/store.ts'
import { findPayment } from '../../src/areas/payments/records/store.ts'
import { settleRefund } from '../../src/areas/payments/refunds/settle.ts'
import { findRefund } from '../../src/areas/payments/refunds/store.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { one } from '../../src/platform/db.ts'
import { tells } from '../billing.ts'
import type { Client } from '../client.ts'
import { startMarket } from '../market.ts'
import { settled, wallet } from '../paying.ts'
import { type Account, eventually, tenantOf } from '../world.ts'

const { world, sql } = await startMarket(0.02)
const invoices = '/v1/billing/invoices'

test('the second of two who pay at once has it back, once, and the invoice knows nothing of it', async () => {
  const account = await shop(10_000)
  const { client } = account
  const { invoice_id, customer } = await invoice(client, 1000)
  const [first, second = ''] = await payTwice(client, invoice_id, '0001')
  const refund = await refundOf(client, second)
  assert.deepEqual(
    [refund.status, refund.amount, refund.reason, refund.reference],
    ['completed', 1000, 'duplicate', `overpaid:${second}`],
  )
  assert.equal((await client.get(`/v1/payments/${first}`)).body.amount_refunded, 0)
  const shown = (await client.get(`${invoices}/${invoice_id}`)).body
  assert.deepEqual([shown.status, shown.amount_paid, shown.amount_refunded], ['paid', 1000, 0])
  assert.deepEqual(await credits(client, customer.customer_id), [])
  assert.deepEqual(await tells(client, 'invoice.refunded'), [])
  const before = await wallet(client)
  assert.deepEqual(before, { balance: 10_970, held: 0 }, 'two payments with their fees, and one given back')

  // As if the job had been run and not noted as done.
  await sendBack(account, invoice_id, second)
  await nothingWaits()
  assert.equal((await client.get('/v1/refunds')).body.data.length, 1)
  assert.deepEqual(await wallet(client), before)
})

test('only what was too much goes back', async () => {
  const { client } = await shop(10_000)
  const { invoice_id, customer } = await invoice(client, 1000)
  const { body: part } = await client.post(`${invoices}/${invoice_id}/pay?wait=0`, {
    phone: '+254700600001',
    amount: 400,
  })
  await settled(client, part.payment_id)
  assert.equal((await client.get(`${invoices}/${invoice_id}`)).body.amount_paid, 400)
  const both = await Promise.all(
    ['+254700700001', '+254700800001'].map((phone) =>
      client.post(`${invoices}/${invoice_id}/pay?wait=0`, { phone, amount: 500 }),
    ),
  )
  for (const { body } of both) await settled(client, body.payment_id)
  const refund = await eventually(async () => {
    const [found] = (await client.get('/v1/refunds?status=completed')).body.data
    return found
  }, 'what was too much to be sent back')
  assert.equal(refund.amount, 400)
  const shown = (await client.get(`${invoices}/${invoice_id}`)).body
  assert.deepEqual([shown.status, shown.amount_paid, shown.amount_refunded], ['paid', 1000, 0])
  assert.deepEqual(await credits(client, customer.customer_id), [])
})

test('what the provider does not give back is in hand again', async () => {
  const { client } = await shop(10_000)
  const { invoice_id, customer } = await invoice(client, 1000)
  const [, second = ''] = await payTwice(client, invoice_id, '0021')
  assert.equal((await refundOf(client, second)).status, 'failed')
  assert.deepEqual(await credits(client, customer.customer_id), [{ currency: 'KES', amount: 1000 }])
  assert.deepEqual(await wallet(client), { balance: 11_970, held: 0 })
  const next = await invoice(client, 300)
  assert.deepEqual([next.status, next.credit_applied], ['paid', 300])
})

test('a refund that seemed to have failed and has happened takes it once more, also from what it paid meanwhile', async () => {
  const account = await shop(10_000)
  const { client, id } = account
  const { invoice_id, customer } = await invoice(client, 1000)
  const [, second = ''] = await payTwice(client, invoice_id, '0021')
  const { refund_id, status } = await refundOf(client, second)
  assert.equal(status, 'failed')
  const next = await invoice(client, 300)
  assert.deepEqual(await credits(client, customer.customer_id), [{ currency: 'KES', amount: 700 }])
  const found = { ...tenantOf(account), id: uuidOf('refund', refund_id) ?? '' }
  const row = await one(world.app.db.query(findRefund, found))
  await settleRefund(world.app, row, { kind: 'paid', receipt: 'ST1', micros: null })
  const noted = await world.operator.post(`/v1/operator/accounts/${id}/refunds/${refund_id}/complete`, {})
  assert.equal(noted.body.status, 'completed', noted.text)
  assert.deepEqual(await credits(client, customer.customer_id), [])
  const shown = (await client.get(`${invoices}/${next.invoice_id}`)).body
  assert.deepEqual([shown.status, shown.amount_refunded], ['paid', 300])
})

test('what the wallet does not cover stays in hand', async () => {
  const { client } = await shop(0)
  const { invoice_id, customer } = await invoice(client, 1000)
  const path = `${invoices}/${invoice_id}`
  const { body: payment } = await client.post(`${path}/pay?wait=0`, { phone: '+254700100001' })
  assert.equal((await client.post(`${path}/void`, {})).body.status, 'void')
  assert.equal((await settled(client, payment.payment_id)).status, 'completed')
  await nothingWaits()
  assert.deepEqual((await client.get('/v1/refunds')).body.data, [])
  assert.deepEqual(await credits(client, customer.customer_id), [{ currency: 'KES', amount: 1000 }])
})

test('what the customer uses while it is being sent back stays used, and the rest goes back', async () => {
  const account = await shop(10_000)
  const { client } = account
  await client.patch('/v1/account', { settings: { invoice_overpayment: 'credit' } })
  const { invoice_id, customer } = await invoice(client, 1000)
  const [, second = ''] = await payTwice(client, invoice_id, '0001')
  await client.patch('/v1/account', { settings: { invoice_overpayment: 'refund' } })
  await sql.query('begin')
  try {
    await sql.query('select from ledger.wallets where account_id = $1 for update', [tenantOf(account).account])
    await sendBack(account, invoice_id, second)
    const waiting = 'select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))'
    const isWaiting = async () => (await sql.query(waiting)).rows.length > 0
    await eventually(isWaiting, 'the refund to wait for the wallet')
    const next = await invoice(client, 300)
    assert.deepEqual([next.status, next.credit_applied, await isWaiting()], ['paid', 300, true])
  } finally {
    await sql.query('commit')
  }
  const { status, amount } = await refundOf(client, second)
  assert.deepEqual([status, amount], ['completed', 700])
  assert.deepEqual(await credits(client, customer.customer_id), [])
})

test('nothing is sent back unless the account says so', async () => {
  const { client: careless } = await shop(0)
  assert.equal((await careless.patch('/v1/account', { settings: { invoice_overpayment: 'keep' } })).status, 422)
  for (const wish of ['credit', null]) {
    const { client } = await shop(10_000)
    await client.patch('/v1/account', { settings: { invoice_overpayment: wish } })
    const { invoice_id, customer } = await invoice(client, 1000)
    await payTwice(client, invoice_id, '0001')
    await nothingWaits()
    assert.deepEqual((await client.get('/v1/refunds')).body.data, [])
    assert.deepEqual(await credits(client, customer.customer_id), [{ currency: 'KES', amount: 1000 }])
  }
})

async function shop(balance: number) {
  const account = await world.account({ balance })
  const set = await account.client.patch('/v1/account', { settings: { invoice_overpayment: 'refund' } })
  assert.deepEqual([set.status, set.body.settings.invoice_overpayment], [200, 'refund'], set.text)
  return account
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

/** Has a job send back what a payment brought too much. */
async function sendBack(account: Account, invoiceId: string, paymentId: string): Promise<void> {
  const { app } = world
  const tenant = tenantOf(account)
  const row = await one(app.db.query(findInvoice, { ...tenant, id: uuidOf('invoice', invoiceId) ?? '' }))
  const payment = await one(app.db.query(findPayment, { ...tenant, id: uuidOf('payment', paymentId) ?? '' }))
  const nowMs = app.clock.nowMs()
  const occasion = { tenant, receivedMs: nowMs, nowMs, requestId: null }
  await app.db.acrossTx((tx) => giveBack(app, tx, occasion, row, payment))
}

/** Both payments when they are completed; the one whose money was not needed any more comes second. */
async function payTwice(client: Client, id: string, ending: string): Promise<string[]> {
  const both = await Promise.all(
    [`+25470001${ending}`, `+25470002${ending}`].map((phone) => client.post(`${invoices}/${id}/pay?wait=0`, { phone })),
  )
  const ids: string[] = []
  for (const { body } of both) {
    const { status, payment_id } = await settled(client, body.payment_id)
    assert.equal(status, 'completed')
    ids.push(payment_id)
  }
  const told = await tells(client, 'invoice.payment_succeeded')
  const [first] = told.filter(({ payload }: { payload: { invoice_id: string } }) => payload.invoice_id === id)
  return ids.sort((a) => (a === first.payload.payment_id ? -1 : 1))
}

function refundOf(client: Client, payment: string) {
  return eventually(async () => {
    const [found] = (await client.get(`/v1/payments/${payment}/refunds`)).body.data
    return (found?.status === 'completed' || found?.status === 'failed') && found
  }, 'the end of the refund')
}

async function credits(client: Client, customer: string): Promise<{ currency: string; amount: number }[]> {
  return (await client.get(`/v1/billing/customers/${customer}`)).body.credits
}

async function nothingWaits(): Promise<void> {
  await eventually(async () => {
    const { rowCount } = await sql.query(`select from work.jobs where lane like 'billing.give_back%'`)
    return rowCount === 0
  }, 'everything to be given back that is')
}
