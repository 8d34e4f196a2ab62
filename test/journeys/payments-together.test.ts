// SPDX-License-Identifier: Apache-2.0
// Payments that are asked for at the same moment share a transaction, and nobody can tell: each is counted, decided about,
// refused and answered as if it had come alone. Beside it, what a node remembers of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  keepAccepted,
  keepAsked,
  learningSince,
  takeAccepted,
  takeAsked,
} from '../../src/areas/payments/collect/handover.ts'
import { weighBatch } from '../../src/areas/payments/fraud/assess.ts'
import { findAttempt, findPayment } from '../../src/areas/payments/records/store.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { startMarket } from '../market.ts'
import { settled } from '../paying.ts'
import { runs } from '../properties.ts'
import { eventually } from '../world.ts'

const { world, sql } = await startMarket(0.04)

const payment = { amount: 100, currency: 'KES', phone: '+254720111111' }
const path = '/v1/payments?wait=0'
const phoneOf = (n: number): string => `+2547201112${String(10 + n)}`
const timesOf = (n: number) => Array.from({ length: n }, (_, i) => i)

/** What is counted of an account, each row on its own. */
async function counts(account: string): Promise<number[]> {
  const { rows } = await sql.query('select count from payments.velocity where account_id = $1 and count > 0', [
    uuidOf('account', account),
  ])
  return rows.map(({ count }) => count)
}

test('payments of several accounts at the same moment are each their own, and are paid', async () => {
  const accounts = await Promise.all(timesOf(4).map(() => world.account()))
  const replies = await Promise.all(
    timesOf(40).map(async (i) => {
      const account = accounts[i % 4]
      assert.ok(account)
      const { status, body, text } = await account.client.post(path, { ...payment, amount: 100 + i, phone: phoneOf(i) })
      assert.equal(status, 201, text)
      return { client: account.client, amount: 100 + i, body }
    }),
  )
  assert.equal(new Set(replies.map(({ body }) => body.payment_id)).size, 40)
  for (const { client, amount, body } of replies) {
    const paid = await settled(client, body.payment_id)
    assert.deepEqual([paid.status, paid.amount], ['completed', amount])
  }
  for (const { id } of accounts) assert.deepEqual(new Set(await counts(id)), new Set([1]))
})

test('of those that share a reference one is accepted, and the others are not even counted', async () => {
  const { client, id } = await world.account()
  const same = { ...payment, reference: 'order-1' }
  const replies = await Promise.all(timesOf(12).map(() => client.post(path, same)))
  const taken = replies.filter(({ status }) => status === 201)
  assert.equal(taken.length, 1)
  for (const { body } of replies.filter(({ status }) => status !== 201))
    assert.equal(body.error.code, 'DUPLICATE_REFERENCE')
  assert.deepEqual(new Set(await counts(id)), new Set([1]))
})

test('what is wrong with one is nobody else’s trouble', async () => {
  const { client, id } = await world.account()
  const wrong = [
    { ...payment, amount: 0.001 },
    { ...payment, phone: '+254' },
    { ...payment, provider: 'nobody' },
    { ...payment, description: 'pay with 4242 4242 4242 4242' },
  ]
  const replies = await Promise.all(
    timesOf(24).map((i) => client.post(path, wrong[i % 5] ?? { ...payment, phone: phoneOf(i) })),
  )
  assert.deepEqual(
    replies.map(({ status }) => status < 300),
    timesOf(24).map((i) => i % 5 === 4),
  )
  assert.ok(replies.every(({ status }) => status < 500))
  const { rows } = await sql.query('select count(*)::int as stored from payments.payments where account_id = $1', [
    uuidOf('account', id),
  ])
  assert.equal(rows[0].stored, 4)
  assert.deepEqual(new Set(await counts(id)), new Set([1]))
})

