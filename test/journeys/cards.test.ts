// SPDX-License-Identifier: Apache-2.0
// A card payment from the request to the wallet, over the acquirer's real protocol: every card of the sandbox's table,
// 3-D Secure as a payer's browser sees it, money that is set aside and captured, and cards that are saved.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { simulatedAccounts } from '../../src/areas/payments/gateway/simulated.ts'
import { callbackUrl } from '../../src/areas/payments/records/callback-address.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { signNotice } from '../../src/protocols/acquirer.ts'
import { charged, intentOf } from '../acquirer.ts'
import { startMarket } from '../market.ts'
import { hookOf, settled } from '../paying.ts'
import { eventually, tenantOf } from '../world.ts'

// Slow enough that a payer who goes to its bank is not too late.
const { world, sql, receiver } = await startMarket(0.1)

const good = { exp_month: 12, exp_year: 2040, cvv: '123' }
const visa = { number: '4242424242424242', ...good }
const order = { amount: 1_000, currency: 'KES' }

test('a card payment reaches the wallet at once, and shows nothing of the card but its end', async () => {
  const { client } = await world.account()
  const paid = await client.post('/v1/payments', { ...order, method: 'card', card: visa, reference: 'c-1' })
  assert.equal(paid.status, 201, paid.text)
  assert.deepEqual(
    [paid.body.status, paid.body.method, paid.body.provider, paid.body.fee, paid.body.net_amount, paid.body.phone],
    ['completed', 'card', 'acquirer', 29, 971, null],
  )
  assert.deepEqual(paid.body.card, { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2040 })
  assert.doesNotMatch(paid.text, /4242424242424242|"123"/)
  assert.equal(await walletGot(paid.body.payment_id), 971)
  assert.equal((await client.get(`/v1/payments/mobile/${paid.body.payment_id}`)).status, 404)
  assert.ok(((await charged(world)).kes ?? 0) >= 100_000)
  const { rows } = await sql.query(
    `select c.bin, c.last4, c.fingerprint from payments.cards c where c.payment_id = $1`,
    [uuidOf('payment', paid.body.payment_id)],
  )
  assert.deepEqual([rows[0].bin, rows[0].last4, rows[0].fingerprint.length], ['424242', '4242', 32])
  const told = (await client.get('/v1/events')).body.data.map(({ event }: { event: string }) => event)
  assert.deepEqual(told, ['payment.completed', 'payment.created'])
})

test('a card of high risk pays and is looked at, one of very high risk is blocked before anybody is asked', async () => {
  const { client } = await world.account()
  const high = await client.post('/v1/payments', { ...order, card: { number: '4000000000009235', ...good } })
  assert.deepEqual([high.status, high.body.status, high.body.risk.decision], [201, 'completed', 'review'], high.text)
  assert.equal(high.body.risk.risk_level, 'high')
  const blocked = await client.post('/v1/payments', { ...order, card: { number: '4000000000004954', ...good } })
  assert.deepEqual([blocked.status, blocked.body.error.code], [403, 'PAYMENT_BLOCKED'], blocked.text)
  const { body } = await client.get(`/v1/payments/${blocked.body.error.payment_id}`)
  assert.deepEqual([body.status, body.failure_reason, body.risk.risk_level], ['failed', 'BLOCKED_BY_RULE', 'very_high'])
})

test('a rule may demand that a card is proved', async () => {
  const { client } = await world.account()
  const rule = {
    name: 'Prove it',
    action: 'require_3ds',
    conditions: [{ field: 'amount', operator: 'gte', value: 500 }],
  }
  assert.equal((await client.post('/v1/payments/fraud/rules', rule)).status, 201)
  const paid = await client.post('/v1/payments', { ...order, card: { number: '4242424242424242', ...good } })
  assert.deepEqual([paid.status, paid.body.status], [201, 'requires_action'], paid.text)
})

test('nobody can prove a saved card: a rule that demands it makes a review, and a request that does is refused', async () => {
  const { client } = await world.account()
  const { body: first } = await client.post('/v1/payments', { ...order, card: visa, save_card: true })
  const rule = {
    name: 'Prove it',
    action: 'require_3ds',
    conditions: [{ field: 'amount', operator: 'gte', value: 500 }],
  }
  const { body: added } = await client.post('/v1/payments/fraud/rules', rule)
  const asked = { ...order, card_token: first.card_token }
  const { body: paid } = await client.post('/v1/payments', asked)
  assert.deepEqual([paid.status, paid.risk.decision, paid.risk.rule_id], ['completed', 'review', added.rule_id])
  const told = (await client.get('/v1/events')).body.data.map(({ event }: { event: string }) => event)
  assert.ok(told.includes('fraud.review_required'), told.join())
  for (const question of [asked, { payment_id: paid.payment_id }]) {
    const { body: check } = await client.post('/v1/payments/risk-check', question)
    assert.equal(check.decision, 'review', JSON.stringify(question))
  }
  const brought = await client.post('/v1/payments/risk-check', { payment_id: first.payment_id })
  assert.equal(brought.body.decision, 'require_3ds')
  const refused = await client.post('/v1/payments', { ...asked, amount: 10, require_3ds: true })
  assert.deepEqual([refused.status, refused.body.error.fields[0].field], [422, 'require_3ds'], refused.text)
  assert.equal((await client.post('/v1/payments', { ...asked, amount: 10, require_3ds: false })).status, 201)
})

