// SPDX-License-Identifier: Apache-2.0
// What may be heard of a payment, in any order, twice and all at once: against a model of the table of states, and against
// what must hold under any interleaving. fast-check prints the seed and path of a failure; give them to fc.assert to see the
// same history again.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import pg from 'pg'
import { balanceOfContra } from '../../../../test/contra.ts'
import { patienceMs } from '../../../../test/eventually.ts'
import { runs } from '../../../../test/properties.ts'
import { type Account, startWorld, type World } from '../../../../test/world.ts'
import { AppError } from '../../../kernel/errors.ts'
import { bucketOf, uuidOf } from '../../../kernel/ids.ts'
import { verifyLedger } from '../../../ledger/verify.ts'
import { one } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { FailureReason, Verdict } from '../providers/provider.ts'
import { type AttemptState, attemptOfPayment, open, type Status } from '../records/store.ts'
import { cancel, expire, settle } from './settle.ts'

const amount = 1_000n * 1_000_000n
const fee = 15n * 1_000_000n
const otherAmount = 999n * 1_000_000n
/** Ends the search for the smallest failing history. No history within it is a failure too, so a slow machine has long. */
const bounded = { interruptAfterTimeLimit: patienceMs(180_000) }

let world: World
let sql: pg.Client

before(async () => {
  // Nobody takes the payments up: what happens to them is told below.
  world = await startWorld({ PAMOJA_ROLES: ['api'] })
  sql = new pg.Client({ connectionString: world.databaseUrl })
  await sql.connect()
})
after(async () => {
  await sql.end()
  await world.stop()
})

type Happening = Verdict | { kind: 'expire' } | { kind: 'cancel' }

const refusals: readonly FailureReason[] = ['INSUFFICIENT_FUNDS', 'USER_CANCELLED', 'WRONG_PIN']
const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.constant<Happening>({ kind: 'accepted', providerId: 'ws_CO_1' }),
  fc.constantFrom<Happening>({ kind: 'pending' }, { kind: 'missing' }, { kind: 'expire' }, { kind: 'cancel' }),
  fc.constantFrom<Happening>({ kind: 'unknown', reason: 'cut' }, { kind: 'unavailable', reason: 'refused' }),
  fc.constantFrom(...refusals).map<Happening>((reason) => ({ kind: 'refused', reason, code: '1' })),
  fc.constantFrom(amount, null).map<Happening>((micros) => ({ kind: 'paid', receipt: 'NLJ7RT61SV', micros })),
  fc.constant<Happening>({ kind: 'paid', receipt: 'NLJ7RT61SV', micros: otherAmount }),
  fc.constant<Happening>({ kind: 'paid', receipt: 'NLJ7RT61SV', micros: amount, currency: 'UGX' }),
  fc.constant<Happening>({ kind: 'paid', receipt: 'NLJ7RT61SV', micros: null, currency: 'UGX' }),
  fc.constant<Happening>({ kind: 'unreadable', receipt: 'NLJ7RT61SV', words: 'much' }),
)

interface Model {
  status: Status
  attempt: AttemptState
  reason: string | null
  late: boolean
  /** What was told, oldest first. */
  told: string[]
  suspense: Kept
}

/** What is in suspense, by currency. */
interface Kept {
  KES: bigint
  UGX: bigint
}

const nothing: Kept = { KES: 0n, UGX: 0n }

test('any history of verdicts ends as the table of states says, step by step', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 1, maxLength: 12 }), async (happenings) => {
      const { account, tenant, id } = await newPayment()
      const model: Model = {
        ...{ status: 'pending', attempt: 'planned', reason: null, late: false },
        ...{ told: ['payment.created'], suspense: nothing },
      }
      for (const one of happenings) {
        judge(model, one)
        await happen(tenant, id, one)
        const { body } = await account.client.get(`/v1/payments/${id}`)
        const found = [body.status, body.failure_reason, body.late]
        assert.deepEqual(found, [model.status, model.reason, model.late], JSON.stringify(one, bigintText))
      }
      assert.deepEqual(await toldOf(account), model.told)
      await assertWallet(account, model.status === 'completed')
      assert.deepEqual(await keptOf(tenant), model.suspense)
    }),
    { ...bounded, numRuns: runs(60) },
  )
  assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
})

