// SPDX-License-Identifier: Apache-2.0
// What belongs to a payment is found without reading what belongs to the account's others, also where one account has most of
// the rows and the plan is made for all: by index, whether it is asked for by its own id or by the payment's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findDispute, statusOfDisputes } from '../../src/areas/payments/disputes/store.ts'
import { attemptOfPayment } from '../../src/areas/payments/records/store.ts'
import { findRefund, newestRefunds, returnedFees } from '../../src/areas/payments/refunds/store.ts'
import { eventually } from '../eventually.ts'
import { startMarket } from '../market.ts'

const { world, sql } = await startMarket(0.01)
const rowsOfOne = 5_000

test('one among thousands is found by the index of the question', async () => {
  const { client } = await world.account({ balance: 10_000 })
  const pay = async (number: string) => {
    const card = { number, exp_month: 12, exp_year: 2040, cvv: '123' }
    return (await client.post('/v1/payments', { amount: 100, currency: 'KES', card })).body.payment_id
  }
  await client.post(`/v1/payments/${await pay('4242424242424242')}/refund`, {})
  await pay('4000000000000259')
  await eventually(async () => (await client.get('/v1/payments/disputes')).body.data.length === 1, 'the dispute')
  for (const table of ['attempts', 'refunds', 'disputes']) for (const own of [true, false]) await fill(table, own)
  await sql.query('set plan_cache_mode = force_generic_plan')
  for (const [statement, table, index, by] of [
    [attemptOfPayment, 'attempts', 'attempts_of_payment', 'payment_id'],
    [newestRefunds, 'refunds', 'refunds_of_payment', 'payment_id'],
    [returnedFees, 'refunds', 'refunds_of_payment', 'payment_id'],
    [findRefund, 'refunds', 'refunds_pkey', 'id'],
    [statusOfDisputes, 'disputes', 'disputes_of_payment', 'payment_id'],
    [findDispute, 'disputes', 'disputes_pkey', 'id'],
  ] as const) {
    const { rows } = await sql.query(`select * from payments.${table} order by ${by} limit 1`)
    const known: Record<string, unknown> = {
      ...rows[0],
      account: rows[0].account_id,
      payment: rows[0].payment_id,
      limit: 20,
    }
    const values = statement.parameters.map((name) => `'${known[name]}'`)
    await sql.query(`prepare asked as ${statement.text}`)
    const { rows: plan } = await sql.query(`explain execute asked(${values.join(', ')})`)
    await sql.query('deallocate asked')
    const text = plan.map((line) => line['QUERY PLAN']).join('\n')
    assert.match(text, new RegExp(`using ${index} on ${table}`), `${statement.name}\n${text}`)
  }
})

/** Thousands like the first: all of its account, or each of another. */
async function fill(table: string, own: boolean): Promise<void> {
  const unlike = own ? '' : `, 'account_id', gen_random_uuid(), 'bucket', n % 256`
  await sql.query(
    `insert into payments.${table}
     select (jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid(), 'payment_id', gen_random_uuid(),
              'reference', null, 'provider_id', null ${unlike}) ${table === 'disputes' ? `|| '{"provider_id": "dp"}'` : ''})).*
       from (select one from payments.${table} one limit 1) first, generate_series(1, ${rowsOfOne}) n`,
  )
  await sql.query(`analyze payments.${table}`)
}
