// SPDX-License-Identifier: Apache-2.0
// A mobile-money payment from the request to the wallet and the signed webhook, over the provider's real protocol. Every
// row of the sandbox's table of collections is here.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { simulatedAccounts } from '../../src/areas/payments/gateway/simulated.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import type { Client } from '../client.ts'
import { startMarket } from '../market.ts'
import { isToldInTime, settled } from '../paying.ts'
import { eventually, startWorld } from '../world.ts'

// Slow enough that a call comes before the question that would be asked without it, on a busy machine too.
const timeScale = 0.04
const { world, sql, receiver } = await startMarket(timeScale)

test('a payment is confirmed on the phone, reaches the wallet, and its webhook is signed', async () => {
  const { client, id } = await world.account()
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/paid'), events: ['payment.*'] })
  const asked = await client.post('/v1/payments', {
    amount: 1500,
    currency: 'kes',
    phone: '+254700000001',
    description: 'Order 77',
    reference: 'order-77',
    customer: { name: 'Asha', email: 'asha@example.com' },
    metadata: { order: '77' },
  })
  assert.equal(asked.status, 201, asked.text)
  assert.deepEqual(
    [asked.body.status, asked.body.amount, asked.body.currency, asked.body.provider, asked.body.fee],
    ['processing', 1500, 'KES', 'mpesa', 22.5],
  )
  const paid = await settled(client, asked.body.payment_id)
  assert.deepEqual([paid.status, paid.net_amount, paid.late, paid.failure_reason], ['completed', 1477.5, false, null])
  const receipt = await eventually(
    async () => (await client.get(`/v1/payments/${paid.payment_id}`)).body.provider_reference,
    'the receipt',
  )
  assert.match(receipt, /^S[0-9A-F]{9}$/)
  assert.equal(await balance(client), 1477.5)
  const events = await eventually(async () => {
    const got = receiver.received.filter(({ url }) => url === '/paid')
    return got.length === 2 && got
  }, 'both webhooks')
  const [created, completed] = events.map(({ body }) => JSON.parse(body)).sort((a, b) => a.sequence - b.sequence)
  assert.deepEqual([created.event, created.sequence], ['payment.created', 1])
  assert.deepEqual(
    [completed.event, completed.sequence, completed.payment.net_amount],
    ['payment.completed', 2, 1477.5],
  )
  for (const { body, headers } of events)
    assert.equal(headers['x-service-signature'], createHmac('sha256', hook.secret).update(body).digest('hex'))
  const { rows } = await sql.query(
    `select debit, credit, amount from ledger.transfers
      where account_id = (select account_id from payments.payments where reference = 'order-77') order by leg`,
  )
  assert.deepEqual(rows, [
    { debit: 'float:mpesa', credit: 'wallet', amount: '1477500000' },
    { debit: 'float:mpesa', credit: 'revenue:payment_fees', amount: '22500000' },
  ])
  assert.ok(id)
})

const outcomes: Readonly<Record<string, readonly [status: string, reason?: string]>> = {
  '0001': ['completed'],
  '0002': ['failed', 'INSUFFICIENT_FUNDS'],
  '0003': ['expired', 'TRANSACTION_TIMEOUT'],
  '0004': ['cancelled', 'USER_CANCELLED'],
  '0005': ['failed', 'WRONG_PIN'],
  '0006': ['failed', 'PAYER_LIMIT_REACHED'],
  '0007': ['failed', 'PAYER_UNREACHABLE'],
  '0009': ['completed'],
  '0010': ['completed'],
  '0011': ['completed'],
  '0013': ['failed', 'AMOUNT_MISMATCH'],
  '0014': ['completed'],
  '0015': ['completed'],
  '0016': ['expired', 'TRANSACTION_TIMEOUT'],
  '0020': ['completed'],
}

