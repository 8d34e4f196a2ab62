// SPDX-License-Identifier: Apache-2.0
// What every carrier that pays must do, over real sockets: against its simulator, and against a provider that says whatever a
// row of the table tells it to. What calls may do wrong is in the journey of payouts, for each of them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { kinds } from '../../src/areas/payments/carriers/kinds.ts'
import type { Disbursement, Outgoing } from '../../src/areas/payments/providers/provider.ts'
import { eventually } from '../eventually.ts'
import { type Expected, type Told, testAnswers, type Words } from './answers.ts'
import { connectTo, matches, type Settings, startSimulators } from './provider.ts'

interface Facts extends Words {
  country: string
  currency: Disbursement['currency']
  /** Of a payee's number; the last four digits say what happens. */
  beginning: string
  /** Where the answer comes as a call: what that says. */
  answers: readonly (readonly [body: object, expected: Expected])[]
  results: readonly (readonly [body: object, expected: Expected])[]
}

const refusal = (errorCode: string) => ({ requestId: '1', errorCode, errorMessage: 'x' })
const result = (ResultCode: number | string, parameters: Record<string, string | number> = {}) => ({
  Result: {
    ResultCode,
    OriginatorConversationID: 'ours',
    ConversationID: 'AG_1',
    TransactionID: 'NLJ41HAY6Q',
    ResultParameters: { ResultParameter: Object.entries(parameters).map(([Key, Value]) => ({ Key, Value })) },
  },
})
const status = (TransactionStatus: string) =>
  result(0, { TransactionStatus, OriginatorConversationID: 'asked-about', ReceiptNo: 'NLJ41HAY6Q', Amount: 10 })
const airtel = (response_code: string, state?: string) => ({
  ...(state ? { data: { transaction: { id: 'x', status: state, airtel_money_id: 'CI1' } } } : {}),
  status: { response_code, success: state !== undefined },
})