for (const number of [
  '4242424242424242',
  '5555555555554444',
  '5061460410120223210',
  '378282246310005',
  '4000000000000119',
  '4000000000007726',
  '4000000000005126',
  '4000000000000259',
  '4242 4242 4242 4242',
])
  test(`the card ${number} pays, and is charged once`, async () => {
    const { client } = await world.account()
    const paid = await client.post('/v1/payments', { ...order, card: { number, ...good } })
    assert.deepEqual([paid.status, paid.body.status], [201, 'completed'], paid.text)
    assert.equal(await walletGot(paid.body.payment_id), 971)
  })

const refusals = {
  '4000000000000002': 'CARD_DECLINED',
  '4000000000009995': 'INSUFFICIENT_FUNDS',
  '4000000000000069': 'CARD_EXPIRED',
  '4000000000000127': 'INCORRECT_CVV',
}
for (const [number, code] of Object.entries(refusals))
  test(`the card ${number} is refused with ${code}, and the same key hears the same again`, async () => {
    const { client } = await world.account()
    const body = { ...order, card: { number, ...good } }
    const headers = { 'Idempotency-Key': 'once' }
    const refused = await client.post('/v1/payments', body, { headers })
    assert.deepEqual([refused.status, refused.body.error.code], [402, code], refused.text)
    const { body: stored } = await client.get(`/v1/payments/${refused.body.error.payment_id}`)
    assert.deepEqual([stored.status, stored.failure_reason, stored.failure_message === null], ['failed', code, false])
    const again = await client.post('/v1/payments', body, { headers })
    assert.deepEqual([again.status, again.text, again.headers['idempotent-replayed']], [402, refused.text, 'true'])
    assert.equal(await walletGot(stored.payment_id), 0)
    const told = (await client.get('/v1/events')).body.data.map(({ event }: { event: string }) => event)
    assert.deepEqual(told, ['payment.failed', 'payment.created'])
  })

test('an acquirer that takes nothing is told at once, and nothing was charged', async () => {
  const { client } = await world.account()
  const refused = await client.post('/v1/payments', { ...order, card: { number: '4000000000000333', ...good } })
  assert.deepEqual([refused.status, refused.body.error.code], [503, 'PROVIDER_UNAVAILABLE'], refused.text)
})

test('a connection that is cut leaves it open what came of it, until the acquirer is asked', async () => {
  const { client } = await world.account()
  const asked = await client.post('/v1/payments', { ...order, card: { number: '4000000000000341', ...good } })
  assert.deepEqual([asked.status, asked.body.status], [201, 'pending'], asked.text)
  const paid = await settled(client, asked.body.payment_id)
  assert.deepEqual([paid.status, paid.late], ['completed', false])
  assert.equal(await walletGot(paid.payment_id), 971)
})

test('a capture whose answer is lost is looked after', async () => {
  const { client } = await world.account()
  const number = '4000000000000341'
  const { body: asked } = await client.post('/v1/payments', { ...order, card: { number, ...good }, capture: false })
  await eventually(
    async () => (await client.get(`/v1/payments/${asked.payment_id}`)).body.authorised_until,
    'the money to be set aside',
  )
  const captured = await client.post(`/v1/payments/${asked.payment_id}/capture`, { amount: 250 })
  assert.deepEqual([captured.status, captured.body.status], [200, 'processing'], captured.text)
  assert.equal(captured.body.authorised_until, undefined)
  assert.equal((await client.post(`/v1/payments/${asked.payment_id}/cancel`)).status, 409, 'it may be ours already')
  const paid = await settled(client, asked.payment_id)
  assert.deepEqual([paid.status, paid.amount], ['completed', 250])
})

