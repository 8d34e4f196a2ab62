// SPDX-License-Identifier: Apache-2.0
// Money that goes back: from a completed payment to the payer, over the provider's real protocol, with the wallet, the
// ledger and the webhooks as they are at every step.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { simulatedAccounts } from '../../src/areas/payments/gateway/simulated.ts'
import type { OutgoingVerdict } from '../../src/areas/payments/providers/provider.ts'
import { settleRefund } from '../../src/areas/payments/refunds/settle.ts'
import { findRefund } from '../../src/areas/payments/refunds/store.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { one } from '../../src/platform/db.ts'
import type { Client } from '../client.ts'
import { startMarket } from '../market.ts'
import { wallet } from '../paying.ts'
import { eventually, startWorld, tenantOf } from '../world.ts'

const { world, sql, receiver } = await startMarket(0.01)

const airtel = { currency: 'KES', beginning: '+25473300' }
const mpesa = { currency: 'KES', beginning: '+25470000' }
const momo = { currency: 'UGX', beginning: '+25677000' }

test('a payment is given back, the wallet pays it, and the payment says so', async () => {
  const { client } = await world.account({ balance: 15 })
  await client.post('/v1/webhooks', { url: receiver.url('/refunded'), events: ['payment.refunded', 'refund.*'] })
  const payment = await paid(client, airtel, '0001', 1_000)
  assert.deepEqual([payment.amount_refunded, payment.refund_status, payment.refunds], [0, 'none', []])
  const asked = await client.post(`/v1/payments/${payment.payment_id}/refund`, {
    reason: 'requested_by_customer',
    description: 'It was sold out',
    reference: 'refund-1',
    metadata: { order: '77' },
  })
  assert.equal(asked.status, 201, asked.text)
  const { refund_id, payment_id, amount, currency, amount_refunded, amount_refundable } = asked.body
  assert.deepEqual(
    [payment_id, amount, currency, amount_refunded, amount_refundable],
    [payment.payment_id, 1_000, 'KES', 1_000, 0],
  )
  assert.equal(asked.headers.location, `/api/v1/refunds/${refund_id}`)
  const refund = await over(client, refund_id)
  assert.deepEqual(
    [refund.status, refund.reason, refund.description, refund.reference, refund.metadata, refund.failure_reason],
    ['completed', 'requested_by_customer', 'It was sold out', 'refund-1', { order: '77' }, null],
  )
  assert.ok(refund.provider_reference && refund.completed_at)
  const shown = (await client.get(`/v1/payments/${payment_id}`)).body
  assert.deepEqual(
    [shown.status, shown.amount_refunded, shown.refund_status, shown.refunds],
    ['completed', 1_000, 'full', [withoutEnvelope(refund)]],
  )
  assert.deepEqual(await wallet(client), { balance: 0, held: 0 })
  const told = await eventually(async () => receiver.received.find(({ url }) => url === '/refunded'), 'the webhook')
  const body = JSON.parse(told.body)
  assert.deepEqual(
    [body.event, body.sequence, body.refund_id, body.amount_refunded, body.refund_status, body.payment.refunds.length],
    ['payment.refunded', 3, refund_id, 1_000, 'full', 1],
  )
  assert.equal(body.refund.status, 'completed')
  assert.deepEqual(await transfers(refund_id), [
    { debit: 'wallet', credit: 'float:airtel_money', amount: '1000000000' },
  ])
  const [row] = (await client.get('/v1/wallet/transactions')).body.data
  assert.deepEqual(
    [row.type, row.direction, row.amount, row.source],
    ['refund', 'debit', 1_000, { type: 'refund', id: refund_id }],
  )
})

test('parts of a payment are given back one after the other, and never more than was paid', async () => {
  const { client } = await world.account({ currency: 'UGX', balance: 1_000 })
  const payment = await paid(client, momo, '0001', 1_000)
  const path = `/v1/payments/${payment.payment_id}/refund`
  const first = await client.post(path, { amount: 300 })
  assert.deepEqual(
    [first.status, first.body.amount_refunded, first.body.amount_refundable],
    [201, 300, 700],
    first.text,
  )
  assert.equal((await client.get(`/v1/payments/${payment.payment_id}`)).body.refund_status, 'partial')
  const tooMuch = await client.post(path, { amount: 701 })
  assert.deepEqual(
    [tooMuch.status, tooMuch.body.error.code, tooMuch.body.error.amount_refundable],
    [422, 'REFUND_EXCEEDS_PAYMENT', 700],
  )
  const second = await client.post(path.replace(payment.payment_id, await transactionOf(client, payment.payment_id)))
  assert.deepEqual([second.status, second.body.amount], [201, 700], second.text)
  assert.deepEqual((await client.post(path)).body.error.amount_refundable, 0)
  for (const { body } of [first, second]) assert.equal((await over(client, body.refund_id)).status, 'completed')
  const listed = (await client.get(`/v1/payments/${payment.payment_id}/refunds`)).body.data
  assert.deepEqual(
    listed.map(({ amount }: { amount: number }) => amount),
    [700, 300],
  )
  const page = (await client.get('/v1/refunds?limit=1&status=completed')).body
  assert.deepEqual([page.data[0].refund_id, page.has_more], [second.body.refund_id, true])
  const next = (await client.get(`/v1/refunds?limit=1&cursor=${page.next_cursor}`)).body
  assert.deepEqual([next.data[0].refund_id, next.has_more], [first.body.refund_id, false])
  assert.equal((await client.get('/v1/refunds?status=failed')).body.data.length, 0)
  assert.equal((await client.get('/v1/refunds?end_date=2020-01-01')).body.data.length, 0)
  const wrong = await client.get('/v1/refunds?start_date=2026-02-02&end_date=2026-02-01')
  assert.equal(wrong.body.error.code, 'INVALID_DATE_RANGE')
})

