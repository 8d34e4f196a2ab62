// SPDX-License-Identifier: Apache-2.0
// What every carrier that gives money back must make of what its provider says: over real sockets, against a provider that
// says whatever a row of the table tells it to.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { kinds as allKinds } from '../../src/areas/payments/carriers/kinds.ts'
import type { RefundOrder } from '../../src/areas/payments/providers/provider.ts'
import { rowsOf } from './every-provider.ts'
import { type Answer, connectTo, matches, startScripted, startSimulators, strange } from './provider.ts'

const simulated = await startSimulators()

/** Cards and banks have words of their own. */
const kinds = allKinds.filter(({ method }) => method === 'mobile_money')

test('every kind of provider is in this suite', () => {
  assert.deepEqual(kinds.map(({ facts }) => facts.provider).sort(), Object.keys(rowsOf).sort())
})

for (const kind of kinds) {
  const { provider } = kind.facts
  const known = rowsOf[provider]?.refunds
  // The first test names who is missing.
  if (known === undefined) continue

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

  if (known === 'none') {
    test(`${provider}: gives nothing back, says why, and is not asked`, async () => {
      const { refunds, asked } = await scripted([])
      for (const change of [{}, { micros: 1n }]) assert.ok(refunds.objection({ ...order(), ...change }))
      assert.equal((await refunds.refund(order())).kind, 'unavailable')
      assert.equal((await refunds.queryRefund(order())).kind, 'unknown')
      assert.equal(refunds.readRefund('result', { status: 'SUCCESS' }), null)
      assert.deepEqual(asked, { tokens: 0, requests: 0 })
    })
    continue
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
    if (known.forgets) {
      const renewed = await scripted([known.forgets, accepts])
      matches(await renewed.refunds.refund(order()), expected, accepts)
      assert.deepEqual(renewed.asked, { tokens: 2, requests: 2 })
      const refused = await scripted([known.forgets, known.forgets])
      assert.equal((await refused.refunds.refund(order())).kind, 'unavailable')
    }
    const gone = await scripted([])
    gone.close()
    assert.equal((await gone.refunds.refund(order())).kind, 'unavailable')
  })
}

test('a reversal whose id got lost with the answer is asked for again', async () => {
  const kind = kinds.find(({ facts }) => facts.provider === 'mpesa')
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
