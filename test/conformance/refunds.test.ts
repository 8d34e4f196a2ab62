// SPDX-License-Identifier: Apache-2.0
// What every carrier that gives money back must make of what its provider says: over real sockets, against a provider that
// says whatever a row of the table tells it to.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { kinds as allKinds } from '../../src/areas/payments/carriers/kinds.ts'
import type { RefundOrder } from '../../src/areas/payments/providers/provider.ts'
import { type Answer, connectTo, matches, startScripted, startSimulators, strange } from './provider.ts'

type Expected = Partial<Record<'kind' | 'reason' | 'code' | 'receipt' | 'providerId', string | null>>

interface Facts {
  accepts: readonly [Answer, Expected]
  /** Says that the token is not good. */
  forgets: Answer
  refunds: readonly (readonly [Answer, Expected])[]
  /** What it says when it is asked; none where it cannot be. */
  queries: readonly (readonly [Answer, Expected])[]
  /** What it says when it calls. */
  results: readonly (readonly [body: object, id: string | null, Expected])[]
  /** Whether it gives back a part, and a payment whose receipt it never told. */
  takesParts: boolean
  needsReceipt: boolean
}

const daraja = (errorCode: string) => ({ requestId: '1', errorCode, errorMessage: 'x' })
const airtel = (response_code: string, status?: string) => ({
  ...(status ? { data: { transaction: { airtel_money_id: 'MP1', status } } } : {}),
  status: { response_code, success: status !== undefined },
})
const taken = { OriginatorConversationID: '1-2-1', ConversationID: 'AG_1', ResponseCode: '0' }
const result = (ResultCode: string | number, amount?: string) => ({
  Result: {
    ResultCode,
    OriginatorConversationID: '1-2-1',
    ConversationID: 'AG_1',
    TransactionID: 'RX1',
    ...(amount ? { ResultParameters: { ResultParameter: [{ Key: 'Amount', Value: amount }] } } : {}),
  },
})

