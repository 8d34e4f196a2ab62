// SPDX-License-Identifier: Apache-2.0
// What is read of payments beside the payment itself: waiting for its end, its receipt, and the list as a file.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '../client.ts'
import { eventually } from '../eventually.ts'
import { startMarket } from '../market.ts'

const maxReceiptBytes = 30 * 1024

const { world } = await startMarket(0.01)

test('whoever waits for a payment is answered when it is over', async () => {
  const { client } = await world.account()
  for (const [ending, status] of [
    ['0001', 'completed'],
    ['0004', 'cancelled'],
  ]) {
    const asked = await ask(client, ending)
    const waited = await client.get(`/v1/payments/${asked.payment_id}?wait=30&fail_on_timeout=true`)
    assert.deepEqual([waited.status, waited.body.status], [200, status], waited.text)
    const again = await client.get(`/v1/payments/${asked.payment_id}?wait=30`)
    assert.equal(again.body.status, status, 'a payment that is over is not waited for')
  }
})

test('many may wait for one payment, and all are answered', async () => {
  const { client } = await world.account()
  const asked = await ask(client, '0001')
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => client.get(`/v1/payments/${asked.payment_id}?wait=30`)),
  )
  assert.deepEqual(new Set(replies.map(({ body }) => body.status)), new Set(['completed']), replies[0]?.text)
})

test('a payment that takes longer is answered as it is, or with a refusal for those who want one', async () => {
  const { client } = await world.account()
  const asked = await ask(client, '0003', { expires_in: 86_400 })
  const path = `/v1/payments/${asked.payment_id}`
  for (const query of ['wait=0', 'wait=1', 'fail_on_timeout=true', 'wait=0&fail_on_timeout=false']) {
    const { status, body } = await client.get(`${path}?${query}`)
    assert.deepEqual([status, body.status], [200, 'processing'], query)
  }
  for (const query of ['wait=0&fail_on_timeout=true', 'wait=1&fail_on_timeout=true']) {
    const { status, body } = await client.get(`${path}?${query}`)
    assert.deepEqual(
      [status, body.error.code, body.error.payment_id, body.error.status],
      [409, 'TRANSACTION_TIMEOUT', asked.payment_id, 'processing'],
    )
  }
  for (const query of ['wait=31', 'wait=-1', 'wait=soon', 'wait=1&fail_on_timeout=perhaps'])
    assert.equal((await client.get(`${path}?${query}`)).status, 400, query)
})

test('a payment that another node saw to its end is found too', async () => {
  const { client } = await world.account()
  const { payment_id } = await ask(client, '0003', { expires_in: 86_400 })
  const waiting = client.get(`/v1/payments/${payment_id}?wait=30&fail_on_timeout=true`)
  // As another node would do it: this one is told nothing.
  await world.app.db.query(
    {
      name: 'test.complete_elsewhere',
      text: `update payments.payments set status = 'failed' where status = 'processing' and bucket = any($1::smallint[])`,
      parameters: ['buckets'],
      where: 'everywhere',
      changes: true,
      joinsHome: false,
    },
    { buckets: Array.from({ length: 256 }, (_, i) => i) },
  )
  assert.equal((await waiting).body.status, 'failed')
})

test('a completed payment has a receipt that says little and does nothing', async () => {
  const { client } = await world.account({ balance: 5_000 })
  const asked = await ask(client, '0001', { description: '<b>Order & "77"</b>', reference: 'order-77' })
  assert.equal(asked.receipt_url, null)
  const { body: paid } = await client.get(`/v1/payments/${asked.payment_id}?wait=30`)
  const name = /\/r\/([\w-]{23})$/.exec(paid.receipt_url)?.[1] ?? ''
  assert.ok(paid.receipt_url.startsWith(world.node.url), paid.receipt_url)
  const page = await world.stranger.get(`/r/${name}`)
  assert.deepEqual([page.status, page.headers['content-type']], [200, 'text/html; charset=utf-8'], page.text)
  assert.ok(Buffer.byteLength(page.text) < maxReceiptBytes)
  assert.doesNotMatch(page.text, /<script|<img|<link|https?:|\bon\w+=/i)
  assert.match(page.headers['content-security-policy'] ?? '', /default-src 'none'/)
  for (const shown of [
    'KES\u00a01,500.00',
    'order-77',
    '&lt;b&gt;Order &amp; &quot;77&quot;',
    paid.payment_id,
    'This is a test',
  ])
    assert.ok(page.text.includes(shown), shown)
  assert.ok(!page.text.includes(paid.phone.slice(1, -3)), 'the number is not there')
  assert.equal((await world.stranger.get(`/r/${name}`)).text, page.text)
  for (const wrong of ['x', name.slice(1), `${name}A`, name.toUpperCase(), '%00', 'A'.repeat(23), 'A'.repeat(2_000)])
    assert.equal((await world.stranger.get(`/r/${wrong}`)).status, 404, wrong)
})

test('a receipt says what the payer has back, and nothing of what is only on its way', async () => {
  const { client } = await world.account({ balance: 5_000 })
  const receiptOf = async (payment_id: string) => {
    const { body } = await client.get(`/v1/payments/${payment_id}?wait=30`)
    return (await world.stranger.get(new URL(body.receipt_url).pathname)).text
  }
  const refunded = async (payment_id: string, amount: number) => {
    await client.get(`/v1/payments/${payment_id}?wait=30`)
    const { status, body, text } = await client.post(`/v1/payments/${payment_id}/refund`, { amount })
    assert.equal(status, 201, text)
    return body.refund_id
  }
  // Of this one Airtel Money never says whether it took the refund.
  const { body: lost } = await client.post('/v1/payments', { amount: 500, currency: 'KES', phone: '+254733000024' })
  await refunded(lost.payment_id, 500)
  assert.doesNotMatch(await receiptOf(lost.payment_id), /[Rr]efunded/)
  const { payment_id } = await ask(client, '0001')
  const refund = await refunded(payment_id, 500)
  await eventually(async () => (await client.get(`/v1/refunds/${refund}`)).body.status === 'completed', 'the refund')
  assert.match(await receiptOf(payment_id), /refunded in part.*KES\u00a0500\.00/s)
})

test('a payment that was not paid has no receipt', async () => {
  const { client } = await world.account()
  const { payment_id } = await ask(client, '0002')
  const { body } = await client.get(`/v1/payments/${payment_id}?wait=30`)
  assert.deepEqual([body.status, body.receipt_url], ['failed', null])
})

test('the list of transactions comes as a file', async () => {
  const { client } = await world.account()
  const { payment_id } = await ask(client, '0001', { description: '=1+1' })
  await client.get(`/v1/payments/${payment_id}?wait=30`)
  const file = await client.get('/v1/payments/transactions', { headers: { accept: 'text/csv' } })
  assert.deepEqual([file.status, file.headers['content-type']], [200, 'text/csv; charset=utf-8'])
  const [head = '', row = '', end] = file.text.split('\r\n')
  assert.match(head, /^transaction_id,type,payment_id,/)
  assert.ok(row.includes(payment_id) && row.includes("'=1+1") && row.includes('+2547****0001'), row)
  assert.equal(end, '')
})

async function ask(client: Client, ending = '0001', more: object = {}) {
  const body = { amount: 1500, currency: 'KES', phone: `+25470000${ending}`, ...more }
  const asked = await client.post('/v1/payments', body)
  assert.equal(asked.status, 201, asked.text)
  return asked.body
}