test('verdicts that come all at once settle a payment once, and what the provider confirmed is never lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 2, maxLength: 10 }), async (happenings) => {
      const { account, tenant, id } = await newPayment()
      await Promise.all(happenings.map((one) => happen(tenant, id, one)))
      const { body } = await account.client.get(`/v1/payments/${id}`)
      const told = await toldOf(account)
      assert.equal(told.filter((name) => name === 'payment.completed').length, body.status === 'completed' ? 1 : 0)
      const isMismatched = body.failure_reason === 'AMOUNT_MISMATCH'
      const wasPaid = happenings.some((one) => one.kind === 'paid' && one.micros !== otherAmount && isAskedMoney(one))
      if (wasPaid) assert.ok(body.status === 'completed' || isMismatched, `it is ${body.status}`)
      await assertWallet(account, body.status === 'completed')
      const kept = await keptOf(tenant)
      const expected = kept.UGX > 0n ? { KES: 0n, UGX: amount } : { KES: otherAmount, UGX: 0n }
      assert.deepEqual(kept, isMismatched ? expected : nothing)
    }),
    { ...bounded, numRuns: runs(60) },
  )
  assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
})

test('of what is heard of an attempt at once the farthest counts, and what the provider calls it is kept', async () => {
  const heard: readonly Happening[] = [
    { kind: 'unknown', reason: 'cut' },
    { kind: 'accepted', providerId: 'ws_CO_1' },
    { kind: 'pending' },
    { kind: 'missing' },
  ]
  for (let turn = 0; turn < heard.length; turn++) {
    const { tenant, id } = await newPayment()
    await Promise.all([...heard.slice(turn), ...heard.slice(0, turn)].map((one) => happen(tenant, id, one)))
    const payment = uuidOf('payment', id) ?? ''
    const attempt = await one(world.app.db.query(attemptOfPayment, { ...tenant, payment }))
    assert.deepEqual([attempt.state, attempt.provider_id], ['accepted', 'ws_CO_1'])
  }
})

test('a reference may be used again when nobody was asked, and not when the provider gave up what it had taken', async () => {
  const accepted = { kind: 'accepted', providerId: 'ws_CO_1' } as const
  const refused = { kind: 'refused', reason: 'PROVIDER_UNAVAILABLE', code: '26' } as const
  const unsent = { kind: 'unavailable', reason: 'refused' } as const
  for (const [happenings, reference] of [
    [[unsent], null],
    [[accepted, refused], 'order-77'],
  ] as const) {
    const { account, tenant, id } = await newPayment({ reference: 'order-77' })
    for (const one of happenings) await happen(tenant, id, one)
    const { body } = await account.client.get(`/v1/payments/${id}`)
    assert.deepEqual([body.status, body.failure_reason, body.reference], ['failed', 'PROVIDER_UNAVAILABLE', reference])
  }
})

