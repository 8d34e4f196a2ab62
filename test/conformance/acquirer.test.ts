// SPDX-License-Identifier: Apache-2.0
// What a carrier of card acquirers must do, over real sockets: against the simulator, whose books say what was charged, and
// against an acquirer that says whatever a row of the table tells it to.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { acquirer as kind } from '../../src/areas/payments/carriers/acquirer.ts'
import type { Acquirer, Authorisation } from '../../src/areas/payments/providers/acquirer.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { disputeHelperPath, signNotice } from '../../src/protocols/acquirer.ts'
import { eventually } from '../eventually.ts'
import { runs } from '../properties.ts'
import { type Answer, connectTo, matches, type Settings, startScripted, startSimulators } from './provider.ts'

const { acquirer: settings = {} } = await startSimulators()
const carrier = connect(settings)

test('what a card does is told, and asked again it is the same', async () => {
  const rows: [number: string, expected: object][] = [
    ['4242424242424242', { kind: 'paid', micros: 1_000_000_000n }],
    ['4000000000000002', { kind: 'refused', reason: 'CARD_DECLINED' }],
    ['4000000000009995', { kind: 'refused', reason: 'INSUFFICIENT_FUNDS' }],
    ['4000000000000069', { kind: 'refused', reason: 'CARD_EXPIRED' }],
    ['4000000000000127', { kind: 'refused', reason: 'INCORRECT_CVV' }],
    ['4000000000003220', { kind: 'challenge' }],
    ['4000000000000119', { kind: 'paid', micros: 1_000_000_000n }],
  ]
  for (const [number, expected] of rows) {
    const asked = authorisation({ number })
    matches(await carrier.authorise(asked), expected, number)
    matches(await carrier.query(asked.attempt, 'KES'), expected, `${number}, asked again`)
    matches(await carrier.authorise(asked), expected, `${number}, sent again`)
  }
  matches(await carrier.authorise(authorisation({ number: '4000000000000333' })), { kind: 'unavailable' }, 'down')
  assert.deepEqual(await carrier.query(randomUUID(), 'KES'), { kind: 'missing' })
})

test('whoever is cut off does not know, may ask, and the card was charged once', async () => {
  const before = await books()
  const cut = authorisation({ number: '4000000000000341' })
  assert.equal((await carrier.authorise(cut)).kind, 'unknown')
  matches(await carrier.query(cut.attempt, 'KES'), { kind: 'paid' }, 'asked')
  const { charges } = await books()
  assert.equal(charges - before.charges, 1)
})

test('what was set aside is captured or given up, never both, and the books agree', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('capture', 'withdraw', 'again'), { minLength: 1, maxLength: 5 }),
      fc.bigInt({ min: 1n, max: 1_000n }),
      async (steps, units) => {
        const start = await books()
        const asked = authorisation({ captures: false })
        assert.equal((await carrier.authorise(asked)).kind, 'authorised')
        const micros = units * 1_000_000n
        let expected: 'authorised' | 'paid' | 'withdrawn' = 'authorised'
        for (const step of steps) {
          if (expected === 'authorised' && step !== 'again') expected = step === 'capture' ? 'paid' : 'withdrawn'
          const outcome =
            step === 'capture'
              ? await carrier.capture(asked.attempt, { micros, currency: 'KES' })
              : step === 'withdraw'
                ? await carrier.withdraw(asked.attempt, 'KES')
                : await carrier.query(asked.attempt, 'KES')
          assert.equal(outcome.kind, expected, `${step} of ${steps.join()}`)
          if (outcome.kind === 'paid') assert.equal(outcome.micros, micros)
        }
        const taken = (await books()).charged.kes - (start.charged.kes ?? 0)
        assert.equal(BigInt(taken), expected === 'paid' ? units * 100n : 0n)
      },
    ),
    { numRuns: runs(25) },
  )
})

