// SPDX-License-Identifier: Apache-2.0
// A refund of what was paid by bank, heard of from the bank's own notice: long before it would be asked for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callbackUrl } from '../../src/areas/payments/records/callback-address.ts'
import { refundJob } from '../../src/areas/payments/refunds/submit.ts'
import { bucketOf, uuidOf } from '../../src/kernel/ids.ts'
import { startMarket } from '../market.ts'
import { eventually } from '../world.ts'

// The bank decides after a second; it would be asked after five.
const { world, sql } = await startMarket(0.5)

test('the bank’s notice of a refund is a reason to ask; one that is not signed is nothing', async () => {
  const account = await world.account({ balance: 1_000 })
  const { client } = account
  const bank = { account_number: '0112230001', bank_code: '999', account_name: 'Asha Otieno' }
  const { body: payment, text } = await client.post('/v1/payments', { amount: 400, currency: 'KES', bank })
  assert.ok(payment.payment_id, text)
  const read = async (path: string) => (await client.get(path)).body
  await eventually(
    async () => (await read(`/v1/payments/${payment.payment_id}`)).status === 'completed',
    'the payment to be completed',
    60_000,
  )
  // Nobody asks by himself: only a notice can end it.
  await sql.query(`create function work.not_now() returns trigger language plpgsql as $$
                   begin new.run_at = 'infinity'; return new; end $$`)
  await sql.query(`create trigger not_now before insert or update on work.jobs for each row
                   when (new.lane = '${refundJob.lane}') execute function work.not_now()`)
  const { body: refund } = await client.post(`/v1/payments/${payment.payment_id}/refund`, { amount: 150 })
  assert.equal(refund.status, 'processing')
  const id = uuidOf('refund', refund.refund_id) ?? ''
  const [{ token }] = (await sql.query('select token from payments.refunds where id = $1', [id])).rows
  const tenant = { bucket: bucketOf(uuidOf('account', account.id) ?? ''), account: uuidOf('account', account.id) ?? '' }
  const url = callbackUrl(world.app, { ...tenant, environment: 'test' }, { id, token }, 'refund', 0)
  const unsigned = await world.stranger.request('POST', new URL(url).pathname, { body: { id, status: 'paid' } })
  assert.equal(unsigned.status, 404)
  await eventually(
    async () => (await read(`/v1/refunds/${refund.refund_id}`)).status === 'completed',
    'the refund to be completed',
    60_000,
  )
  const { rows } = await sql.query('select polls, provider_reference from payments.refunds where id = $1', [id])
  assert.equal(rows[0].polls, 0)
  assert.match(rows[0].provider_reference, /^BNK/)
})