/** Where a provider has no word for something, or can do better. */
const providers = [
  { provider: 'mpesa', currency: 'KES', beginning: '+25470000', outcomes },
  {
    provider: 'mtn_momo',
    currency: 'UGX',
    beginning: '+25677000',
    outcomes: {
      ...outcomes,
      '0005': ['cancelled', 'USER_CANCELLED'],
      '0007': ['failed', 'TRANSACTION_TIMEOUT'],
      '0016': ['completed'],
    },
  },
  {
    provider: 'airtel_money',
    currency: 'KES',
    beginning: '+25473300',
    outcomes: { ...outcomes, '0007': ['failed', 'TRANSACTION_TIMEOUT'], '0013': ['completed'] },
  },
  {
    provider: 'vodacom_mpesa',
    currency: 'TZS',
    beginning: '+25574400',
    // It tells little of why nobody paid, and no amounts.
    outcomes: {
      ...outcomes,
      '0002': ['failed', 'PROVIDER_ERROR'],
      '0005': ['failed', 'PROVIDER_ERROR'],
      '0006': ['failed', 'PROVIDER_ERROR'],
      '0007': ['failed', 'TRANSACTION_TIMEOUT'],
      '0013': ['completed'],
    },
  },
  {
    provider: 'ecocash',
    currency: 'USD',
    beginning: '+26377100',
    outcomes: {
      ...outcomes,
      '0005': ['failed', 'PROVIDER_ERROR'],
      '0006': ['failed', 'PROVIDER_ERROR'],
      '0007': ['failed', 'TRANSACTION_TIMEOUT'],
    },
  },
]

/** A slow machine may take longer over a payment than a payer has here; only what is to expire has to. */
const unhurried = { expires_in: 86_400 }

/** Payers wait for most of their time, so several have their turn at once. */
describe('payers', { concurrency: 6 }, () => {
  for (const { provider, currency, beginning, outcomes } of providers)
    for (const [ending, [status, reason = null]] of Object.entries(outcomes))
      test(`a ${provider} payer whose number ends in ${ending}: ${status}${reason ? ` ${reason}` : ''}`, async () => {
        const body = { amount: 1_000, currency, phone: `${beginning}${ending}` }
        const { client, payment } = await eventually(async () => {
          const { client } = await world.account()
          const asked = await client.post('/v1/payments', status === 'expired' ? body : { ...body, ...unhurried })
          assert.deepEqual([asked.status, asked.body.provider], [201, provider], asked.text)
          const payment = await settled(client, asked.body.payment_id)
          return (ending !== '0013' || (await isToldInTime(sql, payment.payment_id))) && { client, payment }
        }, 'a call that comes in time')
        assert.deepEqual([payment.status, payment.failure_reason, payment.late], [status, reason, false])
        assert.equal(payment.failure_message === null, reason === null)
        assert.equal(await walletGot(payment.payment_id), status === 'completed' ? 985 : 0)
        const told = (await client.get('/v1/events?limit=20')).body.data
        const last = status === 'completed' ? 'payment.completed' : 'payment.failed'
        assert.deepEqual(told.map(({ event }: { event: string }) => event).sort(), [last, 'payment.created'].sort())
      })

  for (const { provider, currency, beginning } of providers) {
    test(`a ${provider} payer who pays after the payment expired has paid, late`, async () => {
      const { client } = await world.account()
      const late = { amount: 1_000, currency, phone: `${beginning}0008`, expires_in: 60 }
      const asked = await client.post('/v1/payments', late)
      const payment = await eventually(async () => {
        const { body } = await client.get(`/v1/payments/${asked.body.payment_id}`)
        return body.status === 'completed' && body
      }, 'the late payment')
      assert.deepEqual([payment.late, payment.failure_reason], [true, null])
      assert.equal(await walletGot(payment.payment_id), 985)
      // What it was in between is known from what was told, however late one looks.
      const told = (await client.get('/v1/events?limit=20')).body.data
      const [last, before, first] = told.map(({ payload }: { payload: object }) => payload)
      assert.deepEqual(
        [first.event, before.event, last.event],
        ['payment.created', 'payment.failed', 'payment.completed'],
      )
      assert.deepEqual([before.payment.status, before.payment.failure_reason], ['expired', 'TRANSACTION_TIMEOUT'])
    })

    test(`${provider} out of reach is told at once, charges nothing, and the same key may be tried again`, async () => {
      const { client } = await world.account()
      const body = { amount: 1_000, currency, phone: `${beginning}0012`, reference: 'r-1' }
      const headers = { 'Idempotency-Key': 'pay-1' }
      for (let i = 0; i < 2; i++) {
        const refused = await client.post('/v1/payments', body, { headers })
        assert.deepEqual([refused.status, refused.body.error.code], [503, 'PROVIDER_UNAVAILABLE'], refused.text)
        const stored = await client.get(`/v1/payments/${refused.body.error.payment_id}`)
        assert.deepEqual([stored.body.status, stored.body.failure_reason], ['failed', 'PROVIDER_UNAVAILABLE'])
      }
    })
  }
})

