// SPDX-License-Identifier: Apache-2.0
// What every mobile-money carrier must do, over real sockets: against its simulator, and against a provider that says
// whatever a row of the table tells it to. What callbacks may do wrong is in the journey of payments, for each of them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { kinds } from '../../src/areas/payments/carriers/kinds.ts'
import type { Collection, MobileMoney } from '../../src/areas/payments/providers/provider.ts'
import { eventually } from '../eventually.ts'
import { type Told, testAnswers, type Words } from './answers.ts'
import { connectTo, type Settings, startSimulators } from './provider.ts'

interface Facts extends Words {
  country: string
  currency: Collection['currency']
  /** Of a payer's number; the last four digits say what happens. */
  beginning: string
  /** How payers who do not pay end. */
  endings: Readonly<Record<string, string>>
}

const stk = (errorCode: string) => ({ requestId: '1', errorCode, errorMessage: 'x' })
const airtel = (response_code: string, status?: string) => ({
  ...(status ? { data: { transaction: { id: 'x', status, airtel_money_id: 'MP1' } } } : {}),
  status: { response_code, success: status !== undefined },
})

const facts: Readonly<Record<string, Facts>> = {
  mpesa: {
    country: 'KE',
    currency: 'KES',
    beginning: '+25470000',
    endings: {
      '0002': 'INSUFFICIENT_FUNDS',
      '0004': 'USER_CANCELLED',
      '0005': 'WRONG_PIN',
      '0006': 'PAYER_LIMIT_REACHED',
      '0007': 'PAYER_UNREACHABLE',
    },
    accepts: [200, { CheckoutRequestID: 'ws_CO_1', ResponseCode: '0' }],
    forgets: [404, stk('404.001.03')],
    says: [
      [[400, stk('400.002.02')], { kind: 'refused', reason: 'PROVIDER_ERROR', code: '400.002.02' }],
      [[500, stk('500.003.02')], { kind: 'unavailable' }],
      [[503, stk('500.003.03')], { kind: 'unavailable' }],
      [[429, { fault: { faultstring: 'Spike arrest violation' } }], { kind: 'unavailable' }],
      [[500, stk('500.001.1001')], { kind: 'refused', reason: 'PROVIDER_ERROR' }],
      [
        [500, { errorCode: '500.001.1001', errorMessage: 'Unable to lock subscriber, a transaction is in process' }],
        { kind: 'refused', reason: 'TRANSACTION_IN_PROGRESS' },
      ],
      [[500, stk('500.002.1001')], { kind: 'unknown' }],
      [[200, { ResponseCode: '0' }], { kind: 'unknown' }],
    ],
    queries: [
      [[500, stk('500.001.1001')], { kind: 'pending' }],
      [[200, { ResultCode: '4999' }], { kind: 'pending' }],
      ...(
        [
          ['1', 'INSUFFICIENT_FUNDS'],
          ['17', 'TRANSACTION_IN_PROGRESS'],
          ['1001', 'TRANSACTION_IN_PROGRESS'],
          ['1019', 'TRANSACTION_TIMEOUT'],
          ['1032', 'USER_CANCELLED'],
          ['1037', 'PAYER_UNREACHABLE'],
          ['2001', 'WRONG_PIN'],
          ['8006', 'WRONG_PIN'],
          ['9999', 'PROVIDER_ERROR'],
        ] as const
      ).map(([code, reason]): Told => [[200, { ResultCode: code }], { kind: 'refused', reason, code }]),
      [[200, { ResultCode: 0 }], { kind: 'paid' }],
    ],
  },
  mtn_momo: {
    country: 'UG',
    currency: 'UGX',
    beginning: '+25677000',
    endings: {
      '0002': 'INSUFFICIENT_FUNDS',
      '0004': 'USER_CANCELLED',
      '0005': 'USER_CANCELLED',
      '0006': 'PAYER_LIMIT_REACHED',
      '0007': 'TRANSACTION_TIMEOUT',
    },
    accepts: [202],
    forgets: [401, { error: 'invalid_token' }],
    says: [
      [[409, { code: 'RESOURCE_ALREADY_EXIST' }], { kind: 'accepted' }],
      [[400, { code: 'PAYER_NOT_FOUND' }], { kind: 'refused', reason: 'PAYER_NOT_FOUND' }],
      [[400], { kind: 'refused', reason: 'PROVIDER_ERROR', code: '400' }],
      [[503, { code: 'SERVICE_UNAVAILABLE' }], { kind: 'unavailable' }],
      [[429], { kind: 'unavailable' }],
      [[500, { code: 'INTERNAL_PROCESSING_ERROR' }], { kind: 'unknown' }],
    ],
    queries: [
      [[404, { code: 'RESOURCE_NOT_FOUND' }], { kind: 'missing' }],
      [[200, { status: 'PENDING' }], { kind: 'pending' }],
      [[200, { status: 'SUCCESSFUL', amount: '5', financialTransactionId: '9' }], { kind: 'paid', receipt: '9' }],
      ...(
        [
          ['NOT_ENOUGH_FUNDS', 'INSUFFICIENT_FUNDS'],
          ['LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED', 'INSUFFICIENT_FUNDS'],
          ['APPROVAL_REJECTED', 'USER_CANCELLED'],
          ['PAYER_NOT_FOUND', 'PAYER_NOT_FOUND'],
          ['PAYER_LIMIT_REACHED', 'PAYER_LIMIT_REACHED'],
          ['EXPIRED', 'TRANSACTION_TIMEOUT'],
          ['COULD_NOT_PERFORM_TRANSACTION', 'TRANSACTION_TIMEOUT'],
          ['SERVICE_UNAVAILABLE', 'PROVIDER_UNAVAILABLE'],
          ['INTERNAL_PROCESSING_ERROR', 'PROVIDER_ERROR'],
        ] as const
      ).map(([code, reason]): Told => [[200, { status: 'FAILED', reason: code }], { kind: 'refused', reason, code }]),
    ],
  },
  airtel_money: {
    country: 'UG',
    currency: 'UGX',
    beginning: '+25675200',
    endings: {
      '0002': 'INSUFFICIENT_FUNDS',
      '0004': 'USER_CANCELLED',
      '0005': 'WRONG_PIN',
      '0006': 'PAYER_LIMIT_REACHED',
      '0007': 'TRANSACTION_TIMEOUT',
    },
    accepts: [200, airtel('DP00800001006', 'SUCCESS')],
    forgets: [401, { error: 'invalid_token' }],
    says: [
      [[400, airtel('DP00800001004')], { kind: 'refused', reason: 'PAYER_LIMIT_REACHED' }],
      [[200, airtel('DP00800001010')], { kind: 'refused', reason: 'PROVIDER_ERROR' }],
      [[200, airtel('DP00800001000')], { kind: 'unknown' }],
      [[500, airtel('DP00800001005')], { kind: 'unknown' }],
      [[429], { kind: 'unavailable' }],
    ],
    queries: [
      [[404, airtel('DP00800001025')], { kind: 'missing' }],
      [[200, airtel('DP00800001006', 'TIP')], { kind: 'pending' }],
      [[200, airtel('DP00800001000', 'TA')], { kind: 'pending' }],
      [[200, airtel('DP00800001001', 'TS')], { kind: 'paid', receipt: 'MP1' }],
      [[200, airtel('DP00800001029', 'TE')], { kind: 'refused', reason: 'TRANSACTION_TIMEOUT' }],
      ...(
        [
          ['002', 'WRONG_PIN'],
          ['003', 'PAYER_LIMIT_REACHED'],
          ['005', 'TRANSACTION_TIMEOUT'],
          ['007', 'INSUFFICIENT_FUNDS'],
          ['008', 'USER_CANCELLED'],
          ['009', 'PROVIDER_ERROR'],
          ['024', 'TRANSACTION_TIMEOUT'],
        ] as const
      ).map(([code, reason]): Told => [[200, airtel(`DP00800001${code}`, 'TF')], { kind: 'refused', reason }]),
    ],
  },
}