test('other money is on the operator’s list once, whenever it is told', async () => {
  const path = '/v1/operator/payments/discrepancies'
  const listed = async () => (await world.operator.get(`${path}?limit=200`)).body.data
  const before = (await listed()).length
  const asked = { kind: 'paid', receipt: 'NLJ7RT61SV', micros: amount } as const
  const other = { kind: 'paid', receipt: 'NLJ7RT61SW', micros: otherAmount } as const
  const foreign = { kind: 'paid', receipt: 'NLJ7RT61SW', micros: amount, currency: 'UGX' } as const
  const uncounted = { kind: 'paid', receipt: 'NLJ7RT61SW', micros: null, currency: 'UGX' } as const
  const unread = { kind: 'unreadable', receipt: 'NLJ7RT61SW', words: '1,000 KSH' } as const
  const expired = { kind: 'expire' } as const
  const inOther = { told_amount: Number(otherAmount / 1_000_000n), told_currency: 'KES', told_words: null }
  const inForeign = { told_amount: Number(amount / 1_000_000n), told_currency: 'UGX', told_words: null }
  const inWords = { told_amount: null, told_currency: null, told_words: '1,000 KSH' }
  const accepted = { kind: 'accepted', providerId: 'ws_CO_1' } as const
  for (const [happenings, status, reason, suspense, told] of [
    [[asked, other, other], 'completed', null, nothing, inOther],
    [[accepted, expired, other, other], 'failed', 'AMOUNT_MISMATCH', { KES: otherAmount, UGX: 0n }, inOther],
    [[accepted, other, expired, asked], 'failed', 'AMOUNT_MISMATCH', { KES: otherAmount, UGX: 0n }, inOther],
    [[accepted, foreign, foreign, asked], 'failed', 'AMOUNT_MISMATCH', { KES: 0n, UGX: amount }, inForeign],
    [[accepted, expired, foreign], 'failed', 'AMOUNT_MISMATCH', { KES: 0n, UGX: amount }, inForeign],
    [[asked, foreign], 'completed', null, nothing, inForeign],
    [[accepted, uncounted, uncounted], 'processing', null, nothing, { ...inForeign, told_amount: null }],
    [[accepted, uncounted, expired], 'expired', 'TRANSACTION_TIMEOUT', nothing, { ...inForeign, told_amount: null }],
    [[accepted, uncounted, asked], 'completed', null, nothing, { ...inForeign, told_amount: null }],
    [[accepted, uncounted, foreign], 'failed', 'AMOUNT_MISMATCH', { KES: 0n, UGX: amount }, inForeign],
    [[accepted, unread, unread], 'processing', null, nothing, inWords],
    [[accepted, unread, expired], 'expired', 'TRANSACTION_TIMEOUT', nothing, inWords],
    [[accepted, unread, asked], 'completed', null, nothing, inWords],
    [[accepted, unread, other, unread], 'failed', 'AMOUNT_MISMATCH', { KES: otherAmount, UGX: 0n }, inOther],
  ] as const) {
    const { account, tenant, id } = await newPayment()
    for (const one of happenings) await happen(tenant, id, one)
    await assertWallet(account, status === 'completed')
    assert.deepEqual(await keptOf(tenant), suspense)
    const mine = (await listed()).filter((row: { payment_id: string }) => row.payment_id === id)
    assert.equal(mine.length, 1)
    const { found_at, ...row } = mine[0]
    assert.deepEqual(row, {
      payment_id: id,
      account_id: account.id,
      environment: 'test',
      status,
      provider: 'mpesa',
      currency: 'KES',
      asked_amount: Number(amount / 1_000_000n),
      ...told,
      provider_reference: 'NLJ7RT61SW',
      resolved_at: null,
      note: null,
    })
    assert.equal((await account.client.get(`/v1/payments/${id}`)).body.failure_reason, reason)
    assert.equal((await account.client.post(`${path}/${id}/resolve`, {})).status, 403)
    assert.equal((await world.operator.post(`${path}/${id}/resolve`, { note: '' })).status, 422)
    const resolved = await world.operator.post(`${path}/${id}/resolve`, { note: 'Paid back by hand' })
    assert.deepEqual([resolved.status, resolved.body.note], [200, 'Paid back by hand'], resolved.text)
    assert.equal((await world.operator.post(`${path}/${id}/resolve`, {})).status, 404)
  }
  assert.equal((await world.operator.post(`${path}/pay_1/resolve`, {})).status, 404)
  assert.equal((await listed()).length, before)
})

test('one that was paid so much that nobody can read it is not asked for again, though nobody knows of it later', async () => {
  const { tenant, id } = await newPayment()
  const payment = uuidOf('payment', id) ?? ''
  const unread = { kind: 'unreadable', receipt: null, words: 'much' } as const
  for (const one of [unread, { kind: 'missing' }] as const) await happen(tenant, id, one)
  const { state } = await one(world.app.db.query(attemptOfPayment, { ...tenant, payment }))
  assert.equal(state, 'accepted')
})

test('money in another currency goes to the account’s wallet in that currency when the operator says so', async () => {
  const { account, tenant, id } = await newPayment()
  await happen(tenant, id, { kind: 'paid', receipt: 'NLJ7RT61SX', micros: amount, currency: 'UGX' })
  const path = `/v1/operator/payments/discrepancies/${id}/resolve`
  const { status, body, text } = await world.operator.post(path, { action: 'credit_account', note: 'as agreed' })
  assert.deepEqual([status, body.amount_moved, body.currency_moved, body.currency], [200, 1_000, 'UGX', 'KES'], text)
  assert.deepEqual(await keptOf(tenant), nothing)
  const balance = async (currency: string) =>
    (await account.client.get(`/v1/wallet/balance?currency=${currency}`)).body.balance
  assert.deepEqual([await balance('UGX'), await balance('KES')], [1_000, 0])
})

test('the job that looks after an attempt goes with it', async () => {
  const { tenant, id } = await newPayment()
  const jobs = async () =>
    (await sql.query(`select from work.jobs where lane = 'payments.watch' and account_id = $1`, [tenant.account]))
      .rowCount
  await happen(tenant, id, { kind: 'accepted', providerId: 'ws_CO_1' })
  assert.equal(await jobs(), 1)
  await happen(tenant, id, { kind: 'paid', receipt: 'NLJ7RT61SV', micros: amount })
  assert.equal(await jobs(), 0)
})

