// SPDX-License-Identifier: Apache-2.0
// What an account lets pass: rules, blacklists and the score, on payments over the provider's real protocol.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forgetOld } from '../../src/areas/payments/fraud/retention.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import type { Client, Reply } from '../client.ts'
import { startMarket } from '../market.ts'
import { settled } from '../paying.ts'
import { eventually } from '../world.ts'

const { world, sql } = await startMarket(0.01)

const phone = '+254700000001'
const payment = { amount: 1000, currency: 'KES', phone }
const large = { field: 'amount', operator: 'gte', value: 5000 }

test('a rule blocks a payment: it is stored as failed, told of, and nobody is asked for it', async () => {
  const { client } = await world.account()
  const rule = await addRule(client, { name: 'Large', action: 'block', conditions: [large] })
  const passed = await client.post('/v1/payments', payment)
  assert.equal(passed.status, 201, passed.text)
  assert.deepEqual([passed.body.risk.decision, passed.body.risk.rule_id], ['allow', null])
  const asked = { ...payment, amount: 5000, reference: 'too-much' }
  const blocked = await client.post('/v1/payments', asked)
  assert.deepEqual(refusalOf(blocked), [403, 'PAYMENT_BLOCKED'])
  const { payment_id, rule_id, details } = blocked.body.error
  assert.equal(rule_id, rule)
  assert.match(details, /^it was blocked by the rule frl_/)
  const { body } = await client.get(`/v1/payments/${payment_id}`)
  assert.deepEqual([body.status, body.failure_reason, body.reference], ['failed', 'BLOCKED_BY_RULE', 'too-much'])
  assert.equal(body.failure_message, 'The payment was not accepted.')
  assert.deepEqual([body.risk.decision, body.risk.rule_id, body.risk.risk_level], ['block', rule, 'low'])
  assert.deepEqual(await eventsOf(client, payment_id), ['payment.created 1', 'payment.failed 2'])
  const { rows } = await sql.query('select 1 from payments.attempts where payment_id = $1', [
    uuidOf('payment', payment_id),
  ])
  assert.equal(rows.length, 0)
  const cancelled = await client.post(`/v1/payments/${payment_id}/cancel`)
  assert.deepEqual(refusalOf(cancelled), [409, 'INVALID_STATE'])
  const again = await client.post('/v1/payments', asked)
  assert.deepEqual(refusalOf(again), [409, 'DUPLICATE_REFERENCE'])
  assert.deepEqual([again.body.error.original_id, again.body.error.original_status], [payment_id, 'failed'])
})

test('a blocked payment is blocked as well when nobody waits, by the other address, and when the request is repeated', async () => {
  const { client } = await world.account()
  await addRule(client, { name: 'All', action: 'block', conditions: [{ field: 'amount', operator: 'gt', value: 0 }] })
  assert.deepEqual(refusalOf(await client.post('/v1/payments?wait=0', payment)), [403, 'PAYMENT_BLOCKED'])
  const mobile = { amount: 100, currency: 'KES', phone_number: phone }
  assert.deepEqual(refusalOf(await client.post('/v1/payments/mobile/initiate', mobile)), [403, 'PAYMENT_BLOCKED'])
  const headers = { 'idempotency-key': 'order-1' }
  const first = await client.post('/v1/payments', payment, { headers })
  const second = await client.post('/v1/payments', payment, { headers })
  assert.deepEqual(refusalOf(first), [403, 'PAYMENT_BLOCKED'])
  assert.equal(second.text, first.text)
  assert.equal(second.headers['idempotent-replayed'], 'true')
})

test('a top-up is judged like any payment, whether anybody waits for it or not', async () => {
  const { client } = await world.account()
  const free = await client.post('/v1/wallet/topup', { amount: 100, phone })
  assert.deepEqual([free.status, free.body.risk.decision], [201, 'allow'])
  await settled(client, free.body.payment_id)
  await addRule(client, { name: 'All', action: 'block', conditions: [{ field: 'amount', operator: 'gt', value: 0 }] })
  const before = (await client.get('/v1/wallet/balance')).body.balance
  for (const path of ['/v1/wallet/topup', '/v1/wallet/topup?wait=0'])
    assert.deepEqual(refusalOf(await client.post(path, { amount: 100, phone })), [403, 'PAYMENT_BLOCKED'])
  assert.equal((await client.get('/v1/wallet/balance')).body.balance, before)
})

test('a review goes ahead, is marked and is told of', async () => {
  const { client } = await world.account()
  const asked = { ...payment, amount: 5000, phone: '+254700000201' }
  const rule = await addRule(client, { name: 'Large', action: 'review', conditions: [large], score: 30 })
  const { status, body } = await client.post('/v1/payments', asked)
  assert.equal(status, 201)
  assert.deepEqual(
    [body.risk.decision, body.risk.rule_id, body.risk.risk_score, body.risk.risk_level, body.risk.flags],
    ['review', rule, 35, 'medium', ['new_customer']],
  )
  const completed = await settled(client, body.payment_id)
  assert.deepEqual([completed.status, completed.failure_reason], ['completed', null])
  assert.deepEqual(await eventsOf(client, body.payment_id), [
    'fraud.review_required 2',
    'payment.completed 3',
    'payment.created 1',
  ])
  const { data } = (await client.get('/v1/events?limit=20')).body
  const { payload } = data.find(({ event }: { event: string }) => event === 'fraud.review_required')
  assert.deepEqual(
    [payload.payment_id, payload.payout_id, payload.risk],
    [body.payment_id, null, { risk_score: 35, risk_level: 'medium', flags: ['new_customer'], decision: 'review' }],
  )
  assert.equal(payload.payment.payment_id, body.payment_id)
  const stronger = await addRule(client, { name: 'Confirm', action: 'require_3ds', conditions: [large], priority: 1 })
  const other = await client.post('/v1/payments', asked)
  assert.deepEqual([other.status, other.body.risk.decision, other.body.risk.rule_id], [201, 'review', stronger])
})