const challenges: [number: string, decision: string, status: string, reason: string | null][] = [
  ['4000000000003220', 'approve', 'completed', null],
  ['4000000000003220', 'fail', 'failed', 'AUTHENTICATION_FAILED'],
  ['4000000000003220', 'abandon', 'failed', 'AUTHENTICATION_FAILED'],
  ['4000002760003184', 'approve', 'completed', null],
  ['4000008400001629', 'approve', 'failed', 'CARD_DECLINED'],
]
for (const [number, decision, status, reason] of challenges)
  test(`a payer with ${number} goes to its bank: ${decision} makes it ${status}`, async () => {
    const { client } = await world.account()
    const { body: signing } = await client.get('/v1/webhooks/callback-secret')
    const asked = await client.post('/v1/payments', {
      ...order,
      card: { number, ...good },
      return_url: 'https://shop.example/done?cart=7',
    })
    assert.deepEqual([asked.status, asked.body.status], [201, 'requires_action'], asked.text)
    const page = await browse('GET', asked.body.redirect_url)
    assert.equal(page.status, 200)
    assert.match(page.text, /ends in \d{4}.*KES\u00a01,000\.00/s)
    for (const word of ['Approve', 'Fail', 'Abandon']) assert.ok(page.text.includes(`>${word}<`))
    const landed = await browse('POST', asked.body.redirect_url, `decision=${decision}`)
    assert.equal(landed.status, 303, landed.text)
    const url = new URL(landed.location)
    const id = asked.body.payment_id
    assert.deepEqual(
      [url.origin, url.searchParams.get('cart'), url.searchParams.get('payment_id'), url.searchParams.get('status')],
      ['https://shop.example', '7', id, status],
    )
    assert.equal(
      url.searchParams.get('sig'),
      createHmac('sha256', signing.secret).update(`${id}.${status}`).digest('hex'),
    )
    const { body: payment } = await client.get(`/v1/payments/${id}`)
    assert.deepEqual([payment.status, payment.failure_reason, payment.redirect_url], [status, reason, undefined])
    assert.equal(await walletGot(id), status === 'completed' ? 971 : 0)
    assert.equal((await browse('GET', asked.body.redirect_url)).status, 410, 'the page is used once')
    assert.equal((await browse('POST', asked.body.redirect_url, 'decision=approve')).status, 410)
    const { data } = (await client.get('/v1/events')).body
    const last = status === 'completed' ? 'payment.completed' : 'payment.failed'
    assert.deepEqual(
      data.map(({ event }: { event: string }) => event),
      [last, 'payment.requires_action', 'payment.created'],
    )
  })

test('any card can be made to prove its owner, and without a return_url the payer ends on the receipt', async () => {
  const { client } = await world.account()
  const asked = await client.post('/v1/payments', { ...order, card: visa, require_3ds: true })
  assert.equal(asked.body.status, 'requires_action', asked.text)
  assert.equal((await browse('POST', asked.body.redirect_url, 'decision=maybe')).status, 400)
  const ended = await browse('POST', asked.body.redirect_url, 'decision=approve')
  const { body: paid } = await client.get(`/v1/payments/${asked.body.payment_id}`)
  assert.deepEqual([ended.status, ended.location, paid.status], [303, paid.receipt_url, 'completed'])
  assert.match((await browse('GET', paid.receipt_url)).text, /Receipt/)
  assert.equal((await browse('GET', `${world.node.url}/go/nonsense`)).status, 404)
  assert.equal((await browse('GET', `${asked.body.redirect_url.slice(0, -4)}AAAA`)).status, 404)
})

test('the page has its time, and a real bank is somewhere else', async () => {
  const { client } = await world.account()
  const challenged = async () => {
    const body = { ...order, card: { number: '4000000000003220', ...good }, return_url: 'https://shop.example/' }
    return (await client.post('/v1/payments', body)).body
  }
  const late = await challenged()
  const past = `update payments.payments set expires_at = expires_at - interval '15 minutes' where id = $1`
  await sql.query(past, [uuidOf('payment', late.payment_id)])
  for (const method of ['GET', 'POST'])
    assert.equal((await browse(method, late.redirect_url, 'decision=approve')).status, 410)
  const real = await challenged()
  const id = uuidOf('payment', real.payment_id)
  const { rows } = await sql.query(`select details->>'page_url' as page_url from payments.payments where id = $1`, [id])
  await sql.query(
    `update payments.payments set details = details || '{"page_url": "https://bank.example/acs"}' where id = $1`,
    [id],
  )
  const sentOn = await browse('GET', real.redirect_url)
  assert.deepEqual([sentOn.status, sentOn.location], [302, 'https://bank.example/acs'])
  assert.equal((await browse('POST', real.redirect_url, 'decision=approve')).status, 410, 'nobody decides here')
  const early = await browse('GET', `${real.redirect_url}/return`)
  assert.match(early.location, /status=requires_action/, 'a browser that comes back proves nothing')
  await fetch(rows[0].page_url, { method: 'POST', body: '{"decision":"approve"}' })
  const back = await browse('GET', `${real.redirect_url}/return`)
  assert.deepEqual([back.status, new URL(back.location).searchParams.get('status')], [303, 'completed'])
})

