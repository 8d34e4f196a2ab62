// SPDX-License-Identifier: Apache-2.0
// What an account is told of its costs: what it paid for, by day, area and country, and nothing that only passed through.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lookInto } from '../looking.ts'
import { startMarket } from '../market.ts'
import { over, settled } from '../paying.ts'
import { ended, send } from '../texting.ts'
import { type Account, eventually } from '../world.ts'

const { world } = await startMarket(0.01)

interface Spend {
  day: string | null
  area: string | null
  country: string | null
  currency: string
  cost: number
  count: number
}

async function spendOf({ client }: Account, query: string): Promise<Spend[]> {
  const { status, body, text } = await client.get(`/v1/usage?${query}`)
  assert.equal(status, 200, text)
  return body.spend
}

test('texts are told by the country they went to, fees by their area, and payouts are no cost', async () => {
  const ada = await world.account({ balance: 10_000 })
  const texts = ['+254711000001', '+254711000001', '+256772000001']
  for (const to of texts) await ended(ada, await send(ada, to))
  const { body: payout } = await ada.client.post('/v1/payouts', {
    amount: 2000,
    currency: 'KES',
    phone: '+254700000001',
  })
  await over(ada.client, payout.payout_id)
  const { body: payment } = await ada.client.post('/v1/payments', {
    amount: 1000,
    currency: 'KES',
    phone: '+254700000001',
  })
  const { fee } = await settled(ada.client, payment.payment_id)
  assert.ok(fee > 0 && payout.fee > 0)
  const areas = await spendOf(ada, 'group_by=area')
  const expected = [
    { area: 'payments', cost: fee, count: 1 },
    { area: 'payouts', cost: payout.fee, count: 1 },
    { area: 'sms', cost: 2.4, count: 3 },
  ].map((row) => ({ day: null, country: null, currency: 'KES', ...row }))
  assert.deepEqual(areas, expected)
  const countries = await spendOf(ada, 'group_by=day,area,country')
  for (const { day } of countries) assert.match(day ?? '', /^\d{4}-\d\d-\d\d$/)
  assert.deepEqual(withoutDays(countries), [
    { area: 'payments', country: null, cost: fee, count: 1 },
    { area: 'payouts', country: null, cost: payout.fee, count: 1 },
    { area: 'sms', country: 'KE', cost: 1.6, count: 2 },
    { area: 'sms', country: 'UG', cost: 0.8, count: 1 },
  ])
  const [whole, ...others] = await spendOf(ada, 'group_by=operation')
  assert.deepEqual([whole?.area, whole?.day, others], [null, null, []])
  assert.equal(whole?.cost, Math.round((fee + payout.fee + 2.4) * 100) / 100)
  const tooLong = await ada.client.get('/v1/usage?group_by=country&start_date=2026-01-01&end_date=2026-04-03')
  assert.deepEqual([tooLong.status, tooLong.body.error.code], [400, 'INVALID_DATE_RANGE'])
  assert.equal(
    (await ada.client.get('/v1/usage?group_by=country&start_date=2026-01-01&end_date=2026-04-02')).status,
    200,
  )
})

/** Added up over the days, of which there are two when midnight passes meanwhile. */
function withoutDays(rows: readonly Spend[]): Pick<Spend, 'area' | 'country' | 'cost' | 'count'>[] {
  const sums = new Map<string, { area: string | null; country: string | null; cost: number; count: number }>()
  for (const { area, country, cost, count, currency } of rows) {
    assert.equal(currency, 'KES')
    const sum = sums.get(`${area} ${country}`) ?? { area, country, cost: 0, count: 0 }
    sums.set(`${area} ${country}`, {
      ...sum,
      cost: Math.round((sum.cost + cost) * 100) / 100,
      count: sum.count + count,
    })
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
}

test('what was given back is no cost', async () => {
  const ada = await world.account({ balance: 100 })
  const { body: later } = await ada.client.post('/v1/sms/send', {
    to: '+254711000001',
    from: 'PAMOJA',
    message: 'Habari',
    scheduled_at: new Date(world.app.clock.nowMs() + 86_400_000).toISOString(),
  })
  assert.equal((await spendOf(ada, 'group_by=area'))[0]?.cost, 0.8)
  assert.equal((await ada.client.post(`/v1/sms/${later.message_id}/cancel`)).status, 200)
  for (const by of ['area', 'country'])
    await eventually(async () => {
      const [row] = await spendOf(ada, `group_by=${by}`)
      return row?.cost === 0 && row.count === 1
    }, `the money to be back by ${by}`)
})

test('days before anything existed, and days far ahead, have no cost', async () => {
  const { client } = await world.account()
  for (const days of ['start_date=1960-01-01&end_date=1960-01-31', 'start_date=9999-12-01&end_date=9999-12-31'])
    for (const by of ['day', 'country']) {
      const { status, body, text } = await client.get(`/v1/usage?group_by=${by}&${days}`)
      assert.equal(status, 200, text)
      assert.deepEqual([body.requests, body.spend], [0, []])
    }
})

test('requests are counted though their lines could not be written', async (t) => {
  const { client } = await world.account()
  const sql = lookInto(world)
  await sql.connect()
  t.after(() => sql.end())
  const { requestLog } = world.app
  const { dropped } = requestLog
  await sql.query('alter table platform.requests add constraint full_disk check (false) not valid')
  await client.get('/v1/auth/whoami')
  await eventually(async () => {
    await requestLog.flush()
    return requestLog.dropped > dropped
  }, 'the line to be lost')
  await sql.query('alter table platform.requests drop constraint full_disk')
  await client.get('/v1/auth/whoami')
  await eventually(async () => {
    const { body } = await client.get('/v1/usage?group_by=operation')
    const rows: { operation: string; requests: number }[] = body.rows
    return rows.find(({ operation }) => operation === 'auth.whoami')?.requests === 2
  }, 'both to be counted')
})