/** The payer's number -> what becomes of the refund. */
const outcomes: Readonly<Record<string, readonly [status: string, reason?: string]>> = {
  '0001': ['completed'],
  '0021': ['failed', 'RECIPIENT_NOT_FOUND'],
  '0022': ['failed', 'PROVIDER_FLOAT_LOW'],
  '0023': ['completed'],
  '0024': ['completed'],
  '0025': ['completed'],
  '0026': ['completed'],
  '0027': ['completed'],
  '0028': ['completed'],
}

/** Where a provider has no word for something, or can be asked about nothing. */
const providers = [
  { name: 'mtn_momo', ...momo, part: 400, outcomes },
  { name: 'mpesa', ...mpesa, part: 1_000, outcomes: { ...outcomes, '0021': ['failed', 'PROVIDER_ERROR'] } },
  {
    name: 'airtel_money',
    ...airtel,
    part: 1_000,
    outcomes: { ...outcomes, '0024': ['processing'], '0025': ['processing'] },
  },
]

/** Refunds wait for most of their time, so several have their turn at once. */
describe('payers', { concurrency: 6 }, () => {
  for (const { name, currency, beginning, part, outcomes } of providers)
    for (const [ending, [status, reason = null]] of Object.entries(outcomes))
      test(`a refund of ${name} to a payer whose number ends in ${ending}: ${status} ${reason ?? ''}`, async () => {
        const { client } = await world.account({ currency, balance: 1_000 })
        const payment = await paid(client, { currency, beginning }, ending, 1_000)
        const asked = await client.post(`/v1/payments/${payment.payment_id}/refund`, { amount: part })
        assert.equal(asked.status, 201, asked.text)
        const refund = status === 'processing' ? asked.body : await over(client, asked.body.refund_id)
        assert.deepEqual([refund.status, refund.failure_reason], [status, reason])
        assert.equal(refund.failure_message === null, reason === null)
        const isBack = status === 'failed'
        const shown = (await client.get(`/v1/payments/${payment.payment_id}`)).body
        assert.deepEqual([shown.amount_refunded, shown.refunds.length], [isBack ? 0 : part, 1])
        const held = status === 'processing' ? part : 0
        assert.deepEqual(await wallet(client, currency), {
          balance: status === 'completed' ? 1_985 - part : 1_985,
          held,
        })
        const events = (await client.get('/v1/events?limit=20')).body.data.map(({ event }: { event: string }) => event)
        const last = status === 'completed' ? ['payment.refunded'] : status === 'failed' ? ['refund.failed'] : []
        assert.deepEqual(events.sort(), [...last, 'payment.completed', 'payment.created'].sort())
        if (!isBack) return
        const again = await client.post(`/v1/payments/${payment.payment_id}/refund?wait=0`, { amount: part })
        assert.equal(again.status, 201, 'a refund that failed may be asked for again')
      })
})

test('a provider whose operator has entered nothing to pay with gives nothing back', async () => {
  const { payout_api_user, payout_api_key, payout_subscription_key, ...account } =
    simulatedAccounts(world.app).mtn_momo ?? {}
  assert.ok(payout_api_user && payout_api_key && payout_subscription_key)
  const entered = { provider: 'mtn_momo', environment: 'test', country: 'UG', ...account }
  assert.equal((await world.operator.post('/v1/operator/payments/providers', entered)).status, 201)
  const { client } = await world.account({ currency: 'UGX', balance: 1_000 })
  const payment = await paid(client, momo, '0001', 1_000)
  const refused = await eventually(async () => {
    const { status, body } = await client.post(`/v1/payments/${payment.payment_id}/refund`, { amount: 1 })
    return status === 409 && body.error
  }, 'the refusal')
  assert.deepEqual([refused.code, /disbursements/.test(refused.details)], ['REFUND_NOT_ALLOWED', true])
  assert.equal((await world.operator.delete('/v1/operator/payments/providers/mtn_momo-ug-test')).status, 200)
})

test('a part of an Airtel payment is paid to the payer’s number', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const payment = await paid(client, airtel, '0001', 1_000)
  const { body: part } = await client.post(`/v1/payments/${payment.payment_id}/refund`, { amount: 0.5 })
  assert.equal((await over(client, part.refund_id)).status, 'completed')
  assert.deepEqual(await transfers(part.refund_id), [
    { debit: 'wallet', credit: 'float_out:airtel_money', amount: '500000' },
  ])
})