test('two who decide at once: one of them does', async () => {
  const { client } = await world.account()
  const asked = await client.post('/v1/payments', { ...order, card: { number: '4000000000003220', ...good } })
  const answers = await Promise.all(
    ['approve', 'fail', 'approve', 'abandon'].map((word) =>
      browse('POST', asked.body.redirect_url, `decision=${word}`),
    ),
  )
  const taken = answers.map(({ status }) => status).filter((status) => status !== 410)
  // Whoever approved is sent to the receipt, whoever did not is told so.
  assert.ok(taken.length === 1 && [200, 303].includes(taken[0] ?? 0), taken.join())
})

test('the acquirer tells what the payer did, and nobody else can', async () => {
  const { client } = await world.account()
  const asked = await client.post('/v1/payments', { ...order, card: { number: '4000000000003220', ...good } })
  const { rows } = await sql.query(`select details->>'page_url' as page_url from payments.payments where id = $1`, [
    uuidOf('payment', asked.body.payment_id),
  ])
  const hook = `${world.node.url}${await hookOf(world.app, sql, asked.body.payment_id)}`
  for (const signature of ['', 't=1,v1=00', `t=${Math.floor(Date.now() / 1_000)},v1=${'0'.repeat(64)}`]) {
    const forged = await browse('POST', hook, '{"type":"payment_intent.succeeded"}', {
      'acquirer-signature': signature,
    })
    assert.equal(forged.status, 404)
  }
  assert.equal((await client.get(`/v1/payments/${asked.body.payment_id}`)).body.status, 'requires_action')
  // The payer's browser never comes back.
  await fetch(rows[0].page_url, { method: 'POST', body: '{"decision":"approve"}' })
  assert.equal((await settled(client, asked.body.payment_id)).status, 'completed')
})

test('a payment whose payer has not decided can be withdrawn, and the acquirer is told', async () => {
  const { client } = await world.account()
  const asked = await client.post('/v1/payments', { ...order, card: { number: '4000000000003220', ...good } })
  const id = asked.body.payment_id
  const cancelled = await client.post(`/v1/payments/${id}/cancel`)
  assert.deepEqual([cancelled.status, cancelled.body.status], [200, 'cancelled'], cancelled.text)
  assert.equal((await intentOf(world, id))?.status, 'canceled')
  assert.equal((await browse('POST', asked.body.redirect_url, 'decision=approve')).status, 410)
  const again = await client.post(`/v1/payments/${id}/cancel`)
  assert.deepEqual([again.status, again.body.error.code], [409, 'INVALID_STATE'])
})

test('money that is set aside is captured, all of it or less, once', async () => {
  const { client } = await world.account()
  const set = async () => {
    const { body } = await client.post('/v1/payments', { ...order, card: visa, capture: false })
    assert.equal(body.status, 'processing')
    assert.ok(Date.parse(body.authorised_until) > Date.parse(body.created_at))
    assert.equal(await walletGot(body.payment_id), 0)
    return body.payment_id
  }
  const whole = await set()
  const captured = await client.post(`/v1/payments/${whole}/capture`)
  assert.deepEqual(
    [captured.status, captured.body.status, captured.body.amount],
    [200, 'completed', 1_000],
    captured.text,
  )
  assert.equal(await walletGot(whole), 971)
  const part = await set()
  for (const [amount, status, code] of [
    [1_000.01, 422, 'AMOUNT_TOO_HIGH'],
    [0, 422, 'VALIDATION_ERROR'],
    ['x', 422, 'VALIDATION_ERROR'],
  ] as const) {
    const refused = await client.post(`/v1/payments/${part}/capture`, { amount })
    assert.deepEqual([refused.status, refused.body.error.code], [status, code], refused.text)
  }
  const partly = await client.post(`/v1/payments/${part}/capture`, { amount: 400 })
  assert.deepEqual(
    [partly.body.status, partly.body.amount, partly.body.fee, partly.body.amount_authorised],
    ['completed', 400, 11.6, 1_000],
    partly.text,
  )
  assert.equal(await walletGot(part), 388.4)
  const intent = await intentOf(world, part)
  assert.deepEqual([intent?.status, intent?.amount_received], ['succeeded', 40_000])
  for (const id of [whole, part]) {
    const again = await client.post(`/v1/payments/${id}/capture`)
    assert.deepEqual(
      [again.status, again.body.error.code, again.body.error.status],
      [409, 'INVALID_STATE', 'completed'],
    )
  }
  const { body: plain } = await client.post('/v1/payments', { ...order, card: visa })
  assert.equal((await client.post(`/v1/payments/${plain.payment_id}/capture`)).status, 409)
})