test('different values that are counted together at the same moment see those before them only', async () => {
  const { client } = await world.account()
  const velocity = { metric: 'distinct', of: 'phone', by: ['ip_address'], window: '1d' }
  const conditions = [{ velocity, operator: 'gt', value: 3 }]
  const rule = { name: 'Many', action: 'block', match: 'all', conditions }
  assert.equal((await client.post('/v1/payments/fraud/rules', rule)).status, 201)
  const replies = await Promise.all(
    timesOf(10).map((i) => client.post(path, { ...payment, phone: phoneOf(i), ip_address: '192.0.2.7' })),
  )
  assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 201, 201, 403, 403, 403, 403, 403, 403, 403])
})

test('a key that is used at the same moment makes one payment, and each has its own answer', async () => {
  const { client } = await world.account()
  const keyed = (key: string, n: number) =>
    client.post(path, { ...payment, phone: phoneOf(n) }, { headers: { 'idempotency-key': key } })
  const replies = await Promise.all(timesOf(30).map((i) => keyed(`key-${i % 10}`, i % 10)))
  for (const { status, text } of replies) assert.ok(status === 201 || status === 409, text)
  const again = await Promise.all(timesOf(10).map((i) => keyed(`key-${i}`, i)))
  assert.equal(new Set(again.map(({ body }) => body.payment_id)).size, 10)
  const made = new Set(replies.filter(({ status }) => status === 201).map(({ body }) => body.payment_id))
  assert.deepEqual(made, new Set(again.map(({ body }) => body.payment_id)))
})

test('one that has to wait for what somebody else counts holds nobody up', async () => {
  const { client, id } = await world.account()
  assert.equal((await client.post(path, payment)).status, 201)
  await sql.query('begin')
  await sql.query('select from payments.velocity where account_id = $1 for update', [uuidOf('account', id)])
  let isAnswered = false
  const waiting = client.post(path, payment).finally(() => {
    isAnswered = true
  })
  try {
    const others = await Promise.all(timesOf(10).map((i) => client.post(path, { ...payment, phone: phoneOf(i) })))
    assert.deepEqual(new Set(others.map(({ status }) => status)), new Set([201]))
    assert.equal(isAnswered, false)
  } finally {
    await sql.query('rollback')
  }
  assert.equal((await waiting).status, 201)
})

test('counted together is counted one after the other', async () => {
  const { client, id } = await world.account()
  const velocity = { metric: 'distinct', of: 'phone', by: ['ip_address'], window: '1d' }
  const conditions = [{ velocity, operator: 'gt', value: 1_000 }]
  const rule = { name: 'Many', action: 'block', match: 'all', conditions }
  assert.equal((await client.post('/v1/payments/fraud/rules', rule)).status, 201)
  const uuid = uuidOf('account', id)
  const { rows } = await sql.query('select bucket from payments.fraud_policies where account_id = $1', [uuid])
  const { bucket } = rows[0]
  assert.ok(uuid)
  const nowMs = world.app.clock.nowMs()
  const tenant = { bucket, account: uuid, environment: 'test' } as const
  const occasion = { tenant, receivedMs: nowMs, nowMs, requestId: null }
  let run = 0
  const one = fc.record({ phone: fc.nat(3), ip: fc.nat(2) })
  await fc.assert(
    fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 12 }), async (all) => {
      run++
      const phone = (n: number): string => `+25471${String(run * 10 + n).padStart(7, '0')}`
      const address = (n: number): string => `10.${run >> 8}.${run & 255}.${n}`
      const weighings = all.map((each, i) => ({
        occasion,
        mode: 'enforced' as const,
        subject: {
          id: `01890000-0000-7000-8000-${String(run * 100 + i).padStart(12, '0')}`,
          direction: 'payment' as const,
          micros: 1_000_000n,
          currency: 'KES' as const,
          method: 'mobile_money',
          provider: 'mpesa',
          phone: phone(each.phone),
          customer: {},
          metadata: {},
          ipAddress: address(each.ip),
          deviceId: null,
          country: null,
        },
      }))
      const weighed = await world.app.db.acrossTx((tx) => weighBatch(world.app, tx, weighings))
      const told = weighed.map(({ check }) => JSON.parse(check.inputs).totals)
      all.forEach((each, i) => {
        const before = all.slice(0, i + 1)
        const ofPhone = before.filter((other) => other.phone === each.phone).length
        const ofAddress = before.filter((other) => other.ip === each.ip)
        assert.equal(told[i]['count  phone 3600 '], String(ofPhone))
        assert.equal(told[i]['count  ip_address 3600 '], String(ofAddress.length))
        const phones = new Set(ofAddress.map((other) => other.phone))
        assert.equal(told[i]['distinct phone ip_address 86400 '], String(phones.size))
      })
    }),
    { numRuns: runs(40) },
  )
})