test('a trial is recorded and does nothing; its hits are counted', async () => {
  const { client } = await world.account()
  const rule = await addRule(client, { name: 'Trial', action: 'block', score: 90, dry_run: true, conditions: [large] })
  for (const amount of [5000, 6000, 100]) {
    const { status, body } = await client.post('/v1/payments', { ...payment, amount })
    assert.deepEqual([status, body.risk.decision, body.risk.risk_score < 60], [201, 'allow', true])
  }
  const { body: question } = await client.post('/v1/payments/risk-check', { ...payment, amount: 5000 })
  assert.equal(question.matched_rules.length, 1, 'a question counts nothing')
  const { body } = await client.get(`/v1/payments/fraud/rules/${rule}`)
  assert.deepEqual([body.hits_24h, body.dry_run], [2, true])
  assert.equal((await client.get('/v1/payments/fraud/rules')).body.data[0].hits_24h, 2)
  await client.post('/v1/sandbox/clock', { advance_seconds: 86_401 })
  assert.equal((await client.get(`/v1/payments/fraud/rules/${rule}`)).body.hits_24h, 0)
})

test('allow comes before block, and a blacklist before allow', async () => {
  const { client } = await world.account()
  await addRule(client, { name: 'All', action: 'block', conditions: [large] })
  const asha = [{ field: 'email', operator: 'eq', value: 'asha@example.com' }]
  const rule = await addRule(client, { name: 'Asha', action: 'allow', conditions: asha })
  const hers = { ...payment, amount: 9000, customer: { email: 'Asha@example.com' } }
  const { status, body } = await client.post('/v1/payments', hers)
  assert.deepEqual([status, body.risk.decision, body.risk.rule_id], [201, 'allow', rule])
  await client.post('/v1/payments/fraud/blacklist', { type: 'email', value: 'ASHA@example.com' })
  const blocked = await client.post('/v1/payments', hers)
  assert.deepEqual([...refusalOf(blocked), blocked.body.error.rule_id], [403, 'PAYMENT_BLOCKED', null])
  const stored = (await client.get(`/v1/payments/${blocked.body.error.payment_id}`)).body
  assert.deepEqual([stored.failure_reason, stored.risk.flags.includes('blacklisted')], ['BLACKLISTED', true])
})

test('a change of a rule counts for the very next payment', async () => {
  const { client } = await world.account()
  assert.equal((await client.post('/v1/payments?wait=0', { ...payment, amount: 5000 })).status, 201)
  const rule = await addRule(client, { name: 'Large', action: 'block', conditions: [large] })
  const pay = async () => (await client.post('/v1/payments?wait=0', { ...payment, amount: 5000 })).status
  const change = (body: object) => client.patch(`/v1/payments/fraud/rules/${rule}`, body)
  assert.equal(await pay(), 403)
  await change({ enabled: false })
  assert.equal(await pay(), 201)
  await change({ enabled: true, conditions: [{ ...large, value: 6000 }] })
  assert.equal(await pay(), 201)
  await change({ conditions: [large], action: 'block', name: 'Larger', description: 'Why' })
  assert.equal(await pay(), 403)
  const { body } = await client.get(`/v1/payments/fraud/rules/${rule}`)
  assert.deepEqual([body.name, body.description, body.conditions], ['Larger', 'Why', [large]])
  assert.equal((await change({ priority: 1 })).body.description, 'Why')
  assert.equal((await change({ description: null })).body.description, null)
  assert.deepEqual((await client.delete(`/v1/payments/fraud/rules/${rule}`)).body.deleted, true)
  assert.equal(await pay(), 201)
  assert.equal((await client.get(`/v1/payments/fraud/rules/${rule}`)).status, 404)
  assert.equal((await client.delete(`/v1/payments/fraud/rules/${rule}`)).status, 404)
})

test('a change that another node made counts at once', async () => {
  const { client, id } = await world.account()
  await addRule(client, { name: 'Large', action: 'block', conditions: [large] })
  const pay = async () => (await client.post('/v1/payments?wait=0', { ...payment, amount: 5000 })).status
  assert.equal(await pay(), 403)
  // What another node would write; nobody tells this one.
  const account = [uuidOf('account', id)]
  await sql.query('update payments.fraud_rules set enabled = false where account_id = $1', account)
  await sql.query('update payments.fraud_policies set version = version + 1 where account_id = $1', account)
  assert.equal(await pay(), 201)
})

test('a score of 80 blocks, and no rule is named', async () => {
  const { client } = await world.account()
  await addRule(client, { name: 'Points', action: 'review', score: 80, conditions: [large] })
  const blocked = await client.post('/v1/payments', { ...payment, amount: 5000 })
  assert.deepEqual([...refusalOf(blocked), blocked.body.error.rule_id], [403, 'PAYMENT_BLOCKED', null])
  assert.match(blocked.body.error.details, /risk score of 85/)
  const { body } = await client.get(`/v1/payments/${blocked.body.error.payment_id}`)
  assert.deepEqual([body.failure_reason, body.risk.risk_level], ['BLOCKED_BY_RULE', 'very_high'])
})

