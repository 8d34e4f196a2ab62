// SPDX-License-Identifier: Apache-2.0
// What is set aside in a wallet, shown among its movements: for payouts alone and in a batch, and for refunds.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Client } from '../client.ts'
import { eventually, startWorld, type World } from '../world.ts'

let world: World

before(async () => {
  world = await startWorld({ PAMOJA_SANDBOX_TIME_SCALE: 0.01 })
})
after(() => world.stop())

interface Row {
  transaction_id?: string
  hold_id?: string
  type: string
  amount: number
  status?: string
  captured?: number
  released?: number
  expires_at?: null
  balance_after?: number
  source: { type: string; id: string }
  reference: string | null
  created_at: string
}

const path = '/v1/wallet/transactions'
const later = () => new Date(Date.now() + 3_600_000).toISOString()

test('what is set aside stands among the movements, in one order, however the list is cut', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const open = await payout(client, { amount: 100, scheduled_at: later(), reference: 'rent' })
  const withdrawn = await payout(client, { amount: 50, scheduled_at: later() })
  assert.equal((await client.post(`/v1/payouts/${withdrawn}/cancel`)).status, 200)
  const paid = await payout(client, { amount: 20 })
  await eventually(async () => (await client.get(`/v1/payouts/${paid}`)).body.status === 'completed', 'it to be paid')
  const { body: batch } = await client.post('/v1/payments/payout/bulk', {
    currency: 'KES',
    items: [
      { amount: 10, phone: '+254700000001' },
      { amount: 30, phone: '+254700000004' },
    ],
  })
  const bulk = `/v1/payments/payout/bulk/${batch.batch_id}`
  await eventually(async () => (await client.get(bulk)).body.status === 'completed', 'the batch to be over')

  assert.equal(
    (await client.get(path)).body.data.some(({ type }: Row) => type === 'hold'),
    false,
  )
  const rows = await all(client, 'include=holds')
  const held = rows.filter(({ type }) => type === 'hold')
  assert.deepEqual(
    held.map(({ source, status, amount, captured, released, expires_at }) => [
      ...[source, status, amount, captured, released, expires_at],
    ]),
    [
      [{ type: 'payout_batch', id: batch.batch_id }, 'captured', 40.2, 10.05, 30.15, null],
      [{ type: 'payout', id: paid }, 'captured', 20.1, 20.1, 0, null],
      [{ type: 'payout', id: withdrawn }, 'released', 50.25, 0, 50.25, null],
      [{ type: 'payout', id: open }, 'open', 100.5, 0, 0, null],
    ],
  )
  assert.equal(held.at(-1)?.reference, 'rent')
  for (const row of rows) {
    assert.equal(row.type === 'hold', row.hold_id?.startsWith('hold_') === true)
    assert.equal(row.type === 'hold', row.transaction_id === undefined)
    assert.equal(row.type === 'hold', row.balance_after === undefined)
  }
  const times = rows.map(({ created_at }) => created_at)
  assert.deepEqual(times, [...times].sort().reverse(), 'newest first')
  const opened = (await client.get('/v1/wallet/balance')).body
  assert.equal(opened.held, 100.5)

  for (const limit of [1, 2, 3, 5]) assert.deepEqual(await all(client, `include=holds&limit=${limit}`), rows)
  assert.deepEqual(await all(client, 'include=holds&order=asc&limit=2'), [...rows].reverse())
  assert.deepEqual(await all(client, 'type=hold&limit=1'), held)
  assert.deepEqual(
    await all(client, 'type=payout&include=holds'),
    rows.filter(({ type }) => type === 'payout'),
  )
  assert.deepEqual(await all(client, 'include=holds&currency=USD'), [])
  assert.deepEqual(await all(client, 'include=holds&end_date=2020-01-01'), [])
  assert.equal((await client.get(`${path}?include=everything`)).status, 400)

  const { text } = await client.get(`${path}?include=holds&limit=2`, { headers: { accept: 'text/csv' } })
  const [names, ...lines] = text.trim().split('\r\n')
  assert.match(names ?? '', /^transaction_id,type,.*,hold_id,status,captured,released,expires_at$/)
  assert.equal(lines.length, rows.length)
  assert.equal(lines.filter((line) => line.startsWith(',hold,debit,')).length, held.length)
})

test('a refund sets money aside, and the hold says what became of it', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const { body: payment } = await client.post('/v1/payments', { amount: 500, currency: 'KES', phone: '+254700000001' })
  const status = async (url: string) => (await client.get(url)).body.status
  await eventually(async () => (await status(`/v1/payments/${payment.payment_id}`)) === 'completed', 'it to be paid')
  const { body: refund, text } = await client.post(`/v1/payments/${payment.payment_id}/refund`, { amount: 200 })
  assert.ok(refund.refund_id, text)
  await eventually(async () => (await status(`/v1/refunds/${refund.refund_id}`)) === 'completed', 'it to be refunded')
  const [row] = await all(client, 'type=hold')
  assert.deepEqual([row?.source, row?.status], [{ type: 'refund', id: refund.refund_id }, 'captured'])
})

async function payout(client: Client, fields: object): Promise<string> {
  const { status, body, text } = await client.post('/v1/payouts', {
    currency: 'KES',
    phone: '+254700000001',
    ...fields,
  })
  assert.equal(status, 201, text)
  return body.payout_id
}

async function all(client: Client, query: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let cursor = ''; ; ) {
    const { status, body, text } = await client.get(`${path}?${query}${cursor}`)
    assert.equal(status, 200, text)
    rows.push(...body.data)
    if (!body.has_more) return rows
    cursor = `&cursor=${body.next_cursor}`
  }
}