test('refunds are among the transactions', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const payment = await paid(client, airtel, '0001', 100)
  const { body: asked } = await client.post(`/v1/payments/${payment.payment_id}/refund`, { reference: 'back-1' })
  await over(client, asked.refund_id)
  const listed = async (query: string) =>
    (await client.get(`/v1/payments/transactions${query}`)).body.data.map(({ type }: { type: string }) => type)
  assert.deepEqual(await listed(''), ['refund', 'payment'])
  assert.deepEqual(await listed('?order=asc&limit=1'), ['payment'])
  for (const query of ['type=refund', 'reference=back-1', 'type=refund&status=completed&method=mobile_money'])
    assert.deepEqual(await listed(`?${query}`), ['refund'], query)
  assert.deepEqual(await listed('?phone=%2B254733000001&provider=airtel_money&currency=kes'), ['refund', 'payment'])
  for (const query of ['type=payment', 'type=payout', 'type=topup'])
    assert.ok(!(await listed(`?${query}`)).includes('refund'), query)
  const [row] = (await client.get('/v1/payments/transactions?type=refund')).body.data
  assert.deepEqual(
    [row.refund_id, row.payment_id, row.payout_id, row.direction, row.amount, row.fee, row.net_amount, row.phone],
    [asked.refund_id, payment.payment_id, null, 'debit', 100, 0, 100, '+2547****0001'],
  )
})

test('refunds are found by reference, payment, currency, method and provider', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const refundOf = async (body: object, reference: string) => {
    const { payment_id } = (await client.post('/v1/payments', { amount: 100, ...body })).body
    const { body: refund, text } = await client.post(`/v1/payments/${payment_id}/refund`, { amount: 50, reference })
    assert.match(refund.refund_id ?? text, /^re_/)
    return refund
  }
  const shillings = await refundOf({ currency: 'KES', card: { number: '4242424242424242', ...card } }, 'return-1')
  const euros = await refundOf({ currency: 'EUR', card: { number: '5555555555554444', ...card } }, 'return-2')
  const found = async (query: string) =>
    (await client.get(`/v1/refunds?${query}`)).body.data.map(({ refund_id }: { refund_id: string }) => refund_id)
  const both = [euros.refund_id, shillings.refund_id]
  for (const [query, ids] of [
    ['reference=return-1', [shillings.refund_id]],
    [`payment_id=${euros.payment_id}`, [euros.refund_id]],
    ['currency=eur', [euros.refund_id]],
    ['method=CARD', both],
    ['provider=acquirer', both],
    ['reference=return-3', []],
    ['payment_id=pay_1', []],
    ['method=mobile_money', []],
    ['provider=mpesa', []],
  ] as const)
    assert.deepEqual(await found(query), ids, query)
})

test('a part of an M-Pesa payment is paid to the payer’s number', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const payment = await paid(client, mpesa, '0001', 1_000)
  const path = `/v1/payments/${payment.payment_id}/refund`
  const cents = await client.post(path, { amount: 1.5 })
  assert.deepEqual([cents.status, cents.body.error.code], [422, 'VALIDATION_ERROR'], 'M-Pesa has no cents')
  const { body: part } = await client.post(path, { amount: 400 })
  assert.equal((await over(client, part.refund_id)).status, 'completed')
  assert.deepEqual(await transfers(part.refund_id), [
    { debit: 'wallet', credit: 'float_out:mpesa', amount: '400000000' },
  ])
  // What is left is not the whole payment, which alone can be taken back.
  const { body: rest } = await client.post(path)
  assert.equal((await over(client, rest.refund_id)).status, 'completed')
  assert.deepEqual(await transfers(rest.refund_id), [
    { debit: 'wallet', credit: 'float_out:mpesa', amount: '600000000' },
  ])
})

test('what is told thrice, wrongly or by strangers of a part that is paid to a number changes nothing', async () => {
  for (const ending of ['0009', '0014', '0015']) {
    const { client } = await world.account({ balance: 1_000 })
    const payment = await paid(client, mpesa, ending, 1_000)
    const { body } = await client.post(`/v1/payments/${payment.payment_id}/refund`, { amount: 400 })
    assert.equal((await over(client, body.refund_id)).status, 'completed', ending)
    assert.deepEqual(await wallet(client), { balance: 1_585, held: 0 }, ending)
  }
})

test('an M-Pesa payment whose receipt was never told is paid to the payer’s number', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const { body: asked } = await client.post('/v1/payments', { amount: 50, currency: 'KES', phone: '+254700000010' })
  const { body: payment } = await client.get(`/v1/payments/${asked.payment_id}?wait=30`)
  assert.deepEqual([payment.status, payment.provider_reference], ['completed', null])
  const { body } = await client.post(`/v1/payments/${payment.payment_id}/refund`)
  assert.equal((await over(client, body.refund_id)).status, 'completed')
  assert.deepEqual(await transfers(body.refund_id), [
    { debit: 'wallet', credit: 'float_out:mpesa', amount: '50000000' },
  ])
})