test('what was paid is given back once, in parts, late or not at all, and never more than was paid', async () => {
  const paidBy = async (number: string): Promise<string> => {
    const asked = authorisation({ number })
    assert.equal((await carrier.authorise(asked)).kind, 'paid')
    return asked.attempt
  }
  const half = { micros: 500_000_000n, currency: 'KES' } as const
  const plain = await paidBy('4242424242424242')
  const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()]
  const before = (await books()).refunded.kes ?? 0
  assert.deepEqual(await carrier.queryRefund(first, 'KES'), { kind: 'missing' })
  for (const id of [first, first, second]) assert.equal((await carrier.refund(id, plain, half)).kind, 'refunded')
  assert.deepEqual(await carrier.refund(third, plain, half), { kind: 'refused', code: 'charge_already_refunded' })
  assert.equal((await carrier.queryRefund(first, 'KES')).kind, 'refunded')
  assert.equal((await books()).refunded.kes - before, 100_000)

  const late = randomUUID()
  assert.equal((await carrier.refund(late, await paidBy('4000000000007726'), half)).kind, 'pending')
  await eventually(async () => (await carrier.queryRefund(late, 'KES')).kind === 'refunded', 'the late refund')
  const failing = randomUUID()
  const refused = { kind: 'refused', code: 'lost_or_stolen_card' }
  assert.deepEqual(await carrier.refund(failing, await paidBy('4000000000005126'), half), refused)
  assert.deepEqual(await carrier.queryRefund(failing, 'KES'), refused)
  assert.equal((await carrier.refund(randomUUID(), randomUUID(), half)).kind, 'refused')
})

test('a payer of the card for it wants back what was not given back yet, and whoever asks is told how it stands', async () => {
  const asked = authorisation({ number: '4000000000000259' })
  assert.equal((await carrier.authorise(asked)).kind, 'paid')
  const found = await eventually(async () => {
    const outcome = await carrier.disputes(asked.attempt, 'KES')
    return outcome.kind === 'found' && outcome.disputes[0]
  }, 'the dispute')
  const refund = { micros: 100_000_000n, currency: 'KES' } as const
  const disputed = { kind: 'refused', code: 'charge_disputed' }
  assert.deepEqual(await carrier.refund(randomUUID(), asked.attempt, refund), disputed)
  const { id, ...rest } = found
  assert.deepEqual(rest, { status: 'open', micros: 1_000_000_000n, reason: 'fraudulent' })
  const decide = async (outcome: string, dispute = id) => {
    const headers = { authorization: `Bearer ${settings.secret_key}`, 'idempotency-key': randomUUID() }
    const body = JSON.stringify({ outcome })
    return (await fetch(`${settings.base_url}${disputeHelperPath(dispute)}`, { method: 'POST', headers, body })).status
  }
  assert.equal(await decide('odd'), 400)
  assert.equal(await decide('won', 'dp_00'), 404)
  assert.equal(await decide('lost'), 200)
  assert.equal(await decide('won'), 400)
  assert.deepEqual(await carrier.refund(randomUUID(), asked.attempt, refund), disputed)
  const after = { kind: 'found', disputes: [{ ...found, status: 'lost' }] }
  assert.deepEqual(await carrier.disputes(asked.attempt, 'KES'), after)
  assert.deepEqual(await carrier.disputes(randomUUID(), 'KES'), { kind: 'found', disputes: [] })
})

test('what it says of disputes', async () => {
  const dispute = { id: 'dp_1', status: 'needs_response', amount: 100, currency: 'kes', reason: 'duplicate' }
  const listed = (...data: object[]): Answer => [200, { data }]
  const known = { id: 'dp_1', status: 'open', micros: 1_000_000n, reason: 'duplicate' }
  const found = (...disputes: object[]) => ({ kind: 'found', disputes })
  const reasons = {
    fraudulent: 'fraudulent',
    product_not_received: 'not_received',
    product_unacceptable: 'not_as_described',
    credit_not_processed: 'not_credited',
    a_new_word: 'other',
  }
  const rows: readonly (readonly [Answer, object])[] = [
    [listed(), found()],
    [listed(dispute), found(known)],
    [listed({ ...dispute, status: 'under_review' }), found(known)],
    [listed({ ...dispute, status: 'won' }), found({ ...known, status: 'won' })],
    [listed({ ...dispute, status: 'lost' }), found({ ...known, status: 'lost' })],
    [listed({ ...dispute, status: 'warning_needs_response' }), found()],
    ...Object.entries(reasons).map(
      ([word, reason]) => [listed({ ...dispute, reason: word }), found({ ...known, reason })] as const,
    ),
  ]
  for (const [answer, expected] of rows) {
    const { carrier } = await scripted([answer])
    assert.deepEqual(await carrier.disputes('x', 'KES'), expected, JSON.stringify(answer))
  }
  const unclear: readonly Answer[] = [
    ...strange,
    [401, {}],
    listed({}),
    listed({ ...dispute, id: '' }),
    listed({ ...dispute, amount: 0 }),
    listed({ ...dispute, amount: -1 }),
    listed({ ...dispute, currency: 'usd' }),
    listed({ ...dispute, status: 'toString' }),
  ]
  for (const answer of unclear) {
    const { carrier } = await scripted([answer])
    assert.equal((await carrier.disputes('x', 'KES')).kind, 'unknown', JSON.stringify(answer))
  }
})

