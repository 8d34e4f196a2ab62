// SPDX-License-Identifier: Apache-2.0
// What an account sells again and again, as it declares it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { refusal } from '../client.ts'
import { startWorld, type World } from '../world.ts'

let world: World

before(async () => {
  world = await startWorld()
})
after(() => world.stop())

const path = '/v1/billing/plans'
const monthly = { name: 'Monthly', amount: 1500, currency: 'KES', interval: 'month' }

test('a plan says what it costs, how often and with which tax', async () => {
  const { client } = await world.account()
  const least = await client.post(path, monthly)
  assert.equal(least.status, 201, least.text)
  const { plan_id, created_at, data: _, success: __, ...rest } = least.body
  assert.match(plan_id, /^plan_[0-9a-z]{26}$/)
  assert.ok(created_at)
  assert.equal(least.headers.location, `/api${path}/${plan_id}`)
  assert.deepEqual(rest, {
    ...monthly,
    code: null,
    description: null,
    interval_count: 1,
    trial_days: 0,
    tax_rate: 0,
    tax_inclusive: false,
    setup_fee: 0,
    active: true,
    metadata: {},
  })
  const most = {
    name: 'Quarterly',
    amount: '0',
    currency: 'ugx',
    interval: 'month',
    interval_count: 3,
    trial_days: 14,
    description: 'Every quarter',
    code: 'quarterly-1',
    tax_rate: 16.1234,
    tax_inclusive: true,
    setup_fee: 5000,
    metadata: { tier: 2 },
    active: false,
  }
  const { body } = await client.post(path, most)
  const { plan_id: second } = body
  assert.deepEqual(pick(body, Object.keys(most)), { ...most, amount: 0, currency: 'UGX' })
  assert.deepEqual((await client.get(`${path}/${second}`)).body, body)
  const ids = async (query: string) =>
    (await client.get(`${path}?${query}`)).body.data.map((row: { plan_id: string }) => row.plan_id)
  assert.deepEqual(await ids(''), [second, plan_id])
  assert.deepEqual(await ids('order=asc'), [plan_id, second])
  assert.deepEqual(await ids('active=true'), [plan_id])
  assert.deepEqual(await ids('currency=ugx'), [second])
  assert.deepEqual(await ids('code=quarterly-1'), [second])
  const { body: first } = await client.get(`${path}?limit=1`)
  assert.deepEqual(await ids(`limit=1&cursor=${first.next_cursor}`), [plan_id])
})

test('a plan is renamed and withdrawn, and never gets another price', async () => {
  const { client } = await world.account()
  const { body: plan } = await client.post(path, { ...monthly, description: 'x', metadata: { a: 1 } })
  const at = `${path}/${plan.plan_id}`
  assert.equal((await client.patch(at, { name: 'Cheaper', amount: 1, interval: 'day' })).status, 422)
  const changed = await client.patch(at, { name: 'Other', active: false, description: null })
  assert.equal(changed.status, 200, changed.text)
  const { data: _, ...body } = changed.body
  const { data: __, ...before } = plan
  assert.deepEqual(body, { ...before, name: 'Other', active: false, description: null })
  assert.deepEqual((await client.get(at)).body, changed.body)
  const { body: kept } = await client.patch(at, { metadata: { b: 2 } })
  assert.deepEqual([kept.name, kept.metadata, kept.amount, kept.interval], ['Other', { b: 2 }, 1500, 'month'])
  const audited = (await client.get('/v1/audit-log')).body.data.map(({ action }: { action: string }) => action)
  assert.deepEqual(audited.slice(0, 3), ['plan.update', 'plan.update', 'plan.create'])
})

test('what is no plan is refused with a code, and leaves nothing', async () => {
  const { client } = await world.account()
  const rows: [body: object, status: number, code: string][] = [
    [{ ...monthly, name: '' }, 422, 'VALIDATION_ERROR'],
    [{ ...monthly, name: 'x'.repeat(101) }, 422, 'VALIDATION_ERROR'],
    [{ ...monthly, amount: -1 }, 422, 'VALIDATION_ERROR'],
    [{ ...monthly, amount: 1_000_000_000_000 }, 422, 'VALIDATION_ERROR'],
    [{ ...monthly, setup_fee: 9_999_999_999_999 }, 422, 'VALIDATION_ERROR'],
    [{ ...monthly, amount: 1.234 }, 422, 'VALIDATION_ERROR'],
    [{ ...monthly, amount: 1.5, currency: 'UGX' }, 422, 'VALIDATION_ERROR'],
    [{ ...monthly, currency: 'KSH' }, 422, 'UNSUPPORTED_CURRENCY'],
    [{ ...monthly, interval: 'fortnight' }, 422, 'VALIDATION_ERROR'],
    [{ ...monthly, interval_count: 0 }, 422, 'VALIDATION_ERROR'],
    [{ ...monthly, interval_count: 366 }, 422, 'VALIDATION_ERROR'],
    [{ ...monthly, trial_days: 731 }, 422, 'VALIDATION_ERROR'],
    [{ ...monthly, tax_rate: 100.1 }, 422, 'VALIDATION_ERROR'],
    [{ ...monthly, tax_rate: 1.23456 }, 422, 'VALIDATION_ERROR'],
    [{ ...monthly, setup_fee: -5 }, 422, 'VALIDATION_ERROR'],
    [{ ...monthly, code: 'Not a slug' }, 422, 'VALIDATION_ERROR'],
    [{ ...monthly, description: 'x'.repeat(501) }, 422, 'VALIDATION_ERROR'],
    [{ amount: 1, currency: 'KES', interval: 'month' }, 422, 'VALIDATION_ERROR'],
  ]
  for (const [body, status, code] of rows)
    assert.deepEqual(await refusal(client.post(path, body)), [status, code], JSON.stringify(body))
  assert.deepEqual((await client.get(path)).body.data, [])
  const { body: plan } = await client.post(path, { ...monthly, code: 'one' })
  const again = await client.post(path, { ...monthly, amount: 2, code: 'one' })
  assert.deepEqual(
    [again.status, again.body.error.code, again.body.error.original_id],
    [409, 'DUPLICATE_REFERENCE', plan.plan_id],
  )
  assert.equal(again.body.error.original_status, 'active')
  assert.equal((await (await world.account()).client.post(path, { ...monthly, code: 'one' })).status, 201)
  const headers = { 'Idempotency-Key': 'plan' }
  const first = await client.post(path, monthly, { headers })
  assert.equal((await client.post(path, monthly, { headers })).text, first.text)
  for (const id of ['plan_x', 'sub_01jb2c3d4e5f6g7h8j9kamnpqr', 'plan_01jb2c3d4e5f6g7h8j9kamnpqr'])
    assert.deepEqual(await refusal(client.get(`${path}/${id}`)), [404, 'NOT_FOUND'], id)
})

function pick(from: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, from[name]]))
}