test('an operator says how a refund went of which the provider cannot tell', async () => {
  const { client, id } = await world.account({ balance: 1_000 })
  const unsure = async () => {
    const payment = await paid(client, airtel, '0024', 100)
    return (await client.post(`/v1/payments/${payment.payment_id}/refund`)).body.refund_id
  }
  const path = (refund: string, verb: string) => `/v1/operator/accounts/${id}/refunds/${refund}/${verb}`
  const [happened, not] = [await unsure(), await unsure()]
  assert.deepEqual(await wallet(client), { balance: 1_197, held: 200 })
  const completed = await world.operator.post(path(happened, 'complete'), { provider_reference: 'ST1' })
  assert.deepEqual(
    [completed.status, completed.body.status, completed.body.provider_reference],
    [200, 'completed', 'ST1'],
    completed.text,
  )
  const failed = await world.operator.post(path(not, 'fail'))
  assert.deepEqual([failed.status, failed.body.status], [200, 'failed'], failed.text)
  assert.deepEqual(await wallet(client), { balance: 1_097, held: 0 })
  for (const [refund, verb] of [
    [happened, 'complete'],
    [not, 'complete'],
    [not, 'fail'],
  ] as const)
    assert.equal((await world.operator.post(path(refund, verb), {})).body.error.code, 'INVALID_STATE')
  const other = await world.account()
  assert.equal((await world.operator.post(path(happened, 'fail').replace(id, other.id))).status, 404)
  assert.equal((await client.post(path(happened, 'fail'))).status, 403)
})

test('a refund that happened after an operator noted that it had not is in the log and on the list, once it is heard of', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'refunds-'))
  const file = join(folder, 'log')
  const logged = await startWorld({ PAMOJA_SANDBOX_TIME_SCALE: 0.01, PAMOJA_LOG_FILE: file, PAMOJA_LOG_LEVEL: 'error' })
  try {
    const { client, id } = await logged.account({ balance: 1_000 })
    const paidBack = async (verb: string) => {
      const payment = await paid(client, airtel, '0024', 100)
      const { refund_id } = (await client.post(`/v1/payments/${payment.payment_id}/refund`)).body
      const decided = await logged.operator.post(`/v1/operator/accounts/${id}/refunds/${refund_id}/${verb}`, {})
      assert.equal(decided.status, 200, decided.text)
      const refund = await one(
        logged.app.db.query(findRefund, { ...tenantOf({ id }), id: uuidOf('refund', refund_id) ?? '' }),
      )
      await settleRefund(logged.app, refund, { kind: 'paid', receipt: 'ST1', micros: null })
      return refund_id
    }
    const happened = await paidBack('complete')
    const not = await paidBack('fail')
    const said = await eventually(async () => {
      const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.includes('recorded as failed'))
      return lines.length > 0 && lines
    }, 'the log')
    assert.deepEqual([said.length, said[0]?.includes(not), said[0]?.includes(happened)], [1, true, false])
    assert.deepEqual(await wallet(client), { balance: 1_097, held: 0 })
    const { data } = (await logged.operator.get('/v1/operator/payments/refunds')).body
    assert.deepEqual(
      data.map((row: Record<string, unknown>) => [row.refund_id, row.account_id, row.status, row.amount]),
      [[not, id, 'failed', 100]],
    )
  } finally {
    await logged.stop()
    await rm(folder, { recursive: true })
  }
})

test('a refund that failed and happened all the same is taken from the wallet when an operator says so', async () => {
  const { client, id } = await world.account({ balance: 1_000 })
  const [happened, not] = [await givenBackAllTheSame(client, id), await givenBackAllTheSame(client, id)]
  assert.deepEqual([await isListed(happened), await isListed(not)], [true, true])
  const decide = (refund: string, verb: string, body: object = {}) =>
    world.operator.post(`/v1/operator/accounts/${id}/refunds/${refund}/${verb}`, body)
  const completed = await decide(happened, 'complete', { provider_reference: 'ST1' })
  assert.deepEqual(
    [completed.status, completed.body.status, completed.body.provider_reference, completed.body.amount_refunded],
    [200, 'completed', 'ST1', 100],
    completed.text,
  )
  assert.deepEqual(await transfers(happened), [{ debit: 'wallet', credit: 'float:airtel_money', amount: '100000000' }])
  const kept = await decide(not, 'fail')
  assert.deepEqual([kept.status, kept.body.status], [200, 'failed'], kept.text)
  assert.deepEqual(await wallet(client), { balance: 1_097, held: 0 })
  assert.deepEqual([await isListed(happened), await isListed(not)], [false, false])
  for (const refund of [happened, not])
    assert.equal((await decide(refund, 'complete')).body.error.code, 'INVALID_STATE', 'once')
  const told = (await client.get('/v1/events?limit=50')).body.data.map(({ event }: { event: string }) => event)
  assert.deepEqual(told.filter((event: string) => /refund/.test(event)).sort(), [
    'payment.refunded',
    'refund.failed',
    'refund.failed',
  ])
})