test('the same key gives the same payment, the same reference none', async () => {
  const { client } = await world.account()
  const body = { amount: 100, currency: 'KES', phone: '+254700000001', reference: 'once' }
  const headers = { 'Idempotency-Key': 'k' }
  const first = await client.post('/v1/payments', body, { headers })
  const again = await client.post('/v1/payments', body, { headers })
  assert.deepEqual([again.status, again.text], [201, first.text])
  assert.equal(again.headers['idempotent-replayed'], 'true')
  const second = await client.post('/v1/payments', body)
  assert.deepEqual(
    [second.status, second.body.error.code, second.body.error.existing_id],
    [409, 'DUPLICATE_REFERENCE', first.body.payment_id],
  )
})

test('many requests with one key at once ask the payer once', async () => {
  const { client } = await world.account()
  const body = { amount: 100, currency: 'KES', phone: '+254700000001' }
  const ask = () => client.post('/v1/payments', body, { headers: { 'Idempotency-Key': 'crowd' } })
  const replies = await Promise.all(Array.from({ length: 8 }, ask))
  for (const { status, body: said } of replies)
    assert.ok(status === 201 || said.error.code === 'REQUEST_IN_PROGRESS', JSON.stringify(said))
  const { body: last } = await eventually(async () => {
    const reply = await ask()
    return reply.status === 201 && reply
  }, 'the first answer')
  await settled(client, last.payment_id)
  assert.equal((await client.get('/v1/payments/transactions')).body.data.length, 1)
  assert.equal(await balance(client), 98.5)
})

test('with wait=0 the answer comes before the provider is asked, and the payment goes on', async () => {
  const { client } = await world.account()
  const asked = await client.post('/v1/payments/charge?wait=0', { amount: 5, currency: 'KES', phone: '+254700000001' })
  assert.deepEqual([asked.status, asked.body.status], [201, 'pending'])
  assert.equal((await settled(client, asked.body.payment_id)).status, 'completed')
})

test('the mobile form gives the same payment', async () => {
  const { client } = await world.account()
  const asked = await client.post('/v1/payments/mobile/initiate', {
    amount: '5.00',
    currency: 'KES',
    phone_number: '+254700000001',
    provider: 'MPESA',
  })
  assert.equal(asked.status, 201, asked.text)
  assert.equal((await client.get(`/v1/payments/mobile/${asked.body.payment_id}`)).body.amount, 5)
})

test('a payment goes by the id of its transaction too', async () => {
  const { client } = await world.account({ balance: 100 })
  const card = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '123' }
  const { payment_id } = (await client.post('/v1/payments', { amount: 50, currency: 'KES', card })).body
  const [{ transaction_id }] = (await client.get('/v1/payments/transactions')).body.data
  assert.match(transaction_id, /^txn_/)
  assert.equal((await client.get(`/v1/payments/${transaction_id}`)).body.payment_id, payment_id)
  const refund = await client.post(`/v1/payments/${transaction_id}/refund`, { amount: 20 })
  assert.deepEqual([refund.status, refund.body.payment_id], [201, payment_id], refund.text)
  const [given] = (await client.get(`/v1/payments/${transaction_id}/refunds`)).body.data
  assert.equal(given.refund_id, refund.body.refund_id)
})