test('amounts are told in the minor units of their currency', async () => {
  for (const [currency, micros] of [
    ['UGX', 5_000_000_000n],
    ['KES', 10_050_000n],
    ['TND', 1_005_000n],
  ] as const) {
    const outcome = await carrier.authorise({ ...authorisation(), currency, micros })
    assert.ok(outcome.kind === 'paid' && outcome.micros === micros, currency)
  }
})

const intent = (status: string, more: object = {}) => ({ id: 'pi_1', status, amount: 100, amount_received: 0, ...more })
const failed = (code: string) => ({ error: { payment_intent: intent('failed', { last_payment_error: { code } }) } })

const strange: readonly Answer[] = [
  [200],
  [200, 'nonsense'],
  [200, []],
  [200, { id: 1 }],
  [302],
  [402, {}],
  [418],
  [504],
]

test('what it says to a request', async () => {
  const rows: readonly (readonly [Answer, object])[] = [
    [[200, intent('succeeded', { amount_received: 100 })], { kind: 'paid', micros: 1_000_000n }],
    [[200, intent('succeeded', { amount_received: 100, currency: 'kes' })], { kind: 'paid', micros: 1_000_000n }],
    [
      [200, intent('succeeded', { amount_received: 100, currency: 'ugx' })],
      { kind: 'paid', micros: 100_000_000n, currency: 'UGX' },
    ],
    [
      [200, intent('succeeded', { amount_received: 100, currency: 'shells' })],
      { kind: 'unreadable', receipt: 'pi_1', words: '100 shells' },
    ],
    [[200, intent('succeeded', { amount_received: 'much' })], { kind: 'unreadable', words: '' }],
    [[200, intent('requires_capture')], { kind: 'authorised' }],
    [[200, intent('requires_capture', { currency: 'KES' })], { kind: 'authorised' }],
    [[200, intent('requires_capture', { currency: 'ugx' })], { kind: 'unknown' }],
    [[200, intent('canceled')], { kind: 'withdrawn' }],
    [[200, intent('requires_action')], { kind: 'unknown' }],
    [[402, failed('card_declined')], { kind: 'refused', reason: 'CARD_DECLINED' }],
    [[402, failed('insufficient_funds')], { kind: 'refused', reason: 'INSUFFICIENT_FUNDS' }],
    [[402, failed('expired_card')], { kind: 'refused', reason: 'CARD_EXPIRED' }],
    [[402, failed('incorrect_cvc')], { kind: 'refused', reason: 'INCORRECT_CVV' }],
    [[402, failed('invalid_cvc')], { kind: 'refused', reason: 'INCORRECT_CVV' }],
    [[402, failed('authentication_failed')], { kind: 'refused', reason: 'AUTHENTICATION_FAILED' }],
    [[402, failed('authentication_required')], { kind: 'refused', reason: 'AUTHENTICATION_FAILED' }],
    [[402, failed('payment_intent_authentication_failure')], { kind: 'refused', reason: 'AUTHENTICATION_FAILED' }],
    [[402, failed('a_new_word')], { kind: 'refused', reason: 'CARD_DECLINED', code: 'a_new_word' }],
    [[400, { error: { code: 'parameter_invalid' } }], { kind: 'refused', reason: 'PROVIDER_ERROR' }],
    [[401, { error: {} }], { kind: 'unavailable' }],
    [[429, {}], { kind: 'unavailable' }],
    [[503, { error: { code: 'api_unavailable' } }], { kind: 'unavailable' }],
    [[503, {}], { kind: 'unknown' }],
    ...strange.map((answer) => [answer, { kind: 'unknown' }] as const),
  ]
  for (const [answer, expected] of rows) {
    const { asked, carrier } = await scripted([answer])
    matches(await carrier.authorise(authorisation()), expected, JSON.stringify(answer))
    assert.deepEqual(asked.length, 1, 'nothing is sent twice that was answered')
  }
})