test('what is captured costs what it was accepted with, a part of it that part', async () => {
  const { client, id } = await world.account()
  const price = (unit: string, amount: number) =>
    world.operator.post('/v1/operator/prices', { area: 'payments', unit, amount, currency: 'KES', account_id: id })
  /** Money that is set aside for this fee, once the price is in force. */
  const set = (fee: number): Promise<string> =>
    eventually(async () => {
      const { body } = await client.post('/v1/payments', { ...order, card: visa, capture: false })
      return body.fee === fee && body.payment_id
    }, 'the price to be in force')
  assert.equal((await price('card.fixed', 5)).status, 201)
  const [whole, half, odd] = [await set(34), await set(34), await set(34)]
  assert.equal((await price('card.percent', 10)).status, 201)
  await set(105)
  const rows: [id: string, amount: number, fee: number][] = [
    [whole, 1_000, 34],
    [half, 500, 17],
    [odd, 333.33, 11.33],
  ]
  for (const [id, amount, fee] of rows) {
    const { body, text } = await client.post(`/v1/payments/${id}/capture`, { amount })
    assert.deepEqual([body.status, body.amount, body.fee], ['completed', amount, fee], text)
    assert.equal(await walletGot(id), amount - fee)
  }
})

test('captures at once capture once', async () => {
  const { client } = await world.account()
  const { body } = await client.post('/v1/payments', { ...order, card: visa, capture: false })
  const answers = await Promise.all(
    [100, 200, 300, 400].map((amount) => client.post(`/v1/payments/${body.payment_id}/capture`, { amount })),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409])
  const won = answers.find(({ status }) => status === 200)
  const intent = await intentOf(world, body.payment_id)
  assert.equal(intent?.amount_received, (won?.body.amount ?? 0) * 100)
})

test('money that is set aside can be given up, and with 3-D Secure is set aside when the payer agreed', async () => {
  const { client } = await world.account()
  const number = '4000000000003220'
  const asked = await client.post('/v1/payments', { ...order, card: { number, ...good }, capture: false })
  await browse('POST', asked.body.redirect_url, 'decision=approve')
  const id = asked.body.payment_id
  const { body: held } = await client.get(`/v1/payments/${id}`)
  assert.equal(held.status, 'processing')
  assert.ok(held.authorised_until)
  const cancelled = await client.post(`/v1/payments/${id}/cancel`)
  assert.deepEqual(
    [cancelled.status, cancelled.body.status, cancelled.body.authorised_until],
    [200, 'cancelled', undefined],
  )
  assert.equal((await intentOf(world, id))?.status, 'canceled')
  assert.equal((await client.post(`/v1/payments/${id}/capture`)).status, 409)
  assert.equal(await walletGot(id), 0)
})

test('money stays set aside for seven days by the clock of the sandbox', async () => {
  const { client } = await world.account()
  const set = async () => (await client.post('/v1/payments', { ...order, card: visa, capture: false })).body
  const advance = async (seconds: number) =>
    assert.equal((await client.post('/v1/sandbox/clock', { advance_seconds: seconds })).status, 200)
  const body = await set()
  const days = (Date.parse(body.authorised_until) - Date.parse(body.created_at)) / 86_400_000
  assert.ok(days >= 7 && days < 7.1, `${days}`)
  await advance(6 * 86_400 + 23 * 3_600)
  const captured = await client.post(`/v1/payments/${body.payment_id}/capture`)
  assert.deepEqual([captured.status, captured.body.status], [200, 'completed'], captured.text)
  const left = await set()
  await advance(7 * 86_400 + 1)
  const late = await client.post(`/v1/payments/${left.payment_id}/capture`)
  assert.deepEqual([late.status, late.body.error?.code], [409, 'INVALID_STATE'], late.text)
  await eventually(async () => {
    await advance(3_600)
    return (await client.get(`/v1/payments/${left.payment_id}`)).body.status === 'expired'
  }, 'the other to be given up')
})