test('a payer has two minutes on the phone and a quarter of an hour with a card, unless told otherwise', async () => {
  const { client } = await world.account()
  const card = { number: '4000000000003220', exp_month: 12, exp_year: 2040, cvv: '123' }
  const seconds = async (body: object) => {
    const { body: payment, text } = await client.post('/v1/payments?wait=0', { amount: 50, currency: 'KES', ...body })
    assert.ok(payment.expires_at, text)
    return (Date.parse(payment.expires_at) - Date.parse(payment.created_at)) / 1_000 / timeScale
  }
  const phone = '+254700000003'
  assert.deepEqual([await seconds({ phone }), await seconds({ phone, expires_in: 600 })], [120, 600])
  assert.deepEqual([await seconds({ card }), await seconds({ card, expires_in: 60 })], [900, 60])
  assert.equal(await seconds({ card, expires_in: 86_400 }), 900, 'no longer than the payer can prove who it is')
})

test('what cannot be collected is refused with a code, and nothing is stored', async () => {
  const { client } = await world.account()
  const good = { amount: 100, currency: 'KES', phone: '+254700000001' }
  const rows: [body: object, status: number, code: string][] = [
    [{ ...good, amount: 0 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, amount: -1 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, amount: 1.234 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, amount: 1.5 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, amount: '1e3' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, amount: 250_001 }, 422, 'AMOUNT_TOO_HIGH'],
    [{ ...good, currency: 'KSH' }, 422, 'UNSUPPORTED_CURRENCY'],
    [{ ...good, currency: 'GBP' }, 422, 'UNSUPPORTED_METHOD'],
    [{ ...good, provider: 'mtn_momo' }, 422, 'UNSUPPORTED_PROVIDER'],
    [{ ...good, phone: '0700000001' }, 422, 'INVALID_PHONE'],
    [{ ...good, phone: '+2547000' }, 422, 'INVALID_PHONE'],
    [{ ...good, phone: '+256772000001' }, 422, 'INVALID_PHONE'],
    [{ ...good, phone: '+254770000001' }, 422, 'UNSUPPORTED_PROVIDER'],
    [{ ...good, reference: 'two words' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, expires_in: 59 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, expires_in: 86_401 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, customer: { email: 'asha' } }, 422, 'VALIDATION_ERROR'],
    [{ ...good, customer: { name: 'x'.repeat(101) } }, 422, 'VALIDATION_ERROR'],
    [{ ...good, description: 'x'.repeat(256) }, 422, 'VALIDATION_ERROR'],
    [{ ...good, reference: 'x'.repeat(101) }, 422, 'VALIDATION_ERROR'],
    [{ ...good, reference: '' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, metadata: { ['x'.repeat(41)]: 1 } }, 422, 'VALIDATION_ERROR'],
    [{ ...good, metadata: { note: 'x'.repeat(501) } }, 422, 'VALIDATION_ERROR'],
    [{ ...good, metadata: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [i, 1])) }, 422, 'VALIDATION_ERROR'],
    [{ ...good, amount: 1_234_567_890_123_456 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, currency: 'XOF', phone: '+22890000001' }, 422, 'UNSUPPORTED_PROVIDER'],
    [{ ...good, currency: 'XOF', phone: '+237650000001' }, 422, 'INVALID_PHONE'],
    [{ ...good, callback_url: 'ftp://example.com' }, 400, 'INVALID_URL'],
    [{ ...good, return_url: 'javascript:alert(1)' }, 400, 'INVALID_URL'],
    [{ ...good, method: 'cowries' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, capture: false }, 422, 'VALIDATION_ERROR'],
    [{ ...good, settle_to: 'bank' }, 422, 'VALIDATION_ERROR'],
  ]
  for (const [body, status, code] of rows) {
    const refused = await client.post('/v1/payments', body)
    assert.deepEqual([refused.status, refused.body.error?.code], [status, code], JSON.stringify(body))
  }
  const high = await client.post('/v1/payments', { ...good, amount: 250_001 })
  assert.deepEqual([high.body.error.max_amount, high.body.error.currency], [250_000, 'KES'])
  assert.equal((await client.get('/v1/events')).body.data.length, 0)
})