test('what was given back all the same stays on the list until the wallet and the payment have it', async () => {
  const { client, id } = await world.account({ balance: 10 })
  const refund = await givenBackAllTheSame(client, id)
  const path = `/v1/operator/accounts/${id}/refunds/${refund}/complete`
  const { payment_id } = (await client.get(`/v1/refunds/${refund}`)).body
  const spent = { amount: 60, currency: 'KES', phone: '+254700000001' }
  assert.equal((await client.post('/v1/payouts', spent)).status, 201)
  assert.equal((await world.operator.post(path, {})).body.error.code, 'INSUFFICIENT_WALLET_BALANCE')
  const again = await client.post(`/v1/payments/${payment_id}/refund`, { amount: 5 })
  assert.equal((await over(client, again.body.refund_id)).status, 'completed', again.text)
  await paid(client, airtel, '0001', 1_000)
  assert.equal((await world.operator.post(path, {})).body.error.code, 'REFUND_EXCEEDS_PAYMENT')
  assert.equal(await isListed(refund), true)
  assert.equal((await client.get(`/v1/refunds/${refund}`)).body.status, 'failed')
})

test('a refund that the provider takes back after it was completed is in the wallet again, once, and told', async () => {
  const { client, id } = await world.account({ balance: 1_000 })
  const payment = await paid(client, mpesa, '0030', 1_000)
  const path = `/v1/payments/${payment.payment_id}`
  const { body: asked } = await client.post(`${path}/refund`, { amount: 400, reference: 'back-30' })
  const refund = await eventually(async () => {
    const { body } = await client.get(`/v1/refunds/${asked.refund_id}`)
    return body.status === 'failed' && body
  }, 'the refund to be taken back')
  assert.deepEqual(
    [refund.failure_reason, refund.failure_message, refund.completed_at, refund.amount_refundable],
    ['REVERSED_BY_PROVIDER', 'The provider took the money back.', null, 1_000],
  )
  assert.ok(refund.provider_reference, 'it did happen')
  const shown = (await client.get(path)).body
  assert.deepEqual([shown.status, shown.amount_refunded, shown.refund_status], ['completed', 0, 'none'])
  assert.deepEqual(await wallet(client), { balance: 1_985, held: 0 })
  assert.deepEqual(await transfers(asked.refund_id), [
    { debit: 'wallet', credit: 'float_out:mpesa', amount: '400000000' },
    { debit: 'float_out:mpesa', credit: 'wallet', amount: '400000000' },
  ])
  const rows = (await client.get('/v1/wallet/transactions?type=refund')).body.data
  assert.deepEqual(
    rows.map(({ direction, amount }: { direction: string; amount: number }) => [direction, amount]),
    [
      ['credit', 400],
      ['debit', 400],
    ],
  )
  const told = await refundEvents(client)
  assert.deepEqual(told, ['payment.refunded', 'refund.failed'])
  await tellOf(asked.refund_id, id, { kind: 'reversed' })
  assert.deepEqual([await wallet(client), await refundEvents(client)], [{ balance: 1_985, held: 0 }, told], 'once')
  const { status, text } = await client.post(`${path}/refund`, { amount: 1_000 })
  assert.equal(status, 201, text)
  assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
})

test('a refund that was taken back before it was ever told as completed has failed', async () => {
  const { client, id } = await world.account({ balance: 1_000 })
  const payment = await paid(client, airtel, '0024', 100)
  const { refund_id } = (await client.post(`/v1/payments/${payment.payment_id}/refund`)).body
  assert.deepEqual(await wallet(client), { balance: 1_098.5, held: 100 })
  await tellOf(refund_id, id, { kind: 'reversed' })
  const { body } = await client.get(`/v1/refunds/${refund_id}`)
  assert.deepEqual([body.status, body.failure_reason], ['failed', 'REVERSED_BY_PROVIDER'])
  assert.deepEqual(await wallet(client), { balance: 1_098.5, held: 0 })
})

test('of a refund that was completed and is said to have failed an operator says which is so', async () => {
  const { client, id } = await world.account({ balance: 1_000 })
  const refused = { kind: 'refused', reason: 'PROVIDER_ERROR', code: '1' } as const
  const doubted = async () => {
    const payment = await paid(client, airtel, '0001', 100)
    const { refund_id } = (await client.post(`/v1/payments/${payment.payment_id}/refund`)).body
    assert.equal((await over(client, refund_id)).status, 'completed')
    await tellOf(refund_id, id, refused)
    assert.deepEqual([await isListed(refund_id), (await over(client, refund_id)).status], [true, 'completed'])
    return refund_id
  }
  const decide = (refund: string, verb: string) =>
    world.operator.post(`/v1/operator/accounts/${id}/refunds/${refund}/${verb}`, {})
  const [happened, not] = [await doubted(), await doubted()]
  assert.deepEqual(await wallet(client), { balance: 997, held: 0 })
  assert.equal((await decide(happened, 'complete')).body.status, 'completed')
  const taken = await decide(not, 'fail')
  assert.deepEqual([taken.body.status, taken.body.failure_reason], ['failed', 'REVERSED_BY_PROVIDER'], taken.text)
  assert.deepEqual(await wallet(client), { balance: 1_097, held: 0 })
  assert.deepEqual([await isListed(happened), await isListed(not)], [false, false])
  for (const verb of ['complete', 'fail']) assert.equal((await decide(not, verb)).body.error.code, 'INVALID_STATE')
  // What was neither told nor listed is known to the operator from a statement.
  assert.equal((await decide(happened, 'fail')).body.status, 'failed')
  assert.deepEqual(await wallet(client), { balance: 1_197, held: 0 })
  assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
})