const windows: readonly [window: string, inside: number, outside: number][] = [
  ['30s', 20, 20],
  ['10m', 500, 200],
  ['1h', 3_000, 1_000],
  ['24h', 80_000, 12_000],
  ['90d', 7_000_000, 900_000],
]

for (const [window, inside, outside] of windows)
  test(`a velocity of ${window} counts what lies within it, and nothing before`, async () => {
    const { client } = await world.account()
    const velocity = { metric: 'count', by: ['phone'], window }
    await addRule(client, { name: 'Often', action: 'block', conditions: [{ velocity, operator: 'gt', value: 2 }] })
    const pay = async (from = phone) => (await client.post('/v1/payments?wait=0', { ...payment, phone: from })).status
    assert.deepEqual([await pay(), await pay()], [201, 201])
    await client.post('/v1/sandbox/clock', { advance_seconds: inside })
    assert.equal(await pay(), 403)
    assert.equal(await pay('+254700000101'), 201, 'another phone')
    await client.post('/v1/sandbox/clock', { advance_seconds: outside })
    // The two at the beginning are out of the window; the one that was blocked is still in it.
    assert.equal(await pay(), 201)
    assert.equal(await pay(), 403)
  })

test('sums are of one currency, and different values are counted once', async () => {
  const { client } = await world.account()
  const sum = { metric: 'sum', of: 'amount', by: ['device_id'], window: '1d' }
  await addRule(client, { name: 'Much', action: 'block', conditions: [{ velocity: sum, operator: 'gt', value: 2500 }] })
  const distinct = { metric: 'distinct', of: 'phone', by: ['ip_address'], window: '1d' }
  await addRule(client, {
    name: 'Many',
    action: 'block',
    conditions: [{ velocity: distinct, operator: 'gt', value: 2 }],
  })
  const pay = async (change: object) => (await client.post('/v1/payments?wait=0', { ...payment, ...change })).status
  assert.deepEqual([await pay({ device_id: 'd1' }), await pay({ device_id: 'd1' })], [201, 201])
  assert.equal(await pay({ device_id: 'd1', currency: 'UGX', phone: '+256770000001' }), 201)
  assert.equal(await pay({ device_id: 'd1', amount: 501 }), 403)
  assert.equal(await pay({ device_id: 'd2', amount: 2500 }), 201)
  const ip_address = '192.0.2.1'
  for (const [from, status] of [
    ['+254700000001', 201],
    ['+254700000001', 201],
    ['+254700000101', 201],
    ['+254700000001', 201],
    ['+254700000102', 403],
  ])
    assert.equal(await pay({ ip_address, phone: from }), status, String(from))
})

test('those who ask at the same moment see each other', async () => {
  const { client } = await world.account()
  const velocity = { metric: 'count', by: ['phone'], window: '90d' }
  await addRule(client, { name: 'Often', action: 'block', conditions: [{ velocity, operator: 'gt', value: 5 }] })
  const replies = await Promise.all(Array.from({ length: 20 }, () => client.post('/v1/payments?wait=0', payment)))
  assert.equal(replies.filter(({ status }) => status === 201).length, 5)
  assert.equal(replies.filter(({ status }) => status === 403).length, 15)
})

test('payments that are counted together in every way do not get in each other’s way', async () => {
  const { client } = await world.account()
  const by = (field: string) => ({
    velocity: { metric: 'count', by: [field], window: '7d' },
    operator: 'gt',
    value: 1_000,
  })
  await addRule(client, {
    name: 'Often',
    action: 'block',
    match: 'any',
    conditions: [by('phone'), by('device_id'), by('ip_address')],
  })
  const replies = await Promise.all(
    Array.from({ length: 90 }, (_, i) =>
      client.post('/v1/payments?wait=0', {
        ...payment,
        phone: `+25470000010${i % 3}`,
        device_id: `d${(i * 7) % 5}`,
        ip_address: `192.0.2.${(i * 3) % 4}`,
      }),
    ),
  )
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([201]))
})

test('what failed is counted when it has failed, and a customer is known once one was paid', async () => {
  const { client } = await world.account()
  const failing = { ...payment, phone: '+254700000002' }
  const velocity = { metric: 'count', by: ['phone'], window: '1h', status: ['failed'] }
  const trial = { action: 'review', dry_run: true }
  await addRule(client, { ...trial, name: 'Failed', conditions: [{ velocity, operator: 'gte', value: 1 }] })
  await addRule(client, {
    ...trial,
    name: 'Failing',
    conditions: [{ field: 'failed_last_24h', operator: 'gte', value: 1 }],
  })
  await addRule(client, {
    ...trial,
    name: 'New',
    conditions: [{ field: 'is_first_payment', operator: 'eq', value: true }],
  })
  await addRule(client, {
    ...trial,
    name: 'Old',
    conditions: [{ field: 'customer_age_days', operator: 'gte', value: 2 }],
  })
  const matched = async (body: object) =>
    (await check(client, body)).matched_rules.map(({ name }: { name: string }) => name).sort()
  assert.deepEqual(await matched(failing), ['New'])
  const first = await client.post('/v1/payments', failing)
  assert.equal((await settled(client, first.body.payment_id)).status, 'failed')
  assert.deepEqual(await matched(failing), ['Failed', 'Failing', 'New'])
  const paying = { ...payment, phone: '+254700000202' }
  const paid = await client.post('/v1/payments', paying)
  assert.equal((await settled(client, paid.body.payment_id)).status, 'completed')
  assert.deepEqual(await matched(paying), [])
  await client.post('/v1/sandbox/clock', { advance_seconds: 2 * 86_400 })
  assert.deepEqual(await matched(paying), ['Old'])
  assert.deepEqual(await matched(failing), ['New'])
})