test('money that nobody captures is given up when its time is over', async () => {
  const { client } = await world.account()
  const { body } = await client.post('/v1/payments', { ...order, card: visa, capture: false })
  const id = uuidOf('payment', body.payment_id)
  await sql.query(`update payments.payments set expires_at = now() - interval '1 hour' where id = $1`, [id])
  // The job sleeps until then: it is woken whenever it has gone to sleep.
  const wake = `update work.jobs set run_at = now() where run_at > now() + interval '1 hour' and payload->>'attempt' =
    (select a.id::text from payments.attempts a where a.payment_id = $1)`
  const over = await eventually(async () => {
    await sql.query(wake, [id])
    const { body: now } = await client.get(`/v1/payments/${body.payment_id}`)
    return now.status === 'expired' && now
  }, 'the payment to be given up')
  assert.deepEqual([over.failure_reason, over.authorised_until], ['TRANSACTION_TIMEOUT', undefined])
  await eventually(
    async () => (await intentOf(world, body.payment_id))?.status === 'canceled',
    'the acquirer to be told',
  )
  assert.equal((await client.post(`/v1/payments/${body.payment_id}/capture`)).status, 409)
})

test('a saved card is charged without the payer, listed and forgotten', async () => {
  const { client } = await world.account()
  const stranger = await world.account()
  const customer = { name: 'Asha', customer_id: 'c-9' }
  const first = await client.post('/v1/payments', { ...order, card: visa, save_card: true, customer })
  const { card_token } = first.body
  assert.match(card_token, /^tok_/)
  const again = await client.post('/v1/payments', { ...order, card_token })
  assert.deepEqual([again.status, again.body.status, again.body.card.last4], [201, 'completed', '4242'], again.text)
  const { data } = (await client.get('/v1/payments/cards?customer_id=c-9')).body
  assert.deepEqual(
    data.map((one: Record<string, unknown>) => [one.card_token, one.brand, one.last4, one.exp_year]),
    [[card_token, 'visa', '4242', 2040]],
  )
  assert.equal((await client.get('/v1/payments/cards?customer_id=c-8')).body.data.length, 0)
  const stolen = await stranger.client.post('/v1/payments', { ...order, card_token })
  assert.deepEqual([stolen.status, stolen.body.error.code], [422, 'INVALID_CARD'])
  assert.equal((await client.delete(`/v1/payments/cards/${card_token}`)).status, 200)
  assert.equal((await client.delete(`/v1/payments/cards/${card_token}`)).status, 404)
  assert.equal((await client.post('/v1/payments', { ...order, card_token })).status, 422)
  const declined = { number: '4000000000000002', ...good }
  await client.post('/v1/payments', { ...order, card: declined, save_card: true })
  assert.equal((await client.get('/v1/payments/cards')).body.data.length, 0, 'a card that did not pay is not saved')
})

test('a card that was forgotten stays so when the acquirer tells of its payment again', async () => {
  const { client, id } = await world.account()
  const { body } = await client.post('/v1/payments', { ...order, card: visa, save_card: true })
  const saved = async () => (await client.get('/v1/payments/cards')).body.data.length
  assert.equal(await saved(), 1)
  const { rows } = await sql.query('select id, token from payments.attempts where payment_id = $1', [
    uuidOf('payment', body.payment_id),
  ])
  const hook = callbackUrl(world.app, tenantOf({ id }), rows[0])
  const text = '{"type":"payment_intent.succeeded"}'
  const { webhook_secret = '' } = simulatedAccounts(world.app).acquirer ?? {}
  const repeat = async () => {
    const signature = signNotice(webhook_secret, text, Math.floor(Date.now() / 1_000))
    return (await browse('POST', hook, text, { 'acquirer-signature': signature })).status
  }
  assert.equal(await repeat(), 200)
  assert.equal(await saved(), 1)
  assert.equal((await client.delete(`/v1/payments/cards/${body.card_token}`)).status, 200)
  assert.equal(await repeat(), 200)
  assert.equal(await saved(), 0)
})

test('a wallet is filled by card, without a fee', async () => {
  const { client } = await world.account()
  const filled = await client.post('/v1/wallet/topup', { amount: 500, card: visa })
  assert.deepEqual([filled.status, filled.body.status, filled.body.new_balance], [201, 'completed', 500], filled.text)
})