test('a refund that went to and fro is where it was told to be last', async () => {
  const { client, id } = await world.account({ balance: 1_000 })
  const refund = await givenBackAllTheSame(client, id)
  const path = `/v1/operator/accounts/${id}/refunds/${refund}`
  assert.equal((await world.operator.post(`${path}/complete`, {})).body.status, 'completed')
  assert.deepEqual(await wallet(client), { balance: 998.5, held: 0 })
  assert.equal((await world.operator.post(`${path}/fail`, {})).body.status, 'failed')
  assert.deepEqual(await wallet(client), { balance: 1_098.5, held: 0 })
  await tellOf(refund, id, { kind: 'paid', receipt: 'ST1', micros: null })
  assert.equal(await isListed(refund), true)
  const third = await world.operator.post(`${path}/complete`, {})
  assert.deepEqual([third.status, third.body.error.code], [409, 'INVALID_STATE'], third.text)
  assert.equal((await world.operator.post(`${path}/fail`, {})).body.status, 'failed')
  assert.deepEqual(await wallet(client), { balance: 1_098.5, held: 0 })
  const sequences = (await client.get('/v1/events?event=refund.failed')).body.data
  assert.equal(sequences.length, 2)
})

test('a provider that takes nothing for a day has given nothing back', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const payment = await paid(client, mpesa, '0029', 1_000)
  const { body } = await client.post(`/v1/payments/${payment.payment_id}/refund`)
  assert.deepEqual([body.status, await wallet(client)], ['pending', { balance: 1_985, held: 1_000 }])
  assert.equal((await client.post('/v1/sandbox/clock', { advance_seconds: 86_400 })).status, 200)
  const refund = await over(client, body.refund_id)
  assert.deepEqual([refund.status, refund.failure_reason], ['failed', 'PROVIDER_UNAVAILABLE'])
  assert.deepEqual(await wallet(client), { balance: 1_985, held: 0 })
})

test('the fee goes back with the money where the operator says so, and no more than all of it', async () => {
  const generous = await startWorld({
    PAMOJA_SANDBOX_TIME_SCALE: 0.01,
    PAMOJA_REFUND_FEES: 'proportional',
  })
  try {
    // Nothing but what the payment brought.
    const { client } = await generous.account({ currency: 'GHS' })
    const payment = await paid(client, { currency: 'GHS', beginning: '+23324000' }, '0001', 9.99)
    assert.equal(payment.fee, 0.15)
    for (const amount of [3.33, 3.33, 3.33]) {
      const { body, text } = await client.post(`/v1/payments/${payment.payment_id}/refund`, { amount })
      assert.equal((await over(client, body.refund_id)).status, 'completed', text)
    }
    assert.deepEqual(await wallet(client, 'GHS'), { balance: 0, held: 0 })
    const rows = (await client.get('/v1/wallet/transactions?type=refund')).body.data
    assert.deepEqual(
      rows.filter(({ direction }: { direction: string }) => direction === 'credit').map(amountOf),
      [0.05, 0.05, 0.05],
    )
    const { client: other } = await generous.account()
    const whole = await paid(other, mpesa, '0021', 1_000)
    const failing = await other.post(`/v1/payments/${whole.payment_id}/refund?wait=0`)
    assert.equal(failing.status, 201, failing.text)
    assert.equal((await over(other, failing.body.refund_id)).status, 'failed')
    assert.deepEqual(await wallet(other), { balance: 985, held: 0 }, 'and the fee is paid again')
    const moved = (await other.get('/v1/wallet/transactions?type=refund')).body.data
    assert.deepEqual(
      moved.map(({ direction, amount }: { direction: string; amount: number }) => [direction, amount]),
      [
        ['debit', 15],
        ['credit', 15],
      ],
    )
    await other.post('/v1/payouts', { amount: 100, currency: 'KES', phone: '+254700000001' })
    const poor = await other.post(`/v1/payments/${whole.payment_id}/refund`)
    assert.deepEqual([poor.status, poor.body.error.required, poor.body.error.available], [402, 985, 884.5], poor.text)
    assert.deepEqual((await verifyLedger(generous.app.db)).problems, [])
  } finally {
    await generous.stop()
  }
})