test('a payment that nobody was asked for yet can be withdrawn, any other cannot', async () => {
  const alone = await startWorld({ PAMOJA_ROLES: ['api'] })
  try {
    const { client } = await alone.account()
    const body = { amount: 5, currency: 'KES', phone: '+254700000001' }
    const { body: waiting } = await client.post('/v1/payments?wait=0', body)
    const cancelled = await client.post(`/v1/payments/${waiting.payment_id}/cancel`)
    assert.deepEqual(
      [cancelled.status, cancelled.body.status, cancelled.body.failure_reason],
      [200, 'cancelled', 'USER_CANCELLED'],
    )
    const again = await client.post(`/v1/payments/${waiting.payment_id}/cancel`)
    assert.deepEqual(
      [again.status, again.body.error.code, again.body.error.status],
      [409, 'INVALID_STATE', 'cancelled'],
    )
    assert.deepEqual(
      (await client.get('/v1/events')).body.data.map(({ event }: { event: string }) => event),
      ['payment.failed', 'payment.created'],
    )
  } finally {
    await alone.stop()
  }
  const { client } = await world.account()
  const { body: asked } = await client.post('/v1/payments', {
    amount: 5,
    currency: 'KES',
    phone: '+254700000003',
    ...unhurried,
  })
  const refused = await client.post(`/v1/payments/${asked.payment_id}/cancel`)
  assert.deepEqual([refused.status, refused.body.error.status], [409, 'processing'])
  assert.equal((await client.post('/v1/payments/pay_nonsense/cancel')).status, 404)
})

test('the ways to pay are listed with their bounds and how they are doing', async () => {
  const { client } = await world.account()
  const { body } = await client.get('/v1/payments/methods?currency=kes')
  assert.deepEqual(body.data[0], {
    method: 'mobile_money',
    provider: 'mpesa',
    name: 'M-Pesa',
    countries: ['KE'],
    currencies: ['KES'],
    directions: ['in', 'out'],
    min_amount: 1,
    max_amount: 250_000,
    whole_units_only: true,
    fee: { percent: 1.5, fixed: 0, currency: 'KES' },
    status: 'up',
    logo_url: `${world.node.url}/logos/mpesa.svg`,
    ussd_code: '*334#',
    confirms_on: 'phone',
  })
  for (const query of ['currency=GBP', 'country=GB', 'country=GB&direction=out']) {
    const { data } = (await client.get(`/v1/payments/methods?${query}`)).body
    assert.ok(!data.some(({ method }: { method: string }) => method === 'mobile_money'), query)
  }
})

test('transactions are listed newest first, filtered and with masked numbers', async () => {
  const { client } = await world.account()
  const ids: string[] = []
  for (const [n, ending] of ['0001', '0002', '0001'].entries()) {
    const { body } = await client.post('/v1/payments', {
      amount: 10 + n,
      currency: 'KES',
      phone: `+25470000${ending}`,
      reference: `t-${n}`,
    })
    ids.push(body.payment_id)
    await settled(client, body.payment_id)
  }
  const listed = async (query: string) =>
    (await client.get(`/v1/payments/transactions${query}`)).body.data.map(({ amount }: { amount: number }) => amount)
  assert.deepEqual(await listed(''), [12, 11, 10])
  assert.deepEqual(await listed('?status=completed&order=asc'), [10, 12])
  assert.deepEqual(await listed('?reference=t-1'), [11])
  assert.deepEqual(await listed('?phone=%2B254700000002'), [11])
  assert.deepEqual(await listed('?provider=mpesa&currency=kes&method=mobile_money&limit=1'), [12])
  assert.deepEqual(await listed('?end_date=2020-01-01'), [])
  const [first] = (await client.get('/v1/payments/transactions')).body.data
  assert.deepEqual([first.phone, first.type, first.direction], ['+2547****0001', 'payment', 'credit'])
  assert.equal((await client.get(`/v1/payments/${first.transaction_id}`)).body.payment_id, ids[2])
  const bad = await client.get('/v1/payments/transactions?start_date=2026-02-02&end_date=2026-02-01')
  assert.equal(bad.body.error.code, 'INVALID_DATE_RANGE')
})