test('what is no card is refused with a code, and nothing is stored', async () => {
  const { client } = await world.account()
  const rows: [body: object, status: number, code: string][] = [
    [{ card: { ...visa, number: '4242424242424241' } }, 422, 'INVALID_CARD'],
    [{ card: { ...visa, number: '42424242' } }, 422, 'INVALID_CARD'],
    [{ card: { ...visa, number: 4242424242424242 } }, 422, 'INVALID_CARD'],
    [{ card: { ...visa, number: '6011111111111117' } }, 422, 'INVALID_CARD'],
    [{ card: { ...visa, number: '4111111111111111' } }, 422, 'INVALID_CARD'],
    [{ card: { ...visa, exp_month: 13 } }, 422, 'INVALID_CARD'],
    [{ card: { ...visa, exp_year: 2020 } }, 422, 'INVALID_CARD'],
    [{ card: { ...visa, exp_year: 20 } }, 422, 'INVALID_CARD'],
    [{ card: { ...visa, cvv: '12' } }, 422, 'INVALID_CARD'],
    [{ card: { number: visa.number, exp_month: 12, exp_year: 40 } }, 422, 'INVALID_CARD'],
    [{ card: { ...visa, pin: '1234' } }, 422, 'VALIDATION_ERROR'],
    [{ card: {} }, 422, 'VALIDATION_ERROR'],
    [{ card: 'x' }, 422, 'VALIDATION_ERROR'],
    [{ method: 'card' }, 422, 'VALIDATION_ERROR'],
    [{ method: 'mobile_money', phone: '+254700000001', card: visa }, 422, 'VALIDATION_ERROR'],
    [{ card_token: 'tok_nonsense' }, 422, 'INVALID_CARD'],
    [{ card: visa, amount: 0.5 }, 422, 'AMOUNT_TOO_LOW'],
    [{ card: visa, amount: 2_500_001 }, 422, 'AMOUNT_TOO_HIGH'],
    [{ card: visa, return_url: 'http://shop.example/' }, 400, 'INVALID_URL'],
    [{ card: visa, return_url: 'javascript:alert(1)' }, 400, 'INVALID_URL'],
    [{ card: visa, return_url: 'https://a:b@shop.example/' }, 400, 'INVALID_URL'],
    [{ card: visa, description: `my card is ${visa.number}` }, 422, 'VALIDATION_ERROR'],
    [{ card: visa, metadata: { note: '4242 4242 4242 4242' } }, 422, 'VALIDATION_ERROR'],
    [{ card: visa, metadata: { note: 4242424242424242 } }, 422, 'VALIDATION_ERROR'],
    [{ card: visa, metadata: { '4242424242424242': 'x' } }, 422, 'VALIDATION_ERROR'],
    [{ card: visa, customer: { name: visa.number } }, 422, 'VALIDATION_ERROR'],
    [
      { card: visa, metadata: { note: 'x'.repeat(500), more: 'y'.repeat(500) }, description: 'z'.repeat(20_000) },
      413,
      'PAYLOAD_TOO_LARGE',
    ],
  ]
  for (const [body, status, code] of rows) {
    const refused = await client.post('/v1/payments', { ...order, ...body })
    assert.deepEqual(
      [refused.status, refused.body.error?.code],
      [status, code],
      `${JSON.stringify(body)}: ${refused.text}`,
    )
    assert.doesNotMatch(refused.text, /\d{13}/)
  }
  for (const card of [
    { ...visa, exp_year: 40 },
    { number: visa.number, exp_month: 1, exp_year: 2041, cvc: '1234' },
  ])
    assert.equal((await client.post('/v1/payments', { ...order, card })).status, 201)
  assert.equal(
    (await client.post('/v1/payments', { ...order, card: visa, return_url: 'http://localhost:3000/x' })).status,
    201,
  )
  const { body } = await client.get('/v1/payments/transactions')
  assert.equal(body.data.length, 3)
})

test('a card that is sent to any other route is refused', async () => {
  const { client } = await world.account({ balance: 100 })
  for (const [path, body] of [
    ['/v1/sms/send', { to: '+254711000001', message: 'Hello' }],
    ['/v1/payments/mobile/initiate', { amount: 5, currency: 'KES', phone_number: '+254700000001' }],
    ['/v1/webhooks', { url: receiver.url('/x'), events: ['payment.*'] }],
    ['/v1/wallet/auto-recharge', { enabled: false }],
  ] as const) {
    const refused = await client.post(path, { ...body, card: visa })
    assert.deepEqual([refused.status, refused.body.error.code], [422, 'VALIDATION_ERROR'], `${path}: ${refused.text}`)
  }
})

test('the number of a card is not kept in a text, whatever that belongs to', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const { body: paid } = await client.post('/v1/payments', { ...order, card: visa })
  const lost = 'card 4242 4242 4242 4242'
  const payout = { amount: 10, currency: 'KES', phone: '+254700000001' }
  const phone = { type: 'phone', value: '+254711000009' }
  for (const [path, body, field] of [
    [`/v1/payments/${paid.payment_id}/refund`, { description: lost }, 'description'],
    [`/v1/payments/${paid.payment_id}/refund`, { metadata: { lost } }, 'metadata'],
    ['/v1/payouts', { ...payout, description: lost }, 'description'],
    ['/v1/payouts', { ...payout, recipient: { name: lost } }, 'recipient'],
    ['/v1/payouts', { ...payout, metadata: { lost } }, 'metadata'],
    ['/v1/payments/payout/bulk', { items: [payout], description: lost }, 'description'],
    ['/v1/payments/fraud/blacklist', { ...phone, reason: lost }, 'reason'],
    ['/v1/payments/fraud/blacklist', { entries: [phone, { ...phone, reason: lost }] }, 'entries[1].reason'],
  ] as const) {
    const refused = await client.post(path, body)
    const { code, fields } = refused.body.error
    assert.deepEqual([refused.status, code, fields[0].field], [422, 'VALIDATION_ERROR', field], refused.text)
  }
  const items = [{ ...payout, description: lost }, payout]
  const { body: batch } = await client.post('/v1/payments/payout/bulk', { items })
  assert.equal(batch.payouts[0].error?.code, 'VALIDATION_ERROR')
  assert.deepEqual([batch.accepted_count, batch.failed_count], [1, 1])
})