test('what cannot be refunded is refused with a code, and nothing is set aside', async () => {
  const { client } = await world.account()
  const refused = async (id: string, body: object, status: number, code: string) => {
    const reply = await client.post(`/v1/payments/${id}/refund`, body)
    assert.deepEqual([reply.status, reply.body.error?.code], [status, code], `${JSON.stringify(body)} ${reply.text}`)
    return reply.body.error
  }
  const payment = await paid(client, airtel, '0001', 1_000)
  const poor = await refused(payment.payment_id, {}, 402, 'INSUFFICIENT_WALLET_BALANCE')
  assert.deepEqual([poor.available, poor.required, poor.currency], [985, 1_000, 'KES'])
  for (const body of [
    { amount: 0 },
    { amount: -5 },
    { amount: 1.234 },
    { amount: 'x' },
    { reason: 'whim' },
    { reference: 'two words' },
    { description: 'x'.repeat(256) },
    { metadata: { a: {} } },
  ])
    await refused(payment.payment_id, body, 422, 'VALIDATION_ERROR')
  const high = await refused(payment.payment_id, { amount: 1_000.01 }, 422, 'REFUND_EXCEEDS_PAYMENT')
  assert.equal(high.amount_refundable, 1_000)
  const unanswered = { amount: 5, currency: 'KES', phone: '+254733000003', expires_in: 86_400 }
  const { body: open } = await client.post('/v1/payments', unanswered)
  assert.match((await refused(open.payment_id, {}, 409, 'REFUND_NOT_ALLOWED')).details, /processing/)
  const { body: topup } = await client.post('/v1/wallet/topup', { amount: 50, phone: '+254733000001' })
  await completed(client, topup.payment_id)
  assert.match((await refused(topup.payment_id, {}, 409, 'REFUND_NOT_ALLOWED')).details, /top-up/)
  for (const id of ['pay_nonsense', 'pay_00000000000000000000000000', 'x']) await refused(id, {}, 404, 'NOT_FOUND')
  assert.equal((await client.get('/v1/refunds/re_nonsense')).status, 404)
  assert.equal((await client.get('/v1/payments/pay_nonsense/refunds')).status, 404)
  assert.deepEqual(await wallet(client), { balance: 1_035, held: 0 })
  assert.equal((await client.get('/v1/refunds')).body.data.length, 0)
  const shown = (await client.get(`/v1/payments/${payment.payment_id}`)).body
  assert.deepEqual([shown.amount_refunded, shown.refund_status], [0, 'none'])
})

test('a payment of more than a year ago is not refunded', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const payment = await paid(client, airtel, '0001', 100)
  await sql.query(
    `update payments.payments set completed_at = completed_at - interval '365 days 1 hour' where id = $1`,
    [uuidOf('payment', payment.payment_id)],
  )
  const late = await client.post(`/v1/payments/${payment.payment_id}/refund`)
  assert.deepEqual([late.status, late.body.error.code], [409, 'REFUND_NOT_ALLOWED'])
  assert.match(late.body.error.details, /365 days/)
  await sql.query(`update payments.payments set completed_at = completed_at + interval '2 hours' where id = $1`, [
    uuidOf('payment', payment.payment_id),
  ])
  assert.equal((await client.post(`/v1/payments/${payment.payment_id}/refund`)).status, 201)
})

test('the same key gives the same refund, the same reference none', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const [one, other] = [await paid(client, airtel, '0001', 100), await paid(client, airtel, '0001', 100)]
  const path = `/v1/payments/${one.payment_id}/refund`
  const body = { reference: 'once' }
  const headers = { 'Idempotency-Key': 'k' }
  const first = await client.post(path, body, { headers })
  const again = await client.post(path, body, { headers })
  assert.deepEqual([first.status, again.status, again.text], [201, 201, first.text])
  for (const id of [one.payment_id, other.payment_id]) {
    const { status, body: said } = await client.post(`/v1/payments/${id}/refund`, body)
    assert.deepEqual(
      [status, said.error.code, said.error.original_id, typeof said.error.original_status],
      [409, 'DUPLICATE_REFERENCE', first.body.refund_id, 'string'],
    )
  }
  assert.equal((await client.get('/v1/refunds')).body.data.length, 1)
})

test('many who refund one payment at once refund it once', async () => {
  const { client } = await world.account({ balance: 10_000 })
  const payment = await paid(client, airtel, '0001', 100)
  const ask = () => client.post(`/v1/payments/${payment.payment_id}/refund`)
  const replies = await Promise.all(Array.from({ length: 8 }, ask))
  const accepted = replies.filter(({ status }) => status === 201)
  assert.equal(accepted.length, 1)
  for (const { status, body } of replies.filter((reply) => reply.status !== 201))
    assert.deepEqual([status, body.error.code], [422, 'REFUND_EXCEEDS_PAYMENT'])
  await over(client, accepted[0]?.body.refund_id)
  assert.deepEqual(await wallet(client), { balance: 9_998.5, held: 0 })
})

const card = { exp_month: 12, exp_year: 2040, cvv: '123' }

test('what was paid by card goes back to the card, whole or in parts, at once, late or not at all', async () => {
  const { client } = await world.account({ balance: 100 })
  const pays = async (number: string) => {
    const body = { amount: 1_000, currency: 'KES', card: { number, ...card } }
    const { status, body: payment, text } = await client.post('/v1/payments', body)
    assert.deepEqual([status, payment.status], [201, 'completed'], text)
    return payment.payment_id
  }
  const rows: [string, number, string][] = [
    ['4242424242424242', 400, 'completed'],
    ['4000000000007726', 1_000, 'completed'],
    ['4000000000005126', 1_000, 'failed'],
  ]
  for (const [number, amount, status] of rows) {
    const before = await wallet(client)
    const id = await pays(number)
    const asked = await client.post(`/v1/payments/${id}/refund`, { amount })
    assert.equal(asked.status, 201, asked.text)
    assert.equal(asked.body.status === 'completed', number === '4242424242424242')
    const refund = await over(client, asked.body.refund_id)
    assert.deepEqual([refund.status, refund.amount], [status, amount])
    const gone = status === 'completed' ? amount : 0
    const after = await wallet(client)
    assert.deepEqual([after.held, Math.round(after.balance - before.balance)], [0, 971 - gone])
    assert.equal((await client.get(`/v1/payments/${id}`)).body.amount_refunded, gone)
  }
})

