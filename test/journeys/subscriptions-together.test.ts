// SPDX-License-Identifier: Apache-2.0
// Many subscriptions at once, on two nodes. Payers have half of their ordinary time here, which is a minute: phones that are
// asked all together must not expire before a busy machine has come to each of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { step } from '../../src/areas/billing/subscriptions/renew.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import type { RunningNode } from '../../src/node/server.ts'
import { advance, dayS, nairobi, plan, subscriptions, toldTimes } from '../billing.ts'
import { startMarket } from '../market.ts'
import { wallet } from '../paying.ts'
import { eventually, tenantOf } from '../world.ts'

const timeScale = 0.5
const { world, sql } = await startMarket(timeScale)

test('two nodes that renew the same subscriptions at once bill each of them once', async () => {
  const account = await nairobi(world)
  const { client } = account
  const tenant = tenantOf(account)
  const plan_id = await plan(client)
  const made = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      client.post(subscriptions, {
        plan_id,
        customer: { email: `a${i}@example.com` },
        payment_method: { type: 'mobile_money', phone: `+25470000${2000 + i}` },
      }),
    ),
  )
  for (const { status, text } of made) assert.equal(status, 201, text)
  const ids = made.map(({ body }) => uuidOf('subscription', body.subscription_id) ?? '')
  await eventually(
    async () => (await client.get(`${subscriptions}?status=active`)).body.data.length === ids.length,
    'all of them to be paid',
  )
  const other = await secondNode()
  try {
    await advance(client, 31 * dayS)
    // Beside the jobs, which run on both: whoever comes at the same moment, several times. Not more at once than there are
    // connections, for which nobody waits longer than 5 s.
    for (let first = 0; first < ids.length; first += 5)
      await Promise.all(
        ids
          .slice(first, first + 5)
          .flatMap((id) => [world.app, other.app, world.app, other.app].map((app) => step(app, tenant, id, 0))),
      )
    await toldTimes(client, 'subscription.renewed', ids.length)
    const { rows } = await sql.query(
      `select subscription_id, count(*)::int as bills, count(distinct number)::int as numbers
         from billing.invoices where account_id = $1 group by 1`,
      [tenant.account],
    )
    assert.deepEqual(
      [rows.length, new Set(rows.map(({ bills, numbers }) => `${bills} bills, ${numbers} numbers`))],
      [20, new Set(['2 bills, 2 numbers'])],
    )
    assert.equal((await wallet(client)).balance, 40 * 1477.5)
  } finally {
    await other.stop()
  }
})

/** Phones are asked by the first node alone: each has simulators of its own. */
async function secondNode(): Promise<RunningNode> {
  return world.another({ PAMOJA_ROLES: ['timers'], PAMOJA_SANDBOX_TIME_SCALE: timeScale })
}