test('what a payment costs and how much may be paid at once is on the operator’s price list', async () => {
  const { client, id } = await world.account()
  const asked = { amount: 100, currency: 'kes', method: 'MOBILE_MONEY', phone: '+254700000001' }
  const set = async (unit: string, amount: number, more: object = {}) => {
    const price = { area: 'payments', unit: `mobile_money.${unit}`, country: 'KE', network: 'mpesa', currency: 'KES' }
    const { status, text } = await world.operator.post('/v1/operator/prices', {
      ...price,
      amount,
      account_id: id,
      ...more,
    })
    assert.equal(status, 201, text)
  }
  for (const [unit, amount] of [
    ['percent', 2.25],
    ['fixed', 0.5],
    ['min', 10],
    ['max', 500],
  ] as const)
    await set(unit, amount)
  await set('percent', 1, { area: 'payouts', network: undefined })
  const offer = await eventually(async () => {
    const [mpesa] = (await client.get('/v1/payments/methods?currency=KES')).body.data
    return mpesa.max_amount === 500 && mpesa
  }, 'the prices to be in force')
  assert.deepEqual([offer.min_amount, offer.fee], [10, { percent: 2.25, fixed: 0.5, currency: 'KES' }])
  const [out] = (await client.get('/v1/payments/methods?currency=KES&direction=out')).body.data
  assert.deepEqual(out.fee, { percent: 1, fixed: 0, currency: 'KES' })

  const paid = await client.post('/v1/payments', asked)
  assert.equal(paid.status, 201, paid.text)
  const { fee, net_amount } = await settled(client, paid.body.payment_id)
  assert.deepEqual([fee, net_amount], [2.75, 97.25])
  for (const [amount, code] of [
    [9, 'AMOUNT_TOO_LOW'],
    [501, 'AMOUNT_TOO_HIGH'],
  ] as const)
    assert.equal((await client.post('/v1/payments', { ...asked, amount })).body.error.code, code)
  const payout = await client.post('/v1/payouts', { ...asked, amount: 50 })
  assert.deepEqual([payout.status, payout.body.fee], [201, 0.5], payout.text)

  const others = (await (await world.account()).client.get('/v1/payments/methods?currency=KES')).body.data[0]
  assert.deepEqual([others.max_amount, others.fee.percent], [250_000, 1.5], 'the usual terms, for everybody else')
})