test('a check in advance explains itself, is stored, moves nothing and counts nothing', async () => {
  const { client } = await world.account()
  // Nobody answers there, so that the customer stays a new one.
  const unanswered = { ...payment, phone: '+254700000003' }
  const asked = { ...unanswered, device_id: 'd1', country: 'UG', customer: { email: 'x@mailinator.com' } }
  for (let i = 0; i < 6; i++) {
    const body = await check(client, asked)
    assert.match(body.risk_check_id, /^rsk_[0-9a-z]{26}$/)
    assert.deepEqual(body.components, { velocity: 0, amount: 0, identity: 15, card: 0, geo: 10, history: 0, rules: 0 })
    assert.deepEqual([body.risk_score, body.risk_level, body.decision], [25, 'low', 'allow'])
    assert.deepEqual(body.flags, ['new_customer', 'disposable_email', 'ip_country_differs'])
    assert.deepEqual(body.risk_assessment, { risk_score: 25, risk_level: 'low', flags: body.flags })
    assert.deepEqual([body.matched_rules, body.blacklist_hits], [[], []])
  }
  assert.deepEqual((await client.get('/v1/payments/transactions')).body.data, [])
  for (let i = 0; i < 4; i++) await client.post('/v1/payments?wait=0', asked)
  const paid = (await client.get('/v1/payments/transactions?limit=1')).body.data[0]
  // The fifth, if it were one.
  assert.deepEqual((await check(client, asked)).flags[0], 'velocity_phone_1h')
  const again = await check(client, { payment_id: paid.payment_id })
  assert.deepEqual([again.components.velocity, again.components.geo, again.components.identity], [10, 10, 15])
  const rule = await addRule(client, {
    name: 'Device',
    action: 'block',
    conditions: [{ field: 'device_id', operator: 'eq', value: 'D1' }],
  })
  const now = await check(client, { payment_id: paid.payment_id })
  assert.deepEqual(
    [now.decision, now.matched_rules],
    ['block', [{ rule_id: rule, name: 'Device', action: 'block', dry_run: false }]],
  )
})

test('an amount far above what is usual is noticed', async () => {
  const { client } = await world.account()
  for (let i = 0; i < 20; i++)
    await client.post('/v1/payments?wait=0', { ...payment, phone: `+2547000001${String(i + 10)}` })
  // What is usual is looked at anew with the rules.
  await addRule(client, {
    name: 'Idle',
    action: 'review',
    conditions: [{ field: 'device_id', operator: 'eq', value: 'none' }],
  })
  const amounts = [
    [1000, 0],
    [1500, 5],
    [2500, 10],
    [5001, 15],
  ]
  for (const [amount, points] of amounts)
    assert.equal((await check(client, { ...payment, amount })).components.amount, points, String(amount))
})

test('cards are judged without being kept; test cards raise the risk', async () => {
  const { client } = await world.account()
  const asked = (number: string) => check(client, { amount: 100, currency: 'KES', card: { number } })
  const high = await asked('4000 0000 0000 9235')
  assert.deepEqual([high.risk_level, high.decision], ['high', 'review'])
  const veryHigh = await asked('4000000000004954')
  assert.deepEqual([veryHigh.risk_level, veryHigh.decision], ['very_high', 'block'])
  const rule = await addRule(client, {
    name: 'Visa',
    action: 'require_3ds',
    conditions: [{ field: 'card_brand', operator: 'eq', value: 'visa' }],
  })
  const visa = await asked('4242424242424242')
  assert.deepEqual([visa.decision, visa.matched_rules[0].rule_id], ['require_3ds', rule])
  const byBin = await check(client, { amount: 100, currency: 'KES', card: { bin: '424242', last4: '4242' } })
  assert.equal(byBin.decision, 'require_3ds')
  for (const card of [
    { number: '4242424242424241' },
    {},
    { bin: '42' },
    { number: '4242424242424242', colour: 'blue' },
  ])
    assert.deepEqual(refusalOf(await client.post('/v1/payments/risk-check', { amount: 1, currency: 'KES', card })), [
      422,
      'VALIDATION_ERROR',
    ])
  const whole = { number: '4242 4242 4242 4242', exp_month: 12, exp_year: 2040, cvv: '123', name: 'Asha' }
  const asPaid = await check(client, { amount: 100, currency: 'KES', method: 'CARD', card: whole })
  assert.equal(asPaid.decision, 'require_3ds', 'what would be sent as a payment can be asked about as it is')
  const added = await client.post('/v1/payments/fraud/blacklist', { type: 'card', value: '4242 4242 4242 4242' })
  assert.deepEqual([added.status, added.body.value], [201, '424242******4242'])
  const blocked = await asked('4242424242424242')
  assert.deepEqual(
    [blocked.decision, blocked.blacklist_hits[0].type, blocked.blacklist_hits[0].value],
    ['block', 'card', '424242******4242'],
  )
  assert.equal((await asked('5555555555554444')).decision, 'allow')
  for (const table of [
    'payments.risk_checks',
    'payments.blacklist',
    'platform.requests',
    'platform.audit',
    'platform.idempotency',
  ]) {
    const { rows } = await sql.query(`select 1 from ${table} t where t::text like any($1)`, [
      ['%4242424242424242%', '%4242 4242 4242 4242%', '%4000000000004954%'],
    ])
    assert.equal(rows.length, 0, table)
  }
})