const facts: Readonly<Record<string, Facts>> = {
  mpesa: {
    country: 'KE',
    currency: 'KES',
    beginning: '+25470000',
    accepts: [200, { ConversationID: 'AG_1', OriginatorConversationID: 'x', ResponseCode: '0' }],
    forgets: [404, refusal('404.001.03')],
    says: [
      [[400, refusal('400.002.02')], { kind: 'refused', reason: 'PROVIDER_ERROR', code: '400.002.02' }],
      [[200, { ResponseCode: '2001' }], { kind: 'refused', code: '2001' }],
      [[500, refusal('500.002.1001')], { kind: 'unknown' }],
      [[503, refusal('500.003.02')], { kind: 'unavailable' }],
      [[503, refusal('500.003.03')], { kind: 'unavailable' }],
      [[429, { fault: { faultstring: 'Spike arrest violation' } }], { kind: 'unavailable' }],
    ],
    queries: [
      [[200, { ConversationID: 'AG_1', ResponseCode: '0' }], { kind: 'asked' }],
      [[400, refusal('400.002.02')], { kind: 'unknown' }],
    ],
    answers: [
      [status('Completed'), { kind: 'paid', receipt: 'NLJ41HAY6Q' }],
      [status('Reversed'), { kind: 'reversed' }],
      [status('Pending'), { kind: 'pending' }],
      [status('Authorized'), { kind: 'pending' }],
      ...['Failed', 'Declined', 'Cancelled', 'Expired'].map((word) => [status(word), { kind: 'refused' }] as const),
      [result('R000002'), { kind: 'missing' }],
      [result(0), { kind: 'unknown' }],
      [result(2001), { kind: 'unknown' }],
    ],
    results: [
      [result(0, { TransactionAmount: 10 }), { kind: 'paid', receipt: 'NLJ41HAY6Q' }],
      [result('1'), { kind: 'refused', reason: 'PROVIDER_FLOAT_LOW' }],
      [result(4), { kind: 'refused', reason: 'RECIPIENT_LIMIT_REACHED' }],
      [result(8), { kind: 'refused', reason: 'RECIPIENT_LIMIT_REACHED' }],
      [result(2040), { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND' }],
      [result('SFC_IC0003'), { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND' }],
      [result(9999), { kind: 'refused', reason: 'PROVIDER_ERROR', code: '9999' }],
      [result(15), { kind: 'unknown' }],
    ],
  },
  mtn_momo: {
    country: 'UG',
    currency: 'UGX',
    beginning: '+25677000',
    accepts: [202],
    forgets: [401, { error: 'invalid_token' }],
    says: [
      [[409, { code: 'RESOURCE_ALREADY_EXIST' }], { kind: 'accepted' }],
      [[400, { code: 'PAYEE_NOT_FOUND' }], { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND' }],
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
          ['NOT_ENOUGH_FUNDS', 'PROVIDER_FLOAT_LOW'],
          ['PAYEE_NOT_FOUND', 'RECIPIENT_NOT_FOUND'],
          ['PAYEE_NOT_ALLOWED_TO_RECEIVE', 'RECIPIENT_LIMIT_REACHED'],
          ['INTERNAL_PROCESSING_ERROR', 'PROVIDER_ERROR'],
        ] as const
      ).map(([code, reason]): Told => [[200, { status: 'FAILED', reason: code }], { kind: 'refused', reason, code }]),
    ],
    answers: [],
    results: [[{ status: 'SUCCESSFUL', externalId: 'ours', amount: '5' }, { kind: 'paid' }]],
  },
  airtel_money: {
    country: 'UG',
    currency: 'UGX',
    beginning: '+25675200',
    accepts: [200, airtel('DP00900001006', 'TIP')],
    forgets: [401, { error: 'invalid_token' }],
    says: [
      [[200, airtel('DP00900001001', 'TS')], { kind: 'accepted' }],
      [[400, airtel('DP00900001012')], { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND' }],
      [[200, airtel('DP00900001000')], { kind: 'unknown' }],
      [[500, airtel('DP00900001007')], { kind: 'unknown' }],
      [[429], { kind: 'unavailable' }],
    ],
    queries: [
      [[404, airtel('DP00900001015')], { kind: 'missing' }],
      [[200, airtel('DP00900001006', 'TIP')], { kind: 'pending' }],
      [[200, airtel('DP00900001000', 'TA')], { kind: 'pending' }],
      [[200, airtel('DP00900001001', 'TS')], { kind: 'paid', receipt: 'CI1' }],
      [[200, airtel('DP00900001007', 'TF')], { kind: 'refused', reason: 'PROVIDER_FLOAT_LOW' }],
      [[200, airtel('DP00900001003', 'TF')], { kind: 'refused', reason: 'RECIPIENT_LIMIT_REACHED' }],
      [[200, airtel('DP00900001014', 'TF')], { kind: 'refused', reason: 'PROVIDER_ERROR' }],
    ],
    answers: [],
    results: [],
  },
}

const simulated = await startSimulators()

/** Those that can pay at all. */
const paying = kinds.filter(({ outgoing }) => Object.keys(outgoing.secret).length > 0)

test('every kind of provider is in this suite', () => {
  assert.deepEqual(paying.map(({ provider }) => provider).sort(), Object.keys(facts).sort())
})

for (const kind of paying) {
  const { provider } = kind
  const known = facts[provider]
  assert.ok(known, provider)

  const connect = (settings: Settings, patienceMs?: number): Outgoing => {
    const carrier = connectTo(kind, settings, patienceMs)
    assert.ok(carrier.method === 'mobile_money' && carrier.outgoing, `${provider} pays`)
    return carrier.outgoing
  }

  const payout = (ending: string): Disbursement => ({
    country: known.country,
    currency: known.currency,
    id: randomUUID(),
    micros: 1_000_000_000n,
    phone: `${known.beginning}${ending}`,
    description: 'Salary, May',
    addresses: {
      result: 'https://127.0.0.1:9/hooks/p/00',
      timeout: 'https://127.0.0.1:9/hooks/p/01',
      answer: 'https://127.0.0.1:9/hooks/p/02',
    },
  })

  test(`${provider}: a payout is accepted, refused or unavailable, and its id is taken once`, async () => {
    const outgoing = connect(simulated[provider] ?? {})
    const first = payout('0001')
    assert.deepEqual(await outgoing.payOut(first), { kind: 'accepted', providerId: first.id })
    const again = await outgoing.payOut(first)
    assert.notEqual(again.kind, 'unavailable', 'an id that came before is not one that was not taken')
    if (outgoing.repeatable) assert.notEqual(again.kind, 'refused', 'nor one that was refused')
    assert.equal((await outgoing.payOut(payout('0012'))).kind, 'unavailable')
    assert.equal((await outgoing.payOut(payout('0011'))).kind, 'unknown', 'cut after it was accepted')
    assert.equal((await outgoing.payOut(payout('0016'))).kind, 'unknown', 'cut before it was')
  })

  if (provider !== 'mpesa')
    test(`${provider}: whoever is cut off may ask, also about what never arrived`, async () => {
      const outgoing = connect(simulated[provider] ?? {})
      const cut = payout('0011')
      assert.equal((await outgoing.payOut(cut)).kind, 'unknown')
      await eventually(async () => (await outgoing.queryPayout(cut)).kind === 'paid', 'it to be paid')
      assert.equal((await outgoing.queryPayout(payout('0001'))).kind, 'missing')
      for (const [ending, reason] of [
        ['0002', 'PROVIDER_FLOAT_LOW'],
        ['0004', 'RECIPIENT_NOT_FOUND'],
        ['0005', 'RECIPIENT_LIMIT_REACHED'],
      ] as const) {
        const unpaid = payout(ending)
        assert.equal((await outgoing.payOut(unpaid)).kind, 'accepted')
        const verdict = await eventually(async () => {
          const told = await outgoing.queryPayout(unpaid)
          return told.kind === 'refused' && told
        }, 'it to be refused')
        assert.equal(verdict.reason, reason)
      }
    })

  testAnswers(provider, known, {
    connect: (base_url, patienceMs) => connect({ ...simulated[provider], base_url }, patienceMs),
    request: (outgoing) => outgoing.payOut(payout('0001')),
    query: (outgoing) => outgoing.queryPayout(payout('0001')),
  })

  test(`${provider}: a wrong secret pays nobody`, async () => {
    for (const name of Object.keys(kind.outgoing.secret)) {
      const stranger = connect({ ...simulated[provider], [name]: 'wrong' })
      assert.ok(['refused', 'unavailable'].includes((await stranger.payOut(payout('0001'))).kind), name)
    }
  })

  test(`${provider}: whoever has not entered what it takes to pay cannot`, () => {
    const toPay = Object.keys({ ...kind.outgoing.open, ...kind.outgoing.secret })
    const left = Object.entries(simulated[provider] ?? {}).filter(([name]) => !toPay.includes(name))
    assert.equal(connectTo(kind, Object.fromEntries(left)).outgoing, null)
  })

  test(`${provider}: what its calls say, and what is none of its`, () => {
    const outgoing = connect(simulated[provider] ?? {})
    for (const [body, expected] of known.results) {
      const heard = outgoing.readPayout('result', body)
      assert.equal(heard?.id, 'ours')
      if (heard) matches(heard.verdict, expected, [200, body])
    }
    for (const [body, expected] of known.answers) {
      const heard = outgoing.readPayout('answer', body)
      assert.ok(heard)
      assert.notEqual(heard.id, 'ours', 'that is the id of the question')
      matches(heard.verdict, expected, [200, body])
    }
    for (const nonsense of [null, 1, 'x', [], {}, { Result: 1 }, { Result: { ResultCode: 0 } }, { status: 'PAID' }])
      for (const topic of ['result', 'answer'] as const)
        assert.equal(outgoing.readPayout(topic, nonsense), null, JSON.stringify(nonsense))
    const timeout = outgoing.readPayout('timeout', result(1))
    assert.ok(timeout === null || timeout.verdict.kind === 'unknown', 'a time-out tells nothing of the money')
  })
}
