// SPDX-License-Identifier: Apache-2.0
// What every carrier that pays must do, over real sockets: against its simulator, and against a provider that says whatever a
// row of the table tells it to. What calls may do wrong is in the journey of payouts, for each of them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { kinds } from '../../src/areas/payments/carriers/kinds.ts'
import type { Disbursement, Outgoing } from '../../src/areas/payments/providers/provider.ts'
import { eventually } from '../eventually.ts'
import { testAnswers } from './answers.ts'
import { rowsOf } from './every-provider.ts'
import { connectTo, matches, type Settings, startSimulators } from './provider.ts'

const simulated = await startSimulators()

/** Kinds that can pay at all. */
const paying = kinds.filter(({ outgoing }) => Object.keys(outgoing.secret).length > 0)

test('every kind of provider is in this suite', () => {
  const said = Object.keys(rowsOf).filter((provider) => rowsOf[provider]?.payouts !== 'none')
  assert.deepEqual(paying.map(({ facts }) => facts.provider).sort(), said.sort())
})

for (const kind of paying) {
  const { provider } = kind.facts
  const known = rowsOf[provider]?.payouts
  // The first test names who is missing.
  if (known === undefined || known === 'none') continue

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
    const timeout = outgoing.readPayout('timeout', { Result: { ResultCode: 1, ConversationID: 'AG_1' } })
    assert.ok(timeout === null || timeout.verdict.kind === 'unknown', 'a time-out tells nothing of the money')
  })
}