const entries: readonly [type: string, value: string, asked: object][] = [
  ['phone', '+254 700 000 001', {}],
  ['email', 'Asha@Example.com', { customer: { email: 'asha@example.com' } }],
  ['email_domain', 'EXAMPLE.com', { customer: { email: 'asha@example.com' } }],
  ['card_bin', '555555', { card: { number: '5555555555554444' } }],
  ['card_bin', '55555555', { card: { bin: '55555555', last4: '4444' } }],
  ['ip', '2001:DB8::1', { ip_address: '2001:db8:0:0::1' }],
  ['ip_range', '192.0.2.9/24', { ip_address: '192.0.2.200' }],
  ['ip_range', '2001:db8::/32', { ip_address: '2001:db8:1::1' }],
  ['device_id', 'Device-7', { device_id: 'device-7' }],
  ['bank_account', '01:123 456', { bank: { account_number: '123456', bank_code: '01' } }],
  ['customer_id', 'C-1', { customer: { customer_id: 'C-1' } }],
  ['country', 'ug', { country: 'UG' }],
  ['country', 'KE', {}],
]

for (const [type, value, asked] of entries)
  test(`a blacklist of ${type}: ${value}`, async () => {
    const { client } = await world.account()
    const wanted = { ...payment, ...asked }
    assert.equal((await check(client, wanted)).decision, 'allow')
    const added = await client.post('/v1/payments/fraud/blacklist', { type, value, reason: 'Known' })
    assert.equal(added.status, 201, added.text)
    const { decision, blacklist_hits } = await check(client, wanted)
    assert.deepEqual(
      [decision, blacklist_hits[0].blacklist_id, blacklist_hits[0].type],
      ['block', added.body.blacklist_id, type],
    )
    const other = {
      amount: 100,
      currency: 'UGX',
      phone: '+256770000101',
      ip_address: '198.51.100.1',
      customer: { email: 'a@example.net' },
    }
    assert.equal(
      (await check(client, type === 'country' && value === 'ug' ? { ...other, phone } : other)).decision,
      'allow',
    )
    const gone = await client.delete(`/v1/payments/fraud/blacklist/${added.body.blacklist_id}`)
    assert.deepEqual([gone.status, gone.body.deleted], [200, true])
    assert.equal((await check(client, wanted)).decision, 'allow')
  })

test('a card is found by its fingerprint too', async () => {
  const { client } = await world.account()
  const asked = { amount: 100, currency: 'KES', card: { number: '5555555555554444' } }
  const { body } = await client.post('/v1/payments/risk-check', asked)
  const { rows } = await sql.query<{ print: string }>(
    `select inputs->'facts'->>'card_fingerprint' as print from payments.risk_checks where id = $1`,
    [uuidOf('riskCheck', body.risk_check_id)],
  )
  assert.match(rows[0]?.print ?? '', /^[0-9a-f]{64}$/)
  const entry = { type: 'card_fingerprint', value: rows[0]?.print }
  assert.equal((await client.post('/v1/payments/fraud/blacklist', entry)).status, 201)
  assert.equal((await check(client, asked)).decision, 'block')
})

test('a saved card is judged as the card that it is, with all that a payment may say beside it', async () => {
  const { client } = await world.account()
  const number = '5555555555554444'
  const card = { number, exp_month: 12, exp_year: 2040, cvv: '123' }
  const charged = {
    amount: 100,
    currency: 'KES',
    return_url: 'https://shop.example.com/',
    expires_in: 60,
    capture: true,
  }
  const { card_token } = (await client.post('/v1/payments', { ...charged, card, save_card: true })).body
  const asked = await client.post('/v1/payments/risk-check', { ...charged, card_token })
  assert.deepEqual(
    [asked.status, asked.body.decision, asked.headers['pamoja-warning']],
    [200, 'allow', undefined],
    asked.text,
  )
  assert.equal((await client.post('/v1/payments/fraud/blacklist', { type: 'card', value: number })).status, 201)
  assert.equal((await check(client, { ...charged, card_token })).decision, 'block')
  const long = await client.post('/v1/payments/risk-check', { ...charged, card, description: 'x'.repeat(17_000) })
  assert.deepEqual([long.status, long.body.error?.code], [413, 'PAYLOAD_TOO_LARGE'])
  const unknown = await client.post('/v1/payments/risk-check', { ...charged, card_token: 'tok_1' })
  assert.deepEqual([unknown.status, unknown.body.error?.code], [422, 'INVALID_CARD'])
  const both = await client.post('/v1/payments/risk-check', { ...charged, card, card_token })
  assert.deepEqual([both.status, both.body.error?.code], [422, 'VALIDATION_ERROR'])
})