const mobileKinds = kinds.filter(({ method }) => method === 'mobile_money')
const simulated = await startSimulators()

test('every kind of provider is in this suite', () => {
  assert.deepEqual(mobileKinds.map(({ provider }) => provider).sort(), Object.keys(facts).sort())
})

for (const kind of mobileKinds) {
  const { provider } = kind
  const known = facts[provider]
  assert.ok(known, provider)
  const market = { country: known.country, currency: known.currency }

  const connect = (settings: Settings, patienceMs?: number): MobileMoney => {
    const carrier = connectTo(kind, settings, patienceMs)
    assert.ok(carrier.method === 'mobile_money')
    return carrier
  }

  const collection = (ending: string): Collection => ({
    ...market,
    attempt: randomUUID(),
    micros: 1_000_000_000n,
    phone: `${known.beginning}${ending}`,
    reference: 'order-77',
    description: 'Order 77',
    callbackUrl: 'https://127.0.0.1:9/hooks/p/AAAA',
  })

  const decided = (carrier: MobileMoney, providerId: string) =>
    eventually(async () => {
      const verdict = await carrier.query(providerId, market)
      return (verdict.kind === 'paid' || verdict.kind === 'refused') && verdict
    }, 'the payer to decide')

  test(`${provider}: a payer who is asked has paid, or has not for a reason that is told`, async () => {
    const carrier = connect(simulated[provider] ?? {})
    const idOf = async (ending: string): Promise<string> => {
      const verdict = await carrier.collect(collection(ending))
      assert.equal(verdict.kind, 'accepted', ending)
      return verdict.kind === 'accepted' ? verdict.providerId : ''
    }
    assert.equal((await carrier.query(await idOf('0003'), market)).kind, 'pending')
    assert.equal((await decided(carrier, await idOf('0001'))).kind, 'paid')
    for (const [ending, reason] of Object.entries(known.endings)) {
      const verdict = await decided(carrier, await idOf(ending))
      assert.equal(verdict.kind === 'refused' && verdict.reason, reason, ending)
    }
    assert.equal((await carrier.collect(collection('0012'))).kind, 'unavailable')
  })

  test(`${provider}: whoever is cut off after the payer was asked does not know, and may ask`, async () => {
    const carrier = connect(simulated[provider] ?? {})
    const cut = collection('0011')
    assert.equal((await carrier.collect(cut)).kind, 'unknown')
    if (carrier.knownByAttempt) assert.equal((await decided(carrier, cut.attempt)).kind, 'paid')
    const never = await carrier.query(randomUUID(), market)
    assert.equal(never.kind, carrier.knownByAttempt ? 'missing' : 'unknown')
    if (!carrier.repeatable) return
    assert.deepEqual(await carrier.collect(cut), { kind: 'accepted', providerId: cut.attempt }, 'sent again')
    const lost = collection('0016')
    assert.equal((await carrier.collect(lost)).kind, 'unknown')
    assert.equal((await carrier.query(lost.attempt, market)).kind, 'missing')
    assert.equal((await carrier.collect(lost)).kind, 'accepted')
    assert.equal((await decided(carrier, lost.attempt)).kind, 'paid')
  })

  testAnswers(provider, known, {
    connect: (base_url, patienceMs) => connect({ ...simulated[provider], base_url }, patienceMs),
    request: (carrier) => carrier.collect(collection('0001')),
    query: (carrier) => carrier.query('x', market),
  })

  test(`${provider}: wrong credentials ask nobody`, async () => {
    const secrets = Object.fromEntries(Object.keys(kind.secret).map((name) => [name, 'wrong']))
    const stranger = connect({ ...simulated[provider], ...secrets })
    assert.equal((await stranger.collect(collection('0001'))).kind, 'unavailable')
  })

  test(`${provider}: what is no callback of its is none`, () => {
    const carrier = connect(simulated[provider] ?? {})
    for (const nonsense of [null, 1, 'x', [], {}, { Body: 1 }, { status: 'PAID' }, { transaction: {} }])
      assert.equal(carrier.readCallback(nonsense), null, JSON.stringify(nonsense))
  })
}