test('what fails on the way is sent once more at once, under the same key, and then it is not known', async () => {
  const stumbles: readonly Answer[] = [
    [500, {}],
    [500, {}],
  ]
  const { asked, carrier } = await scripted(stumbles)
  assert.equal((await carrier.authorise(authorisation())).kind, 'unknown')
  assert.equal(asked.length, 2)
  assert.equal(new Set(asked).size, 1, 'one key')
  const busy = await scripted([
    [500, {}],
    [429, {}],
  ])
  assert.equal((await busy.carrier.authorise(authorisation())).kind, 'unknown', 'the first may have been taken')
  const cut = await scripted([])
  assert.equal((await cut.carrier.authorise(authorisation())).kind, 'unknown')
  cut.close()
  assert.equal((await cut.carrier.authorise(authorisation())).kind, 'unavailable', 'nobody was there to take it')
})

test('what it says when it is asked', async () => {
  const listed = (...data: object[]): Answer => [200, { data }]
  const rows: readonly (readonly [Answer, object])[] = [
    [listed(), { kind: 'missing' }],
    [listed(intent('succeeded', { amount_received: 100 })), { kind: 'paid' }],
    [listed(intent('failed', { last_payment_error: { code: 'card_declined' } })), { kind: 'refused' }],
    [listed({}), { kind: 'unknown' }],
    [[401, {}], { kind: 'unknown' }],
    [[404, {}], { kind: 'unknown' }],
    ...strange.map((answer) => [answer, { kind: 'unknown' }] as const),
  ]
  for (const [answer, expected] of rows) {
    const { carrier } = await scripted([answer])
    matches(await carrier.query('x', 'KES'), expected, JSON.stringify(answer))
  }
})

test('what was set aside is not lost to an acquirer that takes nothing just now', async () => {
  const set: Answer = [200, { data: [intent('requires_capture')] }]
  const rows: readonly (readonly [Answer, object])[] = [
    [[200, intent('succeeded', { amount_received: 100 })], { kind: 'paid', micros: 1_000_000n }],
    [[400, { error: { code: 'parameter_invalid' } }], { kind: 'refused' }],
    [[401, { error: {} }], { kind: 'unknown' }],
    [[403, { error: {} }], { kind: 'unknown' }],
    [[429, {}], { kind: 'unknown' }],
    [[503, { error: { code: 'api_unavailable' } }], { kind: 'unknown' }],
    ...strange.map((answer) => [answer, { kind: 'unknown' }] as const),
  ]
  for (const [answer, expected] of rows) {
    const { carrier } = await scripted([set, answer])
    matches(await carrier.capture('x', { micros: 1_000_000n, currency: 'KES' }), expected, JSON.stringify(answer))
  }
})

test('what was set aside in another currency is not taken', async () => {
  const { asked, carrier } = await scripted([[200, { data: [intent('requires_capture', { currency: 'ugx' })] }]])
  matches(await carrier.capture('x', { micros: 1_000_000n, currency: 'KES' }), { kind: 'unknown' }, 'ugx')
  assert.equal(asked.length, 1, 'it was only looked at')
})