test('an entry is stored once, for what it applies to, until it expires', async () => {
  const { client } = await world.account()
  const now = new Date((await client.get('/v1/sandbox/clock')).body.now)
  const expires_at = new Date(now.getTime() + 3_600_000).toISOString()
  const entry = { type: 'phone', value: phone, reason: 'Stolen', applies_to: ['payment'], expires_at }
  const first = await client.post('/v1/payments/fraud/blacklist', entry)
  assert.equal(first.status, 201, first.text)
  const { blacklist_id, created, ...shown } = first.body.data
  assert.deepEqual(shown, { ...entry, created_at: shown.created_at })
  assert.deepEqual([created, /^blk_/.test(blacklist_id)], [1, true])
  const second = await client.post('/v1/payments/fraud/blacklist', {
    type: 'phone',
    value: '+254 700 000 001',
    reason: 'Other',
  })
  assert.deepEqual([second.status, second.body.blacklist_id, second.body.reason], [200, blacklist_id, 'Stolen'])
  assert.equal((await client.get(`/v1/payments/fraud/blacklist/${blacklist_id}`)).body.value, phone)
  assert.deepEqual((await client.get('/v1/payments/fraud/blacklist?type=email')).body.data, [])
  assert.equal((await client.get('/v1/payments/fraud/blacklist?type=phone')).body.data.length, 1)
  assert.equal((await check(client, payment)).decision, 'block')
  assert.equal((await check(client, { ...payment, direction: 'payout' })).decision, 'allow')
  await client.post('/v1/sandbox/clock', { advance_seconds: 3_601 })
  assert.equal((await check(client, payment)).decision, 'allow')
  const over = { type: 'phone', value: phone, expires_at: new Date().toISOString() }
  for (const [body, field] of [
    [over, 'expires_at'],
    [{ entries: [over] }, 'entries[0].expires_at'],
  ] as const) {
    const refused = await client.post('/v1/payments/fraud/blacklist', body)
    assert.deepEqual([...refusalOf(refused), refused.body.error.fields[0].field], [422, 'VALIDATION_ERROR', field])
  }
  const renewed = await client.post('/v1/payments/fraud/blacklist', { type: 'phone', value: phone, reason: 'Again' })
  assert.deepEqual([renewed.status, renewed.body.reason, renewed.body.expires_at], [200, 'Again', null])
  assert.equal((await check(client, payment)).decision, 'block')
})

test('a thousand entries at once, or none of them', async () => {
  const { client } = await world.account()
  const many = Array.from({ length: 1_000 }, (_, i) => ({ type: 'phone', value: `+2547110${String(10_000 + i)}` }))
  const bulk = await client.post('/v1/payments/fraud/blacklist', { entries: many })
  assert.deepEqual(
    [bulk.status, bulk.body.created, bulk.body.entries.length],
    [201, 1_000, 1_000],
    bulk.text.slice(0, 300),
  )
  assert.equal(bulk.body.entries[999].value, many[999]?.value)
  const again = await client.post('/v1/payments/fraud/blacklist', {
    entries: [many[3], { type: 'country', value: 'KP' }, many[3]],
  })
  assert.deepEqual([again.status, again.body.created, again.body.entries.length], [201, 1, 3])
  const tooMany = await client.post('/v1/payments/fraud/blacklist', { entries: [...many, many[0]] })
  assert.deepEqual(refusalOf(tooMany), [422, 'VALIDATION_ERROR'])
  const wrong = await client.post('/v1/payments/fraud/blacklist', {
    entries: [
      { type: 'device_id', value: 'x' },
      { type: 'ip', value: 'x' },
    ],
  })
  assert.deepEqual(
    [...refusalOf(wrong), wrong.body.error.fields[0].field],
    [422, 'VALIDATION_ERROR', 'entries[1].value'],
  )
  assert.deepEqual((await client.get('/v1/payments/fraud/blacklist?type=device_id')).body.data, [])
  for (const body of [
    {},
    { type: 'phone' },
    { value: phone },
    { type: 'friend', value: 'x' },
    { type: 'phone', value: '0700' },
    { type: 'card', value: '4242424242424241' },
    { type: 'phone', value: phone, entries: many.slice(0, 1) },
    { type: 'phone', value: phone, applies_to: [] },
    { type: 'phone', value: phone, expires_at: 'soon' },
    { entries: [] },
  ])
    assert.deepEqual(
      refusalOf(await client.post('/v1/payments/fraud/blacklist', body)),
      [422, 'VALIDATION_ERROR'],
      JSON.stringify(body),
    )
  await sql.query('update payments.fraud_policies set entries = 100000 where entries = 1001')
  const full = await client.post('/v1/payments/fraud/blacklist', { type: 'device_id', value: 'one-more' })
  assert.deepEqual(refusalOf(full), [422, 'VALIDATION_ERROR'])
  assert.deepEqual((await client.get('/v1/payments/fraud/blacklist?type=device_id')).body.data, [])
})

test('a rule can look for a value in a list', async () => {
  const { client } = await world.account()
  await client.post('/v1/payments/fraud/blacklist', {
    type: 'email_domain',
    value: 'example.org',
    applies_to: ['payout'],
  })
  await addRule(client, {
    name: 'Referred',
    action: 'review',
    conditions: [{ field: 'metadata.site', operator: 'in_list', value: 'email_domain' }],
  })
  assert.equal((await check(client, { ...payment, metadata: { site: 'Example.ORG' } })).decision, 'review')
  assert.equal((await check(client, { ...payment, metadata: { site: 'example.net' } })).decision, 'allow')
})

