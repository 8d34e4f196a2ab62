// SPDX-License-Identifier: Apache-2.0
// Pays several people in one request. Run it again with the same name, and nobody is paid twice.
//   node examples/node/pay-out-a-batch.mjs salaries-2026-05
import { setTimeout as pause } from 'node:timers/promises'
import { call } from './pamoja.mjs'

const name = process.argv[2] ?? `salaries-${Date.now()}`
// In the sandbox the last digits decide: 0001 is paid, 0004 has no account.
const items = [
  { phone: '+254700000001', amount: 120, recipient: { name: 'Asha' }, reference: `${name}/asha` },
  { phone: '+254700000004', amount: 80, recipient: { name: 'Baraka' }, reference: `${name}/baraka` },
]

const batch = await call('POST', '/v1/payments/payout/bulk', { currency: 'KES', items }, name)
console.log(
  `${batch.batch_id}: KES ${batch.total_amount} for ${batch.total_count} and KES ${batch.total_fee} of fees are held`,
)

// The event `payout.batch_completed` tells of the end too.
const path = `/v1/payments/payout/bulk/${batch.batch_id}`
let state = await call('GET', path)
while (state.status !== 'completed') {
  await pause(500)
  state = await call('GET', path)
}
for (const { reference, amount, status, failure_reason } of state.payouts)
  console.log(`${reference}: KES ${amount} ${status}${failure_reason ? ` (${failure_reason})` : ''}`)
