// SPDX-License-Identifier: Apache-2.0
// The walk of docs/subscriptions.md, begun at any hour: the clock of a test account stops for what falls due on its way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advance, dayS, nairobi, plan, subscriptions, tells } from '../billing.ts'
import { startMarket } from '../market.ts'

const { world } = await startMarket(0.05)

for (const hour of [1, 14, 22])
  test(`the walk of the guide works at any hour: at ${hour} o’clock in Nairobi`, async () => {
    const { client } = await nairobi(world)
    await advance(client, ((hour + 24 - 10) % 24 || 24) * 3_600)
    const plan_id = await plan(client, { tax_rate: 16, trial_days: 7 })
    const customer = { name: 'Asha', email: 'asha@example.com' }
    const payment_method = { type: 'mobile_money', phone: '+254700000001' }
    const made = (await client.post(subscriptions, { plan_id, customer, payment_method })).body
    const path = `${subscriptions}/${made.subscription_id}`
    await advance(client, 648_000)
    assert.equal((await client.get(path)).body.status, 'active')
    await advance(client, 2_678_400)
    const bills = (await client.get(`/v1/billing/invoices?subscription_id=${made.subscription_id}`)).body.data
    assert.deepEqual(
      bills.map(({ status, total }: { status: string; total: number }) => [status, total]),
      [
        ['paid', 1740],
        ['paid', 1740],
      ],
    )
    const [ending] = await tells(client, 'subscription.trial_ending')
    const early = Date.parse(made.trial_end) - Date.parse(ending.created_at)
    assert.ok(Math.abs(early - 3 * dayS * 1_000) < 120_000, `told ${early / 3_600_000} hours before the end`)
    for (const { paid_at } of bills) {
      const asked = (new Date(paid_at).getUTCHours() + 3) % 24
      assert.ok(asked >= 8 && asked < 21, `paid at ${asked} o’clock`)
    }
    assert.ok(bills[1].paid_at < bills[0].created_at, 'one after the other')
    const bigger = await plan(client, { amount: 2_500 })
    assert.equal((await client.patch(path, { plan_id: bigger, quantity: 2 })).status, 200)
  })