test('a refund that comes back to the acquirer, because the card is closed, is in the wallet again', async () => {
  const { client } = await world.account({ balance: 100 })
  const body = { amount: 1_000, currency: 'KES', card: { number: '4000000000005134', ...card } }
  const { payment_id } = (await client.post('/v1/payments', body)).body
  const first = (await client.post(`/v1/payments/${payment_id}/refund`, { amount: 300 })).body
  const second = (await client.post(`/v1/payments/${payment_id}/refund`, { amount: 200 })).body
  assert.deepEqual([first.status, second.status], ['completed', 'completed'])
  for (const { refund_id } of [first, second])
    await eventually(async () => {
      const { status, failure_reason } = (await client.get(`/v1/refunds/${refund_id}`)).body
      return status === 'failed' && failure_reason === 'REVERSED_BY_PROVIDER'
    }, 'the refund to be taken back')
  assert.deepEqual(await wallet(client), { balance: 1_071, held: 0 })
  assert.deepEqual(await refundEvents(client), [
    'payment.refunded',
    'payment.refunded',
    'refund.failed',
    'refund.failed',
  ])
  assert.equal((await client.get(`/v1/payments/${payment_id}`)).body.amount_refunded, 0)
  assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
})

test('what was paid by bank goes back to where it came from', async () => {
  const { client } = await world.account({ balance: 100 })
  const bank = { account_number: '0112230001', bank_code: '999', account_name: 'Asha Otieno' }
  const debited = await client.post('/v1/payments', { amount: 500, currency: 'KES', bank })
  const opened = await client.post('/v1/payments', { amount: 500, currency: 'KES', method: 'bank_transfer' })
  const { account_number } = opened.body.bank_transfer
  assert.equal((await client.post('/v1/sandbox/bank/credit', { account_number, amount: 500 })).status, 200)
  for (const { body } of [debited, opened]) {
    await completed(client, body.payment_id)
    const asked = await client.post(`/v1/payments/${body.payment_id}/refund`, { amount: 200 })
    assert.equal(asked.status, 201, asked.text)
    assert.equal((await over(client, asked.body.refund_id)).status, 'completed')
  }
})

/** A refund that an operator noted as failed, and of which the provider says afterwards that it happened. */
async function givenBackAllTheSame(client: Client, account: string): Promise<string> {
  const payment = await paid(client, airtel, '0024', 100)
  const { refund_id } = (await client.post(`/v1/payments/${payment.payment_id}/refund`)).body
  const failed = await world.operator.post(`/v1/operator/accounts/${account}/refunds/${refund_id}/fail`, {})
  assert.equal(failed.status, 200, failed.text)
  await tellOf(refund_id, account, { kind: 'paid', receipt: 'ST1', micros: null })
  return refund_id
}

/** Has the provider say something of a refund that nobody expects of it. */
async function tellOf(refundId: string, id: string, verdict: OutgoingVerdict): Promise<void> {
  const refund = await one(
    world.app.db.query(findRefund, { ...tenantOf({ id }), id: uuidOf('refund', refundId) ?? '' }),
  )
  await settleRefund(world.app, refund, verdict)
}

async function refundEvents(client: Client): Promise<string[]> {
  const told = (await client.get('/v1/events?limit=50')).body.data.map(({ event }: { event: string }) => event)
  return told.filter((event: string) => event.includes('refund')).sort()
}

async function isListed(refund: string): Promise<boolean> {
  const { data } = (await world.operator.get('/v1/operator/payments/refunds?limit=200')).body
  return data.some(({ refund_id }: { refund_id: string }) => refund_id === refund)
}

async function paid(client: Client, { currency, beginning }: typeof airtel, ending: string, amount: number) {
  const { status, body, text } = await client.post('/v1/payments', { amount, currency, phone: `${beginning}${ending}` })
  assert.equal(status, 201, text)
  return completed(client, body.payment_id)
}

function completed(client: Client, id: string) {
  return eventually(async () => {
    const { body } = await client.get(`/v1/payments/${id}`)
    return body.status === 'completed' && body.provider_reference && body
  }, 'the payment to be completed')
}

function over(client: Client, id: string) {
  return eventually(async () => {
    const { body } = await client.get(`/v1/refunds/${id}`)
    return ['completed', 'failed'].includes(body.status) && body
  }, `refund ${id} to be over`)
}

async function transactionOf(client: Client, id: string): Promise<string> {
  const { data } = (await client.get('/v1/payments/transactions?type=payment')).body
  return data.find(({ payment_id }: { payment_id: string }) => payment_id === id).transaction_id
}

async function transfers(refundId: string) {
  const { rows } = await sql.query(
    'select debit, credit, amount from ledger.transfers where source_id = $1 order by step, leg',
    [uuidOf('refund', refundId)],
  )
  return rows
}

function amountOf({ amount }: { amount: number }): number {
  return amount
}

/** What a single reply has beside the object itself. */
function withoutEnvelope(reply: Record<string, unknown>): Record<string, unknown> {
  const { success: _, data: _data, ...object } = reply
  return object
}