/** Whether it is told in the currency that was asked for, or in none. */
function isAskedMoney(one: Happening): boolean {
  return one.kind !== 'paid' || one.currency === undefined || one.currency === 'KES'
}

/** What the table of states makes of it. */
function judge(model: Model, one: Happening): void {
  const isOpen = open.includes(model.status)
  const end = (status: Status, reason: string | null): void => {
    Object.assign(model, { status, reason })
    model.told.push(status === 'completed' ? 'payment.completed' : 'payment.failed')
  }
  const taken = (): void => {
    if (model.status === 'pending') model.status = 'processing'
    if (model.attempt !== 'final') model.attempt = 'accepted'
  }
  const isUnsent = model.attempt === 'planned'
  switch (one.kind) {
    case 'accepted':
    case 'pending':
    case 'unreadable':
      taken()
      break
    case 'unknown':
    case 'missing':
      if (isUnsent) model.attempt = 'unknown'
      break
    case 'unavailable':
      if (isOpen) end('failed', 'PROVIDER_UNAVAILABLE')
      model.attempt = 'final'
      break
    case 'refused':
      if (isOpen) end(one.reason === 'USER_CANCELLED' ? 'cancelled' : 'failed', one.reason)
      model.attempt = 'final'
      break
    case 'paid':
      // How much it was is not told.
      if (one.micros === null && !isAskedMoney(one)) {
        taken()
        break
      }
      model.attempt = 'final'
      if ((one.micros ?? amount) !== amount || !isAskedMoney(one)) {
        if (model.status === 'completed' || model.reason === 'AMOUNT_MISMATCH') break
        end('failed', 'AMOUNT_MISMATCH')
        model.suspense = { ...nothing, [one.currency ?? 'KES']: one.micros }
      } else if (model.status !== 'completed' && model.reason !== 'AMOUNT_MISMATCH') {
        model.late ||= !isOpen
        end('completed', null)
      }
      break
    case 'expire':
      if (isUnsent) model.attempt = 'final'
      if (isOpen) end('expired', 'TRANSACTION_TIMEOUT')
      break
    case 'cancel':
      if (!isOpen || !isUnsent) break
      model.attempt = 'final'
      end('cancelled', 'USER_CANCELLED')
      break
    default:
  }
}

async function happen(tenant: Tenant, id: string, happening: Happening): Promise<void> {
  const { app } = world
  const payment = uuidOf('payment', id) ?? ''
  const attempt = await one(app.db.query(attemptOfPayment, { ...tenant, payment }))
  if (happening.kind === 'expire') await expire(app, tenant, attempt)
  else if (happening.kind === 'cancel')
    await app.db
      .acrossTx((tx) => cancel(app, tx, tenant, payment))
      .catch((error) => assert.ok(error instanceof AppError && error.code === 'INVALID_STATE'))
  else await settle(app, tenant, attempt, happening)
}

async function newPayment(more: object = {}): Promise<{ account: Account; tenant: Tenant; id: string }> {
  const account = await world.account()
  const body = { amount: 1_000, currency: 'KES', phone: '+254700000001', ...more }
  const { status, body: made, text } = await account.client.post('/v1/payments?wait=0', body)
  assert.equal(status, 201, text)
  const uuid = uuidOf('account', account.id) ?? ''
  return { account, tenant: { bucket: bucketOf(uuid), account: uuid, environment: 'test' }, id: made.payment_id }
}

/** Oldest first. */
async function toldOf({ client }: Account): Promise<string[]> {
  const { body } = await client.get('/v1/events')
  return body.data.map(({ event }: { event: string }) => event).reverse()
}

async function assertWallet({ client }: Account, isPaid: boolean): Promise<void> {
  const { body } = await client.get('/v1/wallet/balance?currency=KES')
  assert.equal(body.balance, isPaid ? Number((amount - fee) / 1_000_000n) : 0)
}

async function keptOf(tenant: Tenant): Promise<Kept> {
  const kept = (currency: keyof Kept) => balanceOfContra(world.app.db, tenant, 'suspense:mpesa', currency)
  return { KES: await kept('KES'), UGX: await kept('UGX') }
}

const bigintText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value)