test('a rule that is not understood is refused with the path of what is wrong, and not stored', async () => {
  const { client } = await world.account()
  const rule = { name: 'Rule', action: 'block', conditions: [large] }
  const wrong: [body: object, field: string | null][] = [
    [{ ...rule, name: undefined }, 'name'],
    [{ ...rule, name: '' }, 'name'],
    [{ ...rule, action: 'burn' }, 'action'],
    [{ ...rule, action: undefined }, 'action'],
    [{ ...rule, conditions: undefined }, 'conditions'],
    [{ ...rule, conditions: [] }, 'conditions'],
    [{ ...rule, conditions: Array(21).fill(large) }, 'conditions'],
    [{ ...rule, match: 'some' }, 'match'],
    [{ ...rule, score: 101 }, 'score'],
    [{ ...rule, score: -101 }, 'score'],
    [{ ...rule, priority: 10_001 }, 'priority'],
    [{ ...rule, applies_to: ['refund'] }, 'applies_to[0]'],
    [{ ...rule, conditions: [large, { ...large, operator: 'matches' }] }, 'conditions[1].operator'],
    [{ ...rule, conditions: [{ ...large, extra: 1 }] }, 'conditions[0].extra'],
    [
      { ...rule, conditions: [{ match: 'any', conditions: [large, { ...large, value: null }] }] },
      'conditions[0].conditions[1].value',
    ],
    [{ ...rule, conditions: [{ ...large, field: 'colour' }] }, 'conditions[0].field'],
  ]
  for (const [body, field] of wrong) {
    const reply = await client.post('/v1/payments/fraud/rules', body)
    assert.deepEqual(refusalOf(reply), [422, 'VALIDATION_ERROR'], JSON.stringify(body))
    assert.equal(reply.body.error.fields[0].field, field, reply.text)
  }
  assert.deepEqual((await client.get('/v1/payments/fraud/rules')).body.data, [])
  const id = await addRule(client, rule)
  const changed = await client.patch(`/v1/payments/fraud/rules/${id}`, { conditions: [{ ...large, value: 'x' }] })
  assert.equal(changed.body.error.fields[0].field, 'conditions[0].value')
  assert.deepEqual((await client.get(`/v1/payments/fraud/rules/${id}`)).body.conditions, [large])
  for (const body of [
    {},
    { amount: 1 },
    { amount: 0, currency: 'KES' },
    { amount: 1, currency: 'KES', ip_address: 'x' },
    { amount: 1, currency: 'KES', country: 'Kenya' },
    { amount: 1, currency: 'KES', direction: 'up' },
  ])
    assert.deepEqual(
      refusalOf(await client.post('/v1/payments/risk-check', body)),
      [422, 'VALIDATION_ERROR'],
      JSON.stringify(body),
    )
  assert.deepEqual(refusalOf(await client.post('/v1/payments/risk-check', { amount: 1, currency: 'XXX' })), [
    422,
    'UNSUPPORTED_CURRENCY',
  ])
  assert.deepEqual(
    refusalOf(await client.post('/v1/payments/risk-check', { amount: 1, currency: 'KES', phone: '07' })),
    [422, 'INVALID_PHONE'],
  )
  assert.equal((await client.post('/v1/payments/risk-check', { payment_id: 'pay_x' })).status, 404)
})

test('an account has at most 1,000 rules, which count at most 50 velocities', async () => {
  const { client } = await world.account()
  const rule = (n: number) => ({
    name: `Rule ${n}`,
    action: 'review',
    conditions: [
      { velocity: { metric: 'count', by: ['phone', `metadata.m${n}`], window: '1h' }, operator: 'gt', value: 5 },
    ],
  })
  await Promise.all(Array.from({ length: 50 }, (_, n) => addRule(client, rule(n))))
  const oneMore = await client.post('/v1/payments/fraud/rules', rule(50))
  assert.deepEqual(refusalOf(oneMore), [422, 'VALIDATION_ERROR'])
  await addRule(client, rule(49))
  await sql.query('update payments.fraud_policies set rules = 999 where rules = 51')
  await addRule(client, { name: 'The last', action: 'block', conditions: [large] })
  const last = await client.post('/v1/payments/fraud/rules', { name: 'Too many', action: 'block', conditions: [large] })
  assert.deepEqual(refusalOf(last), [422, 'VALIDATION_ERROR'])
  const page = (await client.get('/v1/payments/fraud/rules?limit=20')).body
  assert.deepEqual([page.data.length, page.has_more], [20, true])
})

test('a rule is held against what was checked before', async () => {
  const { client } = await world.account()
  await client.post('/v1/payments/fraud/blacklist', { type: 'phone', value: '+254700000101' })
  for (const [amount, from] of [
    [100, phone],
    [6000, phone],
    [7000, phone],
    [8000, '+254700000101'],
  ] as const)
    await client.post('/v1/payments?wait=0', { ...payment, amount, phone: from })
  const velocity = { metric: 'count', by: ['phone'], window: '2d' }
  const id = await addRule(client, { name: 'Large', action: 'block', conditions: [large] })
  const unknown = await addRule(client, {
    name: 'Often',
    action: 'block',
    conditions: [{ velocity, operator: 'gt', value: 0 }],
  })
  const hold = (rule: string, body = {}) => client.post(`/v1/payments/fraud/rules/${rule}/backtest`, body)
  const { status, body } = await hold(id)
  assert.equal(status, 200)
  assert.deepEqual([body.checked, body.matched, body.changed, body.unknown_velocity, body.complete], [4, 3, 2, 0, true])
  assert.deepEqual(body.decisions, { allow: 2, review: 0, require_3ds: 0, block: 1 })
  assert.match(body.samples[0], /^rsk_/)
  const other = (await hold(unknown)).body
  assert.deepEqual([other.checked, other.matched, other.unknown_velocity], [4, 0, 4])
  assert.equal((await hold(id, { start_date: '2020-01-01', end_date: '2020-01-31' })).body.checked, 0)
  for (const range of [{ start_date: 'x' }, { start_date: '2026-02-02', end_date: '2026-02-01' }])
    assert.deepEqual(refusalOf(await hold(id, range)), [400, 'INVALID_DATE_RANGE'])
  assert.equal((await hold('frl_x')).status, 404)
})