const facts: Readonly<Record<string, Facts>> = {
  mpesa: {
    accepts: [[200, taken], { kind: 'accepted', providerId: '1-2-1' }],
    forgets: [404, daraja('404.001.03')],
    refunds: [
      [[200, { ConversationID: 'AG_1', ResponseCode: '0' }], { kind: 'pending' }],
      [[400, daraja('400.002.02')], { kind: 'refused', reason: 'PROVIDER_ERROR', code: '400.002.02' }],
      [[503, daraja('500.003.02')], { kind: 'unavailable' }],
      [[500, daraja('500.001.1001')], { kind: 'unknown' }],
    ],
    queries: [
      [[200, taken], { kind: 'asked' }],
      [[400, daraja('400.002.02')], { kind: 'unknown' }],
    ],
    results: [
      [result(0, '1000.00'), '1-2-1', { kind: 'paid', receipt: 'RX1' }],
      [result('0'), '1-2-1', { kind: 'paid', receipt: 'RX1' }],
      [result('R000001'), '1-2-1', { kind: 'paid', receipt: null }],
      [result('R000002'), '1-2-1', { kind: 'refused', reason: 'PROVIDER_ERROR', code: 'R000002' }],
      [result(1), '1-2-1', { kind: 'refused', reason: 'PROVIDER_FLOAT_LOW', code: '1' }],
      [result(11), '1-2-1', { kind: 'refused', reason: 'PROVIDER_ERROR', code: '11' }],
      [result(21), '1-2-1', { kind: 'refused', reason: 'PROVIDER_ERROR', code: '21' }],
      [result(2001), '1-2-1', { kind: 'refused', reason: 'PROVIDER_ERROR', code: '2001' }],
    ],
    takesParts: false,
    needsReceipt: true,
  },
  mtn_momo: {
    accepts: [[202], { kind: 'accepted' }],
    forgets: [401, { error: 'invalid_token' }],
    refunds: [
      [[409, { code: 'RESOURCE_ALREADY_EXIST' }], { kind: 'accepted' }],
      [[404, { code: 'RESOURCE_NOT_FOUND' }], { kind: 'refused', reason: 'PROVIDER_ERROR' }],
      [[400, { code: 'PAYEE_NOT_FOUND' }], { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND' }],
      [[503, { code: 'SERVICE_UNAVAILABLE' }], { kind: 'unavailable' }],
      [[429], { kind: 'unavailable' }],
      [[500, { code: 'INTERNAL_PROCESSING_ERROR' }], { kind: 'unknown' }],
    ],
    queries: [
      [[404, { code: 'RESOURCE_NOT_FOUND' }], { kind: 'missing' }],
      [[200, { status: 'PENDING' }], { kind: 'pending' }],
      [[200, { status: 'SUCCESSFUL', amount: '5', financialTransactionId: '9' }], { kind: 'paid', receipt: '9' }],
      [[200, { status: 'FAILED', reason: 'NOT_ENOUGH_FUNDS' }], { kind: 'refused', reason: 'PROVIDER_FLOAT_LOW' }],
      [
        [200, { status: 'FAILED', reason: { code: 'PAYEE_NOT_FOUND' } }],
        { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND' },
      ],
      [
        [200, { status: 'FAILED', reason: 'PAYEE_LIMIT_REACHED' }],
        { kind: 'refused', reason: 'RECIPIENT_LIMIT_REACHED' },
      ],
      [
        [200, { status: 'FAILED', reason: 'PAYEE_NOT_ALLOWED_TO_RECEIVE' }],
        { kind: 'refused', reason: 'RECIPIENT_LIMIT_REACHED' },
      ],
      [[200, { status: 'FAILED', reason: 'NOT_ALLOWED' }], { kind: 'refused', reason: 'PROVIDER_ERROR' }],
    ],
    results: [
      [{ externalId: 'x', status: 'SUCCESSFUL', amount: '5', financialTransactionId: '9' }, 'x', { kind: 'paid' }],
      [{ externalId: 'x', status: 'FAILED' }, 'x', { kind: 'refused' }],
    ],
    takesParts: true,
    needsReceipt: false,
  },
  airtel_money: {
    accepts: [[200, airtel('DP00800001001', 'SUCCESS')], { kind: 'paid', receipt: 'MP1' }],
    forgets: [401, { error: 'invalid_token' }],
    refunds: [
      [[400, airtel('DP00800001007')], { kind: 'refused', reason: 'PROVIDER_FLOAT_LOW' }],
      [[400, airtel('DP00800001010')], { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND' }],
      [[400, airtel('DP00800001003')], { kind: 'refused', reason: 'RECIPIENT_LIMIT_REACHED' }],
      [[404, airtel('DP00800001025')], { kind: 'refused', reason: 'PROVIDER_ERROR' }],
      [[200, airtel('DP00800001000')], { kind: 'unknown' }],
      [[200, airtel('DP00800001006', 'TIP')], { kind: 'unknown' }],
      [[500, airtel('DP00800001005')], { kind: 'unknown' }],
      [[429], { kind: 'unavailable' }],
    ],
    queries: [],
    results: [],
    takesParts: false,
    needsReceipt: true,
  },
}

const simulated = await startSimulators()

/** Cards and banks have words of their own. */
const kinds = allKinds.filter(({ method }) => method === 'mobile_money')

test('every kind of provider is in this suite', () => {
  assert.deepEqual(kinds.map(({ provider }) => provider).sort(), Object.keys(facts).sort())
})

for (const kind of kinds) {
  const { provider } = kind
  const known = facts[provider]
  assert.ok(known, provider)

  const order = (): RefundOrder => ({
    country: 'KE',
    currency: 'KES',
    id: randomUUID(),
    micros: 1_000_000_000n,
    payment: { micros: 1_000_000_000n, providerId: randomUUID(), receipt: 'S1' },
    phone: '+254700000001',
    providerId: '1-2-1',
    reference: 'refund-1',
    description: 'Sold out',
    addresses: { result: 'https://127.0.0.1:9/r', timeout: 'https://127.0.0.1:9/t', answer: 'https://127.0.0.1:9/a' },
  })

  const scripted = async (answers: readonly Answer[]) => {
    const { baseUrl, asked, close } = await startScripted(answers)
    const { refunds } = connectTo(kind, { ...simulated[provider], base_url: baseUrl })
    return { refunds, asked, close }
  }

  test(`${provider}: what it says to a refund`, async () => {
    const rows = [known.accepts, ...known.refunds, ...strange.map((answer) => [answer, { kind: 'unknown' }] as const)]
    const { refunds, asked } = await scripted(rows.map(([answer]) => answer))
    for (const [answer, expected] of rows) matches(await refunds.refund(order()), expected, answer)
    assert.equal(asked.requests, rows.length, 'nothing is sent twice by itself')
    assert.equal((await refunds.refund(order())).kind, 'unknown', 'a connection that is cut')
  })

  test(`${provider}: what it says when it is asked, and when it calls`, async () => {
    const { refunds } = await scripted(known.queries.map(([answer]) => answer))
    for (const [answer, expected] of known.queries) matches(await refunds.queryRefund(order()), expected, answer)
    assert.equal((await refunds.queryRefund(order())).kind, 'unknown', 'a connection that is cut')
    for (const [body, id, expected] of known.results) {
      const heard = refunds.readRefund('result', body)
      assert.equal(heard?.id, id)
      if (heard) matches(heard.verdict, expected, body)
    }
    for (const nonsense of [null, 1, 'x', [], {}, { Result: 1 }, { status: 'PAID' }, { transaction: {} }])
      for (const topic of ['result', 'answer'] as const)
        assert.equal(refunds.readRefund(topic, nonsense), null, JSON.stringify(nonsense))
  })

  test(`${provider}: what it gives back`, async () => {
    const { refunds } = await scripted([])
    const objects = (change: Partial<RefundOrder>) => refunds.objection({ ...order(), ...change }) !== null
    const { payment } = order()
    assert.equal(objects({}), false)
    assert.equal(objects({ micros: 1n }), !known.takesParts)
    assert.equal(objects({ payment: { ...payment, receipt: null } }), known.needsReceipt)
  })

  test(`${provider}: a token that is no longer good is replaced once, and nobody who is not there was asked`, async () => {
    const [accepts, expected] = known.accepts
    const renewed = await scripted([known.forgets, accepts])
    matches(await renewed.refunds.refund(order()), expected, accepts)
    assert.deepEqual(renewed.asked, { tokens: 2, requests: 2 })
    const refused = await scripted([known.forgets, known.forgets])
    assert.equal((await refused.refunds.refund(order())).kind, 'unavailable')
    const gone = await scripted([])
    gone.close()
    assert.equal((await gone.refunds.refund(order())).kind, 'unavailable')
  })
}

test('a reversal whose id got lost with the answer is asked for again', async () => {
  const kind = kinds.find(({ provider }) => provider === 'mpesa')
  const mpesa = kind && connectTo(kind, simulated.mpesa ?? {}).refunds
  const lost = { providerId: null, addresses: { result: '', timeout: '', answer: '' } }
  assert.equal(mpesa?.repeatable, true)
  assert.deepEqual(
    await mpesa.queryRefund({
      ...lost,
      country: 'KE',
      currency: 'KES',
      id: randomUUID(),
      micros: 1n,
      payment: { micros: 1n, providerId: null, receipt: 'S1' },
      phone: null,
      reference: '',
      description: '',
    }),
    { kind: 'missing' },
  )
})