test('what it says when it is asked about a refund', async () => {
  const refund = (status: string, more: object = {}): Answer => [
    200,
    { data: [{ id: 're_1', status, failure_reason: null, ...more }] },
  ]
  const rows: readonly (readonly [Answer, object])[] = [
    [refund('succeeded'), { kind: 'refunded', id: 're_1', micros: null, currency: 'KES' }],
    [refund('succeeded', { amount: null }), { kind: 'refunded', id: 're_1', micros: null, currency: 'KES' }],
    [refund('succeeded', { amount: 100 }), { kind: 'refunded', micros: 1_000_000n, currency: 'KES' }],
    [
      refund('succeeded', { amount: 100, currency: 'ugx' }),
      { kind: 'refunded', micros: 100_000_000n, currency: 'UGX' },
    ],
    [
      refund('succeeded', { amount: 100, currency: 'shells' }),
      { kind: 'unreadable', receipt: 're_1', words: '100 shells' },
    ],
    [refund('succeeded', { amount: 'much' }), { kind: 'unreadable', receipt: 're_1', words: '' }],
    [refund('pending'), { kind: 'pending', id: 're_1' }],
    [refund('failed'), { kind: 'refused' }],
    [[200, { data: [] }], { kind: 'missing' }],
    [[401, {}], { kind: 'unknown' }],
    [[403, {}], { kind: 'unknown' }],
    [[429, {}], { kind: 'unknown' }],
    [[503, { error: { code: 'api_unavailable' } }], { kind: 'unknown' }],
    ...strange.map((answer) => [answer, { kind: 'unknown' }] as const),
  ]
  for (const [answer, expected] of rows) {
    const { carrier } = await scripted([answer])
    matches(await carrier.queryRefund('x', 'KES'), expected, JSON.stringify(answer))
  }
})

test('other money than it was asked to give back is told as such', async () => {
  const order = { micros: 500_000_000n, currency: 'KES' as const }
  const told = { id: 're_1', status: 'succeeded', amount: 40_000, currency: 'kes' }
  const { carrier } = await scripted([
    [200, { data: [intent('succeeded', { amount_received: 100_000 })] }],
    [200, told],
  ])
  const outcome = await carrier.refund('x', 'y', order)
  assert.deepEqual(outcome, { kind: 'refunded', id: 're_1', micros: 400_000_000n, currency: 'KES' })
})

test('only what the acquirer has signed, and not long ago, is a notice of its', () => {
  const body = Buffer.from('{"type":"payment_intent.succeeded"}')
  const secret = settings.webhook_secret ?? ''
  const nowSeconds = Math.floor(systemClock.nowMs() / 1_000)
  const isSigned = (signature: string | undefined, bytes = body) =>
    carrier.isSigned(bytes, signature === undefined ? {} : { 'acquirer-signature': signature })
  assert.ok(isSigned(signNotice(secret, body.toString(), nowSeconds)))
  assert.ok(!isSigned(signNotice('another', body.toString(), nowSeconds)))
  assert.ok(!isSigned(signNotice(secret, body.toString(), nowSeconds - 301)))
  assert.ok(!isSigned(signNotice(secret, body.toString(), nowSeconds), Buffer.from('{}')))
  for (const nonsense of [undefined, '', 'x', 't=1', 't=1,v1=zz']) assert.ok(!isSigned(nonsense))
})

function connect(given: Settings): Acquirer {
  const made = connectTo(kind, given)
  assert.ok(made.method === 'card')
  return made
}

function authorisation({ number = '4242424242424242', captures = true } = {}): Authorisation {
  return {
    attempt: randomUUID(),
    micros: 1_000_000_000n,
    currency: 'KES',
    source: { card: { number, exp_month: 12, exp_year: 2040, cvc: '123' } },
    captures,
    challenges: false,
    keeps: false,
    returnUrl: 'https://127.0.0.1:9/go/AAAA/return',
    notifyUrl: 'https://127.0.0.1:9/hooks/p/AAAA',
    description: 'Order 77',
  }
}

async function scripted(answers: readonly Answer[]) {
  const { baseUrl, keys, close } = await startScripted(answers)
  return { asked: keys, close, carrier: connect({ ...settings, base_url: baseUrl }) }
}

async function books() {
  const headers = { authorization: `Bearer ${settings.secret_key}` }
  const reply = await fetch(`${settings.base_url}/v1/payment_intents/books`, { headers })
  return JSON.parse(await reply.text())
}
