// SPDX-License-Identifier: Apache-2.0
// Subscriptions of one account that fall due at one moment: billed together, each once, whatever else is among them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renewMany } from '../../src/areas/billing/subscriptions/renew-many.ts'
import { newUuid, uuidOf } from '../../src/kernel/ids.ts'
import { advance, becomes, dayS, nairobi, payUp, plan, subscriptions, tells, toldTimes } from '../billing.ts'
import type { Client } from '../client.ts'
import { moveClockAlone } from '../looking.ts'
import { startMarket } from '../market.ts'
import { type Account, eventually, tenantOf } from '../world.ts'

const { world, sql } = await startMarket(0.05)

test('what falls due at one moment is billed in one transaction, with numbers that have no gap', async () => {
  const account = await nairobi(world)
  const { client } = account
  const plan_id = await plan(client, { tax_rate: 16 })
  const ids = await subscribeMany(client, plan_id, 30)
  await twoJobsEach(account)
  await advance(client, 31 * dayS)
  await toldTimes(client, 'invoice.opened', 60)
  await noneDue(account)
  const { rows: periods } = await sql.query(
    `select count(*)::int as begun, count(distinct xmin::text)::int as transactions
       from billing.periods where account_id = $1 and cycle = 2 having count(*) > 0`,
    [tenantOf(account).account],
  )
  assert.equal(periods[0].begun, 30)
  assert.ok(periods[0].transactions <= 3, `${periods[0].transactions} transactions`)
  const bills = (await client.get('/v1/billing/invoices?limit=200')).body.data
  assert.deepEqual(numbersOf(bills), range(60))
  for (const id of ids) {
    const { body: now } = await client.get(`${subscriptions}/${id}`)
    assert.deepEqual([now.status, now.cycles, now.current_period_start.slice(5, 10)], ['active', 2, '04-01'])
    const mine = bills.filter(({ subscription_id }: { subscription_id: string }) => subscription_id === id)
    assert.equal(mine.length, 2)
    const [bill] = mine.filter(({ invoice_id }: { invoice_id: string }) => invoice_id === now.latest_invoice_id)
    assert.deepEqual([bill.status, bill.total, bill.amount_due, bill.payments], ['open', 1740, 1740, []])
    assert.deepEqual([bill.sent_at, bill.due_date.slice(5)], [null, '04-15'])
    assert.match(bill.items[0].description, /^Monthly \(\d{4}-04-01 to \d{4}-05-01\)$/)
  }
  const told = await tells(client, 'invoice.opened')
  assert.equal(new Set(told.map(({ payload }: { payload: { number: string } }) => payload.number)).size, 60)
  assert.ok(told.every(({ payload }: { payload: { sequence: number } }) => payload.sequence === 1))
  // What was billed together is paid one by one.
  const [first = ''] = ids
  const { latest_invoice_id } = (await client.get(`${subscriptions}/${first}`)).body
  await client.post(`/v1/billing/invoices/${latest_invoice_id}/pay`, { phone: '+254700000001' })
  const [renewed] = await toldTimes(client, 'subscription.renewed', 1)
  assert.equal(renewed.payload.subscription_id, first)
})

test('whatever else falls due among them goes its own way', async () => {
  const account = await nairobi(world)
  const { client } = account
  const plan_id = await plan(client)
  const free = await plan(client, { amount: 0 })
  const subscribed = async (more: object, of = plan_id) => {
    const customer = { email: `${newUuid(0)}@example.com` }
    const made = await client.post(subscriptions, { plan_id: of, customer, ...more })
    assert.equal(made.status, 201, made.text)
    return made.body
  }
  const phone = (ending: string) => ({ payment_method: { type: 'mobile_money', phone: `+25470000${ending}` } })
  const plain = await subscribed({})
  const payer = await subscribed(phone('0001'))
  const refuser = await subscribed(phone('2001'))
  const trial = await subscribed({ trial_days: 31 })
  const gone = await subscribed({ cancel_at_period_end: true })
  const last = await subscribed({ max_cycles: 1 })
  const paused = await subscribed({})
  const nothing = await subscribed({}, free)
  const credited = await subscribed({})
  for (const { subscription_id } of [payer, refuser])
    await becomes(client, subscription_id, ({ status }) => status === 'active')
  await client.post(`${subscriptions}/${paused.subscription_id}/pause`)
  await client.patch(`${subscriptions}/${refuser.subscription_id}`, phone('0002'))
  // Half of what two cost is in hand when one of them is given up.
  await payUp(client, credited.latest_invoice_id)
  const { body: two } = await client.patch(`${subscriptions}/${credited.subscription_id}`, { quantity: 2 })
  await payUp(client, two.latest_invoice_id)
  await client.patch(`${subscriptions}/${credited.subscription_id}`, { quantity: 1 })
  await advance(client, 31 * dayS)
  const ends = async (id: string, status: string, cycles: number) =>
    becomes(client, id, (now) => now.status === status && now.cycles === cycles)
  await ends(plain.subscription_id, 'active', 2)
  await ends(payer.subscription_id, 'active', 2)
  await ends(refuser.subscription_id, 'past_due', 2)
  await ends(trial.subscription_id, 'active', 1)
  assert.equal((await ends(gone.subscription_id, 'cancelled', 1)).cancel_reason, null)
  assert.equal((await ends(last.subscription_id, 'cancelled', 1)).cancel_reason, 'max_cycles')
  await ends(paused.subscription_id, 'paused', 1)
  await ends(nothing.subscription_id, 'active', 2)
  const { latest_invoice_id } = await ends(credited.subscription_id, 'active', 2)
  const bill = (await client.get(`/v1/billing/invoices/${latest_invoice_id}`)).body
  assert.ok(bill.credit_applied > 0, 'credit is taken off')
  const paid = async (id: string) => {
    const now = (await client.get(`${subscriptions}/${id}`)).body
    return (await client.get(`/v1/billing/invoices/${now.latest_invoice_id}`)).body.status === 'paid'
  }
  await eventually(() => paid(payer.subscription_id), 'the payer to have paid')
  const numbers = numbersOf((await client.get('/v1/billing/invoices?limit=200')).body.data)
  assert.deepEqual(numbers, range(numbers.length))
})