test('an operator enters a provider, and live payments go to it', async () => {
  const { mpesa = {} } = simulatedAccounts(world.app)
  const { client, id } = await world.account()
  const { body: key } = await client.post('/v1/api-keys', { name: 'live', environment: 'live' })
  const live = world.stranger.as(key.key)
  const asked = { amount: 100, currency: 'KES', phone: '+254700000001' }
  assert.equal((await live.post('/v1/payments', asked)).body.error.code, 'PROVIDER_UNAVAILABLE')
  const path = '/v1/operator/payments/providers'
  const account = {
    provider: 'mpesa',
    environment: 'live',
    ...mpesa,
    base_url: `${mpesa.base_url}/`,
    passkey: 'wrong',
  }
  const entered = await world.operator.post(path, account)
  assert.deepEqual([entered.status, entered.body.id], [201, 'mpesa-ke-live'], entered.text)
  for (const secret of [mpesa.consumer_key, mpesa.consumer_secret])
    assert.ok(secret && !entered.text.includes(secret), 'no secret comes back')
  assert.equal((await world.operator.post(path, account)).body.error.code, 'CONFLICT')
  const wrong = await eventually(async () => {
    const { status, body } = await live.post('/v1/payments', asked)
    return status === 201 && body
  }, 'the provider to be asked')
  assert.deepEqual([wrong.status, wrong.failure_reason], ['failed', 'PROVIDER_ERROR'], 'with a wrong passkey')
  const tested = async () => (await world.operator.post(`${path}/mpesa-ke-live/test`)).body
  await world.operator.patch(`${path}/mpesa-ke-live`, { consumer_secret: 'wrong' })
  const stopped = await tested()
  assert.deepEqual(statusesOf(stopped), ['passed', 'passed', 'skipped', 'failed', 'skipped'], JSON.stringify(stopped))
  assert.match(stopped.steps[3].detail, /^No token was given: GET \/oauth\/v1\/generate was answered with 4\d\d$/)
  assert.match(stopped.steps[3].remedy, /^Check the user name and secrets/)
  const { passkey, consumer_secret } = mpesa
  const changed = await world.operator.patch(`${path}/mpesa-ke-live`, { passkey, consumer_secret })
  assert.equal(changed.status, 200, changed.text)
  const good = await tested()
  assert.deepEqual(statusesOf(good), ['passed', 'passed', 'skipped', 'passed', 'passed'], JSON.stringify(good))
  assert.ok(good.is_good && !JSON.stringify(good).includes(String(consumer_secret)))
  assert.equal((await world.operator.post(`${path}/mpesa-ug-live/test`)).status, 404)
  const paid = await eventually(async () => {
    const { body } = await live.post('/v1/payments', asked)
    return body.status === 'processing' && body
  }, 'the right passkey')
  assert.equal((await settled(live, paid.payment_id)).status, 'completed')
  const { rows } = await sql.query(`select settings::text || encode(secret, 'escape') as kept from payments.providers`)
  for (const secret of [mpesa.passkey, mpesa.consumer_secret]) assert.ok(!rows[0].kept.includes(secret))
  for (const bad of [{ base_url: 'ftp://x' }, { shortcode: 'x' }, { passkey: '' }, { api_key: 'x' }, { enabled: 'no' }])
    assert.equal((await world.operator.patch(`${path}/mpesa-ke-live`, bad)).status, 422, JSON.stringify(bad))
  // What a cloud tells its machines only, a port of other services, and credentials where they would be logged.
  for (const base_url of ['http://169.254.169.254/latest', 'https://127.0.0.1:25', 'https://me:secret@127.0.0.1:8443'])
    for (const refused of [
      await world.operator.patch(`${path}/mpesa-ke-live`, { base_url }),
      await world.operator.post(path, { ...account, environment: 'test', base_url }),
    ])
      assert.equal(refused.body.error.code, 'INVALID_URL', base_url)
  assert.equal((await world.operator.delete(`${path}/mpesa-ke-live`)).status, 200)
  assert.equal((await world.operator.delete(`${path}/mpesa-ke-live`)).status, 404)
  assert.equal((await world.operator.get(path)).body.data.length, 0)
  assert.ok(id)
})

test('an operator enters MTN MoMo for one country, and live payments of that country go to it', async () => {
  const { mtn_momo = {} } = simulatedAccounts(world.app)
  const path = '/v1/operator/payments/providers'
  const nowhere = { provider: 'mtn_momo', environment: 'live', ...mtn_momo }
  const account = { ...nowhere, country: 'UG' }
  for (const bad of [
    nowhere,
    { ...account, api_key: undefined },
    { ...account, country: 'KE' },
    { ...account, shortcode: '174379' },
  ])
    assert.equal((await world.operator.post(path, bad)).body.error?.code, 'VALIDATION_ERROR', JSON.stringify(bad))
  const entered = await world.operator.post(path, account)
  assert.deepEqual([entered.status, entered.body.id], [201, 'mtn_momo-ug-live'], entered.text)
  assert.equal(entered.body.target_environment, mtn_momo.target_environment)
  assert.ok(mtn_momo.api_key && !entered.text.includes(mtn_momo.api_key), 'no secret comes back')
  const { client } = await world.account()
  const { body: key } = await client.post('/v1/api-keys', { name: 'live', environment: 'live' })
  const live = world.stranger.as(key.key)
  const paid = await eventually(async () => {
    const { body } = await live.post('/v1/payments', { amount: 1_000, currency: 'UGX', phone: '+256770000001' })
    return body.status === 'processing' && body
  }, 'the provider to be asked')
  assert.equal((await settled(live, paid.payment_id)).status, 'completed')
  const elsewhere = await live.post('/v1/payments', { amount: 1_000, currency: 'RWF', phone: '+250782000001' })
  assert.equal(elsewhere.body.error?.code, 'PROVIDER_UNAVAILABLE')
  assert.equal((await world.operator.delete(`${path}/mtn_momo-ug-live`)).status, 200)
})

