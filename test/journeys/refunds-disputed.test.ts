// SPDX-License-Identifier: Apache-2.0
// A refund that could not be sent yet when the payer's bank takes the money back: it must not be sent any more.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { uuidOf } from '../../src/kernel/ids.ts'
import { startMarket } from '../market.ts'
import { eventually } from '../world.ts'

const { world, sql } = await startMarket(0.01)

test('a refund that waits while a dispute is opened fails, and its money is back', async () => {
  const { client } = await world.account({ balance: 500 })
  const card = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '123' }
  const { body: payment, text } = await client.post('/v1/payments', { amount: 1_000, currency: 'KES', card })
  assert.equal(payment.status, 'completed', text)
  // As long as this stands, no refund gets as far as the acquirer.
  await sql.query(`create function payments.not_sent() returns trigger language plpgsql as $$
                   begin raise exception 'not now'; end $$`)
  await sql.query(`create trigger not_sent before update on payments.refunds for each row
                   when (new.state = 'sending') execute function payments.not_sent()`)
  const { body: refund } = await client.post(`/v1/payments/${payment.payment_id}/refund?wait=0`, { amount: 400 })
  assert.equal(refund.status, 'pending')
  await eventually(
    async () => {
      const { rows } = await sql.query(`select 1 from work.jobs where lane = 'payments.refund' and failures > 0`)
      return rows.length > 0
    },
    'the refund to be tried in vain',
    60_000,
  )
  await sql.query(`update payments.payments set dispute_status = 'open' where id = $1`, [
    uuidOf('payment', payment.payment_id),
  ])
  await sql.query('drop trigger not_sent on payments.refunds')
  const failed = await eventually(
    async () => {
      const { body } = await client.get(`/v1/refunds/${refund.refund_id}`)
      return body.status === 'failed' && body
    },
    'the refund to be given up',
    120_000,
  )
  assert.deepEqual([failed.failure_reason, failed.provider_reference], ['REVERSED_BY_PROVIDER', null])
  const { body: wallet } = await client.get('/v1/wallet/balance')
  assert.equal(wallet.held, 0)
  assert.equal((await client.get(`/v1/payments/${payment.payment_id}`)).body.amount_refunded, 0)
  const told = (await client.get('/v1/events')).body.data
  assert.equal(told.filter(({ event }: { event: string }) => event === 'refund.failed').length, 1)
})
