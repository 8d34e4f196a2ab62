// SPDX-License-Identifier: Apache-2.0
// Payments of which a provider told another amount: the money is kept apart, an operator sees it, and says what becomes of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { uuidOf } from '../../src/kernel/ids.ts'
import type { Client } from '../client.ts'
import { balanceOfContra } from '../contra.ts'
import { startMarket } from '../market.ts'
import { settled, wallet } from '../paying.ts'
import { tenantOf } from '../world.ts'

// The provider's call, which says how much was paid, comes after half a second; it would be asked after three.
const { world, sql } = await startMarket(0.3)
const path = '/v1/operator/payments/discrepancies'

/** A payment of which less came than was asked for, as the operator sees it. */
async function mismatched(client: Client) {
  const { body } = await client.post('/v1/payments', { amount: 100, currency: 'KES', phone: '+254700000013' })
  const payment = await settled(client, body.payment_id)
  assert.deepEqual([payment.status, payment.failure_reason], ['failed', 'AMOUNT_MISMATCH'])
  const { data } = (await world.operator.get(`${path}?limit=200`)).body
  const row = data.find(({ payment_id }: { payment_id: string }) => payment_id === body.payment_id)
  assert.ok(row, 'it is on the list')
  return row
}

test('an operator sees what was asked for and what came, and takes it from the list', async () => {
  const { client, id } = await world.account()
  const row = await mismatched(client)
  assert.deepEqual(
    [row.account_id, row.status, row.provider, row.currency, row.asked_amount, row.resolved_at, row.note],
    [id, 'failed', 'mpesa', 'KES', 100, null, null],
  )
  assert.notEqual(row.told_amount, 100)
  const resolve = `${path}/${row.payment_id}/resolve`
  const { status, body, text } = await world.operator.post(resolve, { note: 'asked the payer' })
  assert.deepEqual([status, body.note, body.action, body.amount_moved], [200, 'asked the payer', 'none', 0], text)
  assert.ok(body.resolved_at)
  assert.equal((await world.operator.post(resolve, {})).status, 404, 'it is not on the list any more')
  assert.equal((await client.get(path)).status, 403)
  assert.deepEqual(await wallet(client), { balance: 0, held: 0 })
})

test('what is in suspense goes to the account, or back to the payer, once and with a reason', async () => {
  for (const [action, isCredited] of [
    ['credit_account', true],
    ['returned_to_payer', false],
  ] as const) {
    const { client, id } = await world.account()
    const tenant = tenantOf({ id })
    const row = await mismatched(client)
    const resolve = `${path}/${row.payment_id}/resolve`
    const kept = () => balanceOfContra(world.app.db, tenant, 'suspense:mpesa', 'KES')
    const float = () => balanceOfContra(world.app.db, tenant, 'float:mpesa', 'KES')
    const came = await kept()
    assert.equal(Number(came) / 1_000_000, row.told_amount)

    const silent = await world.operator.post(resolve, { action })
    assert.deepEqual([silent.status, silent.body.error?.fields?.[0].field], [422, 'note'], silent.text)
    assert.equal(await kept(), came, 'nothing moves without a reason')

    const answers = await Promise.all(
      [1, 2, 3].map(() => world.operator.post(resolve, { action, note: 'as agreed with the payer' })),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404, 404])
    const body = answers.find(({ status }) => status === 200)?.body
    assert.deepEqual([body.action, body.amount_moved, body.currency_moved], [action, row.told_amount, 'KES'])
    assert.equal(await kept(), 0n)
    assert.equal(await float(), isCredited ? -came : 0n, 'the provider has it, or the payer')
    assert.deepEqual(await wallet(client), { balance: isCredited ? row.told_amount : 0, held: 0 })

    const { data } = (await client.get('/v1/wallet/transactions')).body
    const shown = data.map((one: { type: string; source: object; amount: number; description: string }) => [
      one.type,
      one.source,
      one.amount,
      one.description,
    ])
    const source = { type: 'payment', id: row.payment_id }
    const credit = ['adjustment', source, row.told_amount, 'as agreed with the payer']
    assert.deepEqual(shown, isCredited ? [credit] : [])
    assert.equal(
      (await client.get(`/v1/payments/${row.payment_id}`)).body.status,
      'failed',
      'it is not what was asked for',
    )
  }
})

test('what was booked as asked for has nothing in suspense that could move', async () => {
  const { client, id } = await world.account()
  const { body } = await client.post('/v1/payments', { amount: 100, currency: 'KES', phone: '+254700000001' })
  await settled(client, body.payment_id)
  const { bucket, account, environment } = tenantOf({ id })
  await sql.query(
    `insert into payments.discrepancies (bucket, account_id, environment, payment_id, provider, currency, asked_amount,
       told_amount, found_at) values ($1, $2, $3, $4, 'mpesa', 'KES', 100000000, 90000000, now())`,
    [bucket, account, environment, uuidOf('payment', body.payment_id)],
  )
  const resolve = `${path}/${body.payment_id}/resolve`
  const refused = await world.operator.post(resolve, { action: 'credit_account', note: 'x' })
  assert.deepEqual(
    [refused.status, refused.body.error?.code, refused.body.error?.status],
    [409, 'INVALID_STATE', 'completed'],
    refused.text,
  )
  assert.equal((await world.operator.post(resolve, { note: 'the statement is right' })).status, 200)
})