test('one that cannot be billed leaves the others alone, and is billed when it can be', async () => {
  const account = await nairobi(world)
  const { client } = account
  const plan_id = await plan(client)
  const ids = await subscribeMany(client, plan_id, 9)
  const [broken = '', ...others] = ids
  const zone = (name: string) =>
    sql.query('update billing.subscriptions set time_zone = $2 where id = $1', [uuidOf('subscription', broken), name])
  await zone('Mars/Olympus_Mons')
  await advance(client, 31 * dayS)
  for (const id of others) await becomes(client, id, ({ cycles }) => cycles === 2)
  assert.equal((await client.get(`${subscriptions}/${broken}`)).body.cycles, 1)
  await eventually(async () => {
    const { rows } = await sql.query(
      `select last_error from work.jobs where account_id = $1 and lane = 'billing.renew_alone' and failures > 0`,
      [tenantOf(account).account],
    )
    return rows.length === 1
  }, 'the failure to be noted')
  await zone('Africa/Nairobi')
  await becomes(client, broken, ({ cycles }) => cycles === 2)
  assert.deepEqual(numbersOf((await client.get('/v1/billing/invoices?limit=200')).body.data), range(18))
})

test('the same jobs done several times at once bill once', async () => {
  const account = await nairobi(world)
  const { client } = account
  const tenant = tenantOf(account)
  const ids = await subscribeMany(client, await plan(client, { interval: 'day' }), 12)
  const runs = ids.map((id) => ({
    ...{ id: newUuid(0), bucket: tenant.bucket, tenant, key: null, place: null, attempt: 1, failures: 0 },
    payload: { subscription: uuidOf('subscription', id) ?? '', at: 0 },
  }))
  await moveClockAlone(sql, tenant.account, 86_400_000)
  await Promise.all(Array.from({ length: 6 }, () => renewMany(world.app, tenant, runs)))
  for (const id of ids) await becomes(client, id, ({ cycles }) => cycles === 2)
  await noneDue(account)
  await renewMany(world.app, tenant, runs)
  const bills = (await client.get('/v1/billing/invoices?limit=200')).body.data
  assert.deepEqual(numbersOf(bills), range(24))
})

test('a clock that is moved by many periods finds all of them, and a suspended account none', async () => {
  const account = await nairobi(world)
  const { client } = account
  const ids = await subscribeMany(client, await plan(client, { interval: 'week' }), 5)
  await sql.query(`update accounts.accounts set status = 'suspended' where id = $1`, [tenantOf(account).account])
  const runs = ids.map((id) => ({
    ...{ id: newUuid(0), bucket: tenantOf(account).bucket, tenant: tenantOf(account), key: null, place: null },
    ...{ attempt: 1, failures: 0, payload: { subscription: uuidOf('subscription', id) ?? '', at: 0 } },
  }))
  await moveClockAlone(sql, tenantOf(account).account, 3_024_000_000)
  await renewMany(world.app, tenantOf(account), runs)
  const { rows } = await sql.query('select from billing.subscriptions where account_id = $1 and cycle > 1', [
    tenantOf(account).account,
  ])
  assert.equal(rows.length, 0)
  await sql.query(`update accounts.accounts set status = 'active' where id = $1`, [tenantOf(account).account])
  await renewMany(world.app, tenantOf(account), runs)
  for (const id of ids) await becomes(client, id, ({ cycles }) => cycles === 6)
  assert.deepEqual(numbersOf((await client.get('/v1/billing/invoices?limit=200')).body.data), range(30))
})

async function subscribeMany(client: Client, plan_id: string, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const { status, text, body } = await client.post(subscriptions, {
      plan_id,
      customer: { email: `a${i}@example.com` },
    })
    assert.equal(status, 201, text)
    ids.push(body.subscription_id)
  }
  return ids
}

/** As when a node died after it had written the next job, and before it had removed its own. */
async function twoJobsEach(account: Account): Promise<void> {
  await sql.query(
    `insert into work.jobs (bucket, id, lane, run_at, account_id, environment, attempt, payload)
     select bucket, gen_random_uuid(), lane, run_at, account_id, environment, 0, payload
       from work.jobs where account_id = $1 and lane = 'billing.renew'`,
    [tenantOf(account).account],
  )
}

/** Waits until no job of an account is due. */
async function noneDue(account: Account): Promise<void> {
  await eventually(async () => {
    const { rows } = await sql.query(
      `select count(*)::int as due from work.jobs
          where account_id = $1 and lane like 'billing.%' and run_at < now() + interval '1 hour'`,
      [tenantOf(account).account],
    )
    return rows[0].due === 0
  }, 'all jobs to be done')
}

function numbersOf(bills: readonly { number: string | null }[]): number[] {
  return bills
    .flatMap(({ number }) => (number === null ? [] : [Number(number.split('-').at(-1))]))
    .sort((a, b) => a - b)
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1)
}