test('the same key with another card number is another request', async () => {
  const { client } = await world.account()
  const headers = { 'Idempotency-Key': 'k' }
  const first = await client.post('/v1/payments', { ...order, card: visa }, { headers })
  const again = await client.post('/v1/payments', { ...order, card: visa }, { headers })
  assert.deepEqual([again.text, again.headers['idempotent-replayed']], [first.text, 'true'])
  const other = { ...visa, number: '5555555555554444' }
  const refused = await client.post('/v1/payments', { ...order, card: other }, { headers })
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'DUPLICATE_REFERENCE'])
})

test('cards are listed among the ways to pay, and an operator enters an account with an acquirer', async () => {
  const { client } = await world.account()
  const { data } = (await client.get('/v1/payments/methods?currency=gbp')).body
  const cards = data.filter(({ method }: { method: string }) => method === 'card')
  assert.deepEqual([cards.length, cards[0].max_amount, cards[0].supports_3ds, cards[0].status], [1, 10_000, true, 'up'])
  assert.deepEqual(cards[0].brands, ['visa', 'mastercard', 'verve', 'american-express'])
  const entered = await world.operator.post('/v1/operator/payments/providers', {
    provider: 'acquirer',
    environment: 'live',
    country: 'ZZ',
    base_url: 'https://acquirer.example',
    secret_key: 'key',
    webhook_secret: 'secret',
  })
  assert.deepEqual([entered.status, entered.body.id], [201, 'acquirer-zz-live'], entered.text)
})

test('what cards cost is set for the acquirer, in its country that stands for all', async () => {
  const { id, client } = await world.account()
  const price = {
    area: 'payments',
    unit: 'card.percent',
    country: 'ZZ',
    network: 'acquirer',
    currency: 'KES',
    amount: 1,
  }
  const set = await world.operator.post('/v1/operator/prices', { ...price, account_id: id })
  assert.equal(set.status, 201, set.text)
  const { data } = (await world.operator.get('/v1/operator/prices?country=ZZ')).body
  assert.deepEqual(
    data.map((row: { id: string }) => row.id),
    [set.body.id],
  )
  await eventually(async () => {
    const { body } = await client.post('/v1/payments', { ...order, method: 'card', card: visa })
    return body.fee === 10
  }, 'the price to be in force')
  const texts = await world.operator.post('/v1/operator/prices', { ...price, area: 'sms', unit: 'segment' })
  assert.deepEqual([texts.status, texts.body.error.fields[0].field], [422, 'country'])
  const phone = { provider: 'mpesa', environment: 'live', country: 'ZZ' }
  const astray = await world.operator.post('/v1/operator/payments/providers', phone)
  assert.deepEqual([astray.status, astray.body.error.details], [422, 'country: mpesa is in KE'])
})

test('what came to us is what the acquirer has taken', async () => {
  const { rows } = await sql.query(
    `select coalesce(sum(amount), 0) / 10000 as minor from ledger.transfers where debit = 'float:acquirer' and currency = 'KES'`,
  )
  assert.equal(Number(rows[0].minor), (await charged(world)).kes)
})

/** As a payer's browser does, which follows nobody by itself. */
async function browse(method: string, url: string, body?: string, headers: Record<string, string> = {}) {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const path = url.replace(world.node.url, '')
  const options = body === undefined ? {} : { raw: body, headers: { ...form, ...headers } }
  const reply = await world.stranger.request(method, path, options)
  return { status: reply.status, text: reply.text, location: reply.headers.location ?? '' }
}

/** What a payment brought to the wallet, in major units. */
async function walletGot(id: string): Promise<number> {
  const { rows } = await sql.query(
    `select coalesce(sum(amount), 0) / 1000000.0 as got from ledger.transfers where source_id = $1 and credit = 'wallet'`,
    [uuidOf('payment', id)],
  )
  return Number(rows[0].got)
}