test('whoever sends has put off the job, which nobody holds any more', async () => {
  const { client } = await world.account()
  const job = await eventually(async () => {
    // A payer who decides long after the first question.
    const { body } = await client.post(path, { ...payment, phone: '+254700000008' })
    const { rows } = await eventually(async () => {
      const found = await sql.query(
        `select j.owner, j.attempt, j.run_at > now() as waits from payments.attempts a
           join work.jobs j on j.id = a.job where a.payment_id = $1 and a.state in ('accepted', 'unknown')`,
        [uuidOf('payment', body.payment_id)],
      )
      return found.rows.length > 0 && found
    }, 'the provider to have taken it')
    // The first question comes soon here: seen any later, the job is about to ask, or has asked.
    return rows[0].attempt === 1 && rows[0].waits && rows[0]
  }, 'a job that waits for its first question')
  assert.equal(job.owner, null)
})

test('what was learned before all was forgotten is not remembered', async () => {
  const { client } = await world.account()
  const { body } = await client.post('/v1/payments', payment)
  const known = await stored(body.payment_id)
  const { app } = world
  const since = learningSince(app)
  keepAccepted(app, since, 'before', known)
  assert.equal(takeAccepted(app, 'before'), known)
  assert.equal(takeAccepted(app, 'before'), null)
  keepAccepted(app, since, 'forgotten', known)
  // A test account that moves its clock is told of to every node.
  assert.equal((await client.post('/v1/sandbox/clock', { advance_seconds: 60 })).status, 200)
  await eventually(async () => learningSince(app) !== since, 'the signal')
  assert.equal(takeAccepted(app, 'forgotten'), null)
  keepAccepted(app, since, 'late', known)
  assert.equal(takeAccepted(app, 'late'), null)
})

test('a callback that overtakes the answer to what it is about waits for it, and not for ever', async () => {
  const { client } = await world.account()
  const { body } = await client.post('/v1/payments', payment)
  const known = await stored(body.payment_id)
  const { app } = world
  const { id } = known.attempt
  const { bucket, account_id: account, environment } = known.payment
  const tenant = { bucket, account, environment }
  const tell = keepAsked(app, learningSince(app), known)
  const other = environment === 'test' ? 'live' : 'test'
  assert.equal(await takeAsked(app, { ...tenant, environment: other }, id), null)
  const overtaking = takeAsked(app, tenant, id)
  tell(known)
  assert.equal(await overtaking, known)
  assert.equal(await takeAsked(app, tenant, id), null)
  keepAsked(app, learningSince(app), known)
  assert.equal(await takeAsked(app, tenant, id), null, 'its answer was lost')
})

/** A payment and its attempt, as they are stored. */
async function stored(id: string) {
  const { rows } = await sql.query(
    'select bucket, account_id as account, environment, id from payments.attempts where payment_id = $1',
    [uuidOf('payment', id)],
  )
  const [row] = rows
  const { id: attemptId, ...tenant } = row
  const [attempt] = await world.app.db.query(findAttempt, { ...tenant, id: attemptId })
  const [found] = await world.app.db.query(findPayment, { ...tenant, id: uuidOf('payment', id) ?? '' })
  assert.ok(attempt && found)
  return { attempt, payment: found }
}