test('the audit log tells who moved which money, in amounts as requests have them', async () => {
  const { client } = await world.account({ balance: 100 })
  const phone = '+254700000001'
  const money = { amount: 12, currency: 'KES' }
  const asked = await client.post('/v1/payments', { ...money, phone })
  const { body: mobile } = await client.post('/v1/payments/mobile/initiate', { ...money, phone_number: phone })
  const { body: topup } = await client.post('/v1/wallet/topup', { ...money, phone })
  const { body: payout } = await client.post('/v1/payouts', { ...money, phone })
  const batch = { currency: 'KES', payouts: [{ amount: 12, phone }] }
  const { body: several } = await client.post('/v1/payments/payout/bulk', batch)
  assert.equal(asked.status, 201, asked.text)
  await settled(client, asked.body.payment_id)
  const { body: refund } = await client.post(`/v1/payments/${asked.body.payment_id}/refund`, {})
  const refused = await client.post('/v1/payments', { ...money, phone: '+254' })
  assert.equal(refused.status, 422, refused.text)

  const { body: log } = await client.get('/v1/audit-log?order=asc')
  type Entry = { action: string; target: string; request_id: string; after: { amount: string; currency: string } }
  const moved = log.data.filter(({ after }: Entry) => after?.amount)
  assert.deepEqual(
    moved.map(({ action, target, after }: Entry) => [action, target, after.amount, after.currency]),
    [
      ['payment.create', asked.body.payment_id, '12', 'KES'],
      ['payment.create', mobile.payment_id, '12', 'KES'],
      ['wallet.topup', topup.payment_id, '12', 'KES'],
      ['payout.create', payout.payout_id, '12', 'KES'],
      ['payout.create_batch', several.batch_id, '12', 'KES'],
      ['refund.create', refund.refund_id, '12', 'KES'],
    ],
  )
  assert.equal(moved[0].request_id, asked.headers['x-request-id'])
})

test('an address nobody was given is not found, whatever is sent there', async () => {
  for (const name of ['x', 'A'.repeat(68), 'A'.repeat(102), '%00', 'A'.repeat(2_000)]) {
    const answer = await world.stranger.request('POST', `/hooks/p/${name}`, {
      body: '{"Body":{"stkCallback":{"CheckoutRequestID":"x","ResultCode":0}}}',
      headers: { 'content-type': 'application/json' },
    })
    assert.equal(answer.status, 404, name)
  }
})

/** What a payment brought to the wallet, whatever its currency. */
async function walletGot(id: string): Promise<number> {
  const { rows } = await sql.query(
    `select coalesce(sum(amount), 0) / 1000000 as got from ledger.transfers where source_id = $1 and credit = 'wallet'`,
    [uuidOf('payment', id)],
  )
  return rows.reduce((total, { got }) => total + Number(got), 0)
}

async function balance(client: Client): Promise<number> {
  return (await client.get('/v1/sms/balance')).body.balance
}

/** How the steps of a test of a connection ended. */
function statusesOf({ steps }: { steps: readonly { status: string }[] }): string[] {
  return steps.map(({ status }) => status)
}
