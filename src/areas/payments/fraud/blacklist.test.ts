// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type BlacklistType, candidatesOf, maskedCard, normalised, placesOf } from './blacklist.ts'
import { isCardNumber, riskHintOf } from './card.ts'
import { factsOf, readFacts, type Subject, storedFacts } from './fields.ts'
import { tallyOf, totalOf } from './velocity.ts'

const fingerprint = 'ab'.repeat(32)

const rows: readonly [type: BlacklistType, given: string, written: string | null][] = [
  ['phone', ' +254 711-000 009 ', '+254711000009'],
  ['phone', '0711000009', null],
  ['email', 'Asha@Example.COM', 'asha@example.com'],
  ['email', 'asha@example.com.', 'asha@example.com'],
  ['email', 'asha@ｅxample.com', 'asha@example.com'],
  ['email', 'asha', null],
  ['email_domain', '@Example.COM', 'example.com'],
  ['email_domain', 'example.com.', 'example.com'],
  ['email_domain', 'bücher.example', 'xn--bcher-kva.example'],
  ['email_domain', 'example', null],
  ['card', '4242 4242 4242 4242', '4242424242424242'],
  ['card', '4242', null],
  ['card_bin', '424242', '424242'],
  ['card_bin', '4242424', null],
  ['card_fingerprint', fingerprint.toUpperCase(), fingerprint],
  ['card_fingerprint', 'ab', null],
  ['ip', '192.0.2.1', '192.0.2.1'],
  ['ip', '::ffff:192.0.2.1', '192.0.2.1'],
  ['ip', '2001:DB8::1', '2001:db8:0:0:0:0:0:1'],
  ['ip', '192.0.2', null],
  ['ip_range', '192.0.2.77/24', '192.0.2.0/24'],
  ['ip_range', '2001:db8::1/32', '2001:db8:0:0:0:0:0:0/32'],
  ['ip_range', '192.0.2.1', null],
  ['ip_range', '192.0.2.1/33', null],
  ['device_id', 'Device-7', 'device-7'],
  ['bank_account', '01/123-456', null],
  ['bank_account', '01:123-456', '01:123456'],
  ['bank_account', 'ab 12', 'AB12'],
  ['customer_id', 'C7', 'c7'],
  ['country', 'ke', 'KE'],
  ['country', 'Kenya', null],
]

for (const [type, given, written] of rows)
  test(`${type} ${given} is written ${written}`, () => assert.equal(normalised(type, given), written))

const subject: Subject = {
  id: '0',
  direction: 'payment',
  micros: 1_500_000_000n,
  currency: 'KES',
  method: 'card',
  provider: 'acquirer',
  phone: '+254711000009',
  customer: { email: 'Asha@Example.com', customer_id: 'c7', name: 'Asha' },
  metadata: { order: 'A7', items: 2, gift: true },
  ipAddress: '192.0.2.77',
  deviceId: 'd1',
  country: 'UG',
  card: { brand: 'visa', bin: '42424242', country: 'GB', fingerprint },
  bank: { code: '01', accountNumber: '123456' },
}

test('a subject is looked for under everything that is known of it', () => {
  const found = candidatesOf(subject).map(({ type, value }) => `${type} ${value}`)
  for (const expected of [
    'phone +254711000009',
    'email asha@example.com',
    'email_domain example.com',
    `card ${fingerprint}`,
    `card_fingerprint ${fingerprint}`,
    'card_bin 424242',
    'card_bin 42424242',
    'ip 192.0.2.77',
    'ip_range 192.0.2.0/24',
    'ip_range 0.0.0.0/0',
    'device_id d1',
    'bank_account 123456',
    'bank_account 01:123456',
    'customer_id c7',
    'country UG',
    'country GB',
    'country KE',
  ])
    assert.ok(found.includes(expected), `${expected} in ${found.join()}`)
})

test('an address is found in every range that holds it, and in no other', () => {
  const parts = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)).map((four) => four.join('.'))
  fc.assert(
    fc.property(parts, parts, fc.nat(32), (address, other, length) => {
      const range = normalised('ip_range', `${other}/${length}`)
      const bits = (text: string) => text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
      const size = 2 ** (32 - length)
      const isInside = Math.floor(bits(address) / size) === Math.floor(bits(other) / size)
      assert.equal(
        placesOf('ip_range', address).some(({ value }) => value === range),
        isInside,
      )
    }),
  )
})

test('facts survive being stored', () => {
  const facts = factsOf(subject, Date.UTC(2026, 2, 1, 9, 15))
  assert.deepEqual(readFacts(JSON.parse(JSON.stringify(storedFacts(facts)))), facts)
  assert.equal(facts.get('phone_country'), 'ke')
  assert.equal(facts.get('phone_prefix'), '+254711')
  assert.equal(facts.get('hour_of_day'), 9)
  assert.equal(facts.get('day_of_week'), 7)
  assert.equal(facts.get('metadata.order'), 'a7')
  assert.equal(facts.has('amount_usd'), false)
  assert.equal(factsOf({ ...subject, currency: 'USD' }, 0).get('amount_usd'), 1_500_000_000n)
})

test('what is counted is kept apart by whom, by direction and, for sums, by currency', () => {
  const velocity = { metric: 'sum', of: 'amount', by: ['phone'], windowSeconds: 3_600, statuses: null } as const
  const tally = (change: Partial<Subject>, direction = 'payment') =>
    tallyOf(velocity, direction, factsOf({ ...subject, ...change }, 0), 7_200_123)?.tally
  assert.equal(tally({}), tally({ micros: 1n, deviceId: 'other' }))
  for (const other of [tally({ phone: '+254711000008' }), tally({ currency: 'UGX' }), tally({}, 'payout')])
    assert.notEqual(other, tally({}))
  assert.equal(tally({ phone: null }), undefined)
  const whole = tallyOf(velocity, 'payment', factsOf(subject, 0), 7_200_123)
  assert.deepEqual([whole?.step, whole?.start, whole?.since, whole?.amount], [300, 7_200, 3_600, 1_500_000_000n])
})

test('a question in advance counts itself, what was counted does not count twice', () => {
  const velocity = { metric: 'distinct', of: 'device_id', by: ['phone'], windowSeconds: 3_600, statuses: null } as const
  const made = tallyOf(velocity, 'payment', factsOf(subject, 0), 0)
  assert.ok(made)
  const found = { count: 3n, total: 30n, items: 2, hasItem: false }
  assert.equal(totalOf(made, found, false), 3n)
  assert.equal(totalOf(made, { ...found, hasItem: true }, false), 2n)
  assert.equal(totalOf(made, found, true), 2n)
  assert.equal(totalOf({ ...made, metric: 'count' }, found, false), 4n)
  assert.equal(totalOf({ ...made, metric: 'count', statuses: ['failed'] }, found, false), 3n)
  assert.equal(totalOf({ ...made, metric: 'sum', amount: 5n }, found, false), 35n)
})

test('card numbers are told from others', () => {
  for (const number of ['4242424242424242', '5555555555554444', '5061460410120223210', '378282246310005'])
    assert.ok(isCardNumber(number), number)
  for (const number of ['4242424242424241', '42', 'x', '4242 4242 4242 4242']) assert.ok(!isCardNumber(number), number)
  assert.equal(maskedCard('4242424242424242'), '424242******4242')
  assert.deepEqual(
    [
      riskHintOf('4000000000009235', 'test'),
      riskHintOf('4000000000004954', 'test'),
      riskHintOf('4000000000009235', 'live'),
    ],
    ['high', 'very_high', null],
  )
})