test('the days that a rule is held against are those of the account’s clock', async () => {
  const { client } = await world.account()
  await client.post('/v1/payments?wait=0', payment)
  await client.post('/v1/sandbox/clock', { advance_seconds: 10 * 86_400 })
  const later = await client.post('/v1/payments?wait=0', payment)
  const rule = await addRule(client, { name: 'Large', action: 'block', conditions: [large] })
  const checked = async (range: object) =>
    (await client.post(`/v1/payments/fraud/rules/${rule}/backtest`, range)).body.checked
  const day = later.body.created_at.slice(0, 10)
  assert.deepEqual([await checked({ start_date: day }), await checked({ end_date: day }), await checked({})], [1, 2, 2])
})

test('a payment by bank that there is already is looked for on the blacklist by its account', async () => {
  const { client } = await world.account()
  const bank = { bank_code: '999', account_number: '0112230001', account_name: 'Asha' }
  const { body: paid } = await client.post('/v1/payments?wait=0', { amount: 100, currency: 'KES', bank })
  const blocked = { type: 'bank_account', value: bank.account_number }
  assert.equal((await client.post('/v1/payments/fraud/blacklist', blocked)).status, 201)
  const now = await check(client, { payment_id: paid.payment_id })
  assert.deepEqual([now.decision, now.blacklist_hits.length], ['block', 1])
})

test('one account’s rules, lists and counts are not another’s, and test is not live', async () => {
  const { client: ada } = await world.account()
  const { client: eve } = await world.account()
  const velocity = { metric: 'count', by: ['phone'], window: '1d' }
  const often = { name: 'Often', action: 'block', conditions: [{ velocity, operator: 'gt', value: 1 }] }
  const id = await addRule(ada, often)
  await addRule(eve, often)
  await ada.post('/v1/payments/fraud/blacklist', { type: 'phone', value: '+254700000101' })
  const pay = async (client: Client, from = phone) =>
    (await client.post('/v1/payments?wait=0', { ...payment, phone: from })).status
  assert.deepEqual(
    [await pay(ada), await pay(eve), await pay(ada), await pay(eve, '+254700000101')],
    [201, 201, 403, 201],
  )
  for (const path of [`/v1/payments/fraud/rules/${id}`]) {
    assert.equal((await eve.get(path)).status, 404)
    assert.equal((await eve.patch(path, { enabled: false })).status, 404)
    assert.equal((await eve.delete(path)).status, 404)
  }
  const { body } = await ada.post('/v1/api-keys', { name: 'live', environment: 'live' })
  const live = world.stranger.as(body.key)
  assert.deepEqual((await live.get('/v1/payments/fraud/rules')).body.data, [])
  assert.equal((await check(live, { ...payment, phone: '+254700000101' })).decision, 'allow')
})

test('who removes a rule or an entry while others are changed waits for them, and keeps nobody waiting', async () => {
  const { client, id } = await world.account()
  const account = [uuidOf('account', id)]
  const rule = await addRule(client, { name: 'Large', action: 'block', conditions: [large] })
  const { body: entry } = await client.post('/v1/payments/fraud/blacklist', { type: 'phone', value: phone })
  for (const [path, table] of [
    [`rules/${rule}`, 'fraud_rules'],
    [`blacklist/${entry.blacklist_id}`, 'blacklist'],
  ]) {
    // As whoever changes one does: first all of them, then the one.
    await sql.query('begin')
    await sql.query('select from payments.fraud_policies where account_id = $1 for update', account)
    const removed = client.delete(`/v1/payments/fraud/${path}`)
    try {
      const waiting = 'select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))'
      await eventually(async () => (await sql.query(waiting)).rows.length > 0, 'the other to wait')
      await sql.query(`select from payments.${table} where account_id = $1 for update nowait`, account)
    } finally {
      await sql.query('commit')
    }
    assert.equal((await removed).status, 200)
  }
})

test('a key needs the scope of rules', async () => {
  const { client } = await world.account()
  const { body: reader } = await client.post('/v1/api-keys', { name: 'reader', scopes: ['fraud:read'] })
  const narrow = world.stranger.as(reader.key)
  assert.equal((await narrow.get('/v1/payments/fraud/rules')).status, 200)
  const refused = await narrow.post('/v1/payments/fraud/rules', { name: 'x', action: 'block', conditions: [large] })
  assert.deepEqual([...refusalOf(refused), refused.body.error.required_scope], [403, 'FORBIDDEN', 'fraud:write'])
})

test('rows that no window reaches any more are forgotten', async () => {
  const { client } = await world.account()
  await client.post('/v1/payments?wait=0', payment)
  const rows = async () =>
    (await sql.query<{ n: number }>('select count(*)::int as n from payments.velocity')).rows[0]?.n
  assert.ok(Number(await rows()) > 0)
  await forgetOld(world.app, world.app.clock.nowMs())
  assert.ok(Number(await rows()) > 0)
  await forgetOld(world.app, world.app.clock.nowMs() + 100 * 86_400_000)
  assert.equal(await rows(), 0)
})

async function addRule(client: Client, rule: object): Promise<string> {
  const { status, body, text } = await client.post('/v1/payments/fraud/rules', rule)
  assert.equal(status, 201, text)
  return body.rule_id
}

async function check(client: Client, body: object) {
  const reply = await client.post('/v1/payments/risk-check', body)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

function refusalOf({ status, body }: Reply): [number, string] {
  return [status, body.error?.code]
}

async function eventsOf(client: Client, id: string): Promise<string[]> {
  const { data } = (await client.get(`/v1/events?limit=50`)).body
  return data
    .filter(({ payload }: { payload: { payment_id: string } }) => payload.payment_id === id)
    .map(({ event, payload }: { event: string; payload: { sequence: number } }) => `${event} ${payload.sequence}`)
    .sort()
}
