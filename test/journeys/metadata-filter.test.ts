// SPDX-License-Identifier: Apache-2.0
// What carries a customer's own note is found by it, in every list of things that can carry one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plan } from '../billing.ts'
import type { Client } from '../client.ts'
import { startMarket } from '../market.ts'
import { settled } from '../paying.ts'

const { world } = await startMarket(0.01)

const order = { metadata: { order: '77', shop: 'Kisumu', urgent: true, size: 12.5 } }
const other = { metadata: { order: '78', shop: 'Kisumu' } }

test('payments, top-ups, payouts and refunds are found by their notes, alone and together', async () => {
  const { client } = await world.account({ balance: 10_000 })
  const money = { amount: 100, currency: 'KES', phone: '+254700000001' }
  const payment = await made(client, '/v1/payments', { ...money, ...order })
  await made(client, '/v1/payments', { ...money, ...other })
  await made(client, '/v1/payments', money)
  await settled(client, payment.payment_id)
  const topup = await made(client, '/v1/wallet/topup', { ...money, method: 'mobile_money', ...order })
  const payout = await made(client, '/v1/payouts', { ...money, ...order })
  await made(client, '/v1/payouts', { ...money, ...other })
  const refund = await made(client, `/v1/payments/${payment.payment_id}/refund`, { amount: 40, ...order })
  await made(client, `/v1/payments/${payment.payment_id}/refund`, { amount: 10 })

  const all = await found(client, '/v1/payments/transactions?metadata[order]=77', 'transaction_id', ownId)
  assert.deepEqual(all, [refund.refund_id, payout.payout_id, topup.payment_id, payment.payment_id])
  const rows: [query: string, count: number][] = [
    ['metadata[shop]=Kisumu', 6],
    ['metadata[shop]=Kisumu&metadata[order]=78', 2],
    ['metadata[urgent]=true&metadata[size]=12.5&type=payment', 1],
    ['metadata[order]=77&status=cancelled', 0],
    ['metadata[order]=7', 0],
    ['metadata[colour]=red', 0],
    ["metadata[order]=77' or true--", 0],
  ]
  for (const [query, count] of rows) {
    const { body } = await client.get(`/v1/payments/transactions?${encodeURI(query)}`)
    assert.equal(body.data.length, count, query)
  }
  assert.deepEqual(await found(client, '/v1/payouts?metadata[order]=77', 'payout_id'), [payout.payout_id])
  assert.deepEqual(await found(client, '/v1/payouts?metadata[order]=77&in_review=true', 'payout_id'), [])
  assert.deepEqual(await found(client, '/v1/refunds?metadata[order]=77', 'refund_id'), [refund.refund_id])
  const { client: neighbour } = await world.account()
  assert.deepEqual(await found(neighbour, '/v1/payments/transactions?metadata[order]=77', 'transaction_id'), [])
})

test('pages of what was found have neither gaps nor repeats', async () => {
  const { client } = await world.account()
  const ids: string[] = []
  for (let n = 0; n < 6; n++) {
    const body = { amount: 10, currency: 'KES', phone: '+254700000001', ...(n % 2 ? other : order) }
    const { payment_id } = await made(client, '/v1/payments', body)
    if (n % 2 === 0) ids.unshift(payment_id)
  }
  const path = '/v1/payments/transactions?limit=2&metadata[order]=77'
  const { body: first, headers } = await client.get(path)
  assert.match(String(headers.link), /metadata/)
  const { body: second } = await client.get(`${path}&cursor=${first.next_cursor}`)
  assert.deepEqual(
    [...first.data, ...second.data].map(({ payment_id }: { payment_id: string }) => payment_id),
    ids,
  )
  assert.equal(second.has_more, false)
})

test('invoices and subscriptions are found by their notes', async () => {
  const { client } = await world.account()
  const bill = {
    customer: { name: 'Asha', email: 'asha@example.com' },
    currency: 'KES',
    items: [{ description: 'Work', quantity: 1, unit_amount: 100 }],
  }
  const invoice = await made(client, '/v1/billing/invoices', { ...bill, ...order })
  await made(client, '/v1/billing/invoices', { ...bill, ...other })
  assert.deepEqual(await found(client, '/v1/billing/invoices?metadata[order]=77', 'invoice_id'), [invoice.invoice_id])
  const plan_id = await plan(client)
  const wanted = { plan_id, customer: bill.customer, method: 'invoice' }
  const subscription = await made(client, '/v1/billing/subscriptions', { ...wanted, ...order })
  await made(client, '/v1/billing/subscriptions', wanted)
  assert.deepEqual(await found(client, '/v1/billing/subscriptions?metadata[order]=77', 'subscription_id'), [
    subscription.subscription_id,
  ])
})

test('too many notes, or what is none, is refused', async () => {
  const { client } = await world.account()
  const many = Array.from({ length: 11 }, (_, n) => `metadata[n${n}]=1`).join('&')
  for (const query of [many, 'metadata=77', `metadata[order]=${'7'.repeat(501)}`])
    for (const path of ['payments/transactions', 'payouts', 'refunds', 'billing/invoices', 'billing/subscriptions']) {
      const { status, body } = await client.get(`/v1/${path}?${query}`)
      assert.deepEqual([status, body.error?.code], [400, 'INVALID_REQUEST'], `${path} ${query.slice(0, 40)}`)
    }
})

async function made(client: Client, path: string, body: object) {
  const reply = await client.post(path, body)
  assert.ok(reply.status === 200 || reply.status === 201, reply.text)
  return reply.body
}

type Row = Record<string, string | null>

async function found(client: Client, path: string, name: string, shown = (row: Row) => row[name]) {
  const { status, body, text } = await client.get(path)
  assert.equal(status, 200, text)
  return body.data.map(shown)
}

function ownId({ refund_id, payout_id, payment_id }: Row) {
  return refund_id ?? payout_id ?? payment_id
}
