// SPDX-License-Identifier: Apache-2.0
// Payers who want their money back over their bank: the acquirer tells it, the wallet sets it aside, and whoever decides
// gives it back or takes it, however often and in whatever order it is told.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { collectAll } from '../../src/areas/payments/disputes/debts.ts'
import { disputeJob } from '../../src/areas/payments/disputes/follow.ts'
import { applyDispute } from '../../src/areas/payments/disputes/settle.ts'
import { simulatedAccounts } from '../../src/areas/payments/gateway/simulated.ts'
import { callbackUrl } from '../../src/areas/payments/records/callback-address.ts'
import { type AttemptRow, attemptOfPayment } from '../../src/areas/payments/records/store.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { one } from '../../src/platform/db.ts'
import { disputeNotice, signatureHeader, signNotice } from '../../src/protocols/acquirer.ts'
import type { Client } from '../client.ts'
import { startMarket } from '../market.ts'
import { wallet } from '../paying.ts'
import { runs } from '../properties.ts'
import { type Account, eventually, tenantOf } from '../world.ts'

const { world, sql, receiver } = await startMarket(0.01)

const disputed = { number: '4000000000000259', exp_month: 12, exp_year: 2040, cvv: '123' }
const plain = { ...disputed, number: '4242424242424242' }

test('evidence goes to the acquirer once, and the dispute says when', async () => {
  const account = await world.account({ balance: 500 })
  const { client } = account
  const payment = await pay(client, disputed)
  const { dispute_id, evidence_sent_at } = await opened(client, payment.payment_id)
  assert.equal(evidence_sent_at, null)
  const path = `/v1/payments/disputes/${dispute_id}/evidence`
  const none = await client.post(path, { statement: '' })
  assert.deepEqual([none.status, none.body.error.code], [422, 'VALIDATION_ERROR'])
  const evidence = { statement: 'Signed for at the door', delivered_on: '2026-05-14', tracking_number: 'KE-1' }
  const sent = await client.post(path, evidence)
  assert.equal(sent.status, 200, sent.text)
  assert.deepEqual([sent.body.status, typeof sent.body.evidence_sent_at], ['open', 'string'])
  const again = await client.post(path, evidence)
  assert.deepEqual([again.status, again.body.error.code], [409, 'INVALID_STATE'])
  const settings = simulatedAccounts(world.app).acquirer
  assert.ok(settings)
  const { id: attempt } = await attemptOf(account, payment.payment_id)
  const asked = await fetch(`${settings.base_url}/v1/disputes?reference=${attempt}`, {
    headers: { authorization: `Bearer ${settings.secret_key}` },
  })
  const heard = JSON.parse(await asked.text())
  assert.deepEqual(heard.data[0].evidence, {
    ...{ uncategorized_text: 'Signed for at the door', service_date: '2026-05-14', shipping_tracking_number: 'KE-1' },
  })
  await client.post(`/v1/sandbox/disputes/${dispute_id}/close`, { outcome: 'won' })
  assert.equal((await closed(client, dispute_id)).status, 'won', 'what is reviewed can be decided')
  const late = await client.post(path, evidence)
  assert.deepEqual([late.status, late.body.error.status], [409, 'won'])
})

test('a disputed payment is told, its money is set aside, and a dispute that is won gives it back', async () => {
  const { client } = await world.account({ balance: 500 })
  await client.post('/v1/webhooks', { url: receiver.url('/won'), events: ['payment.*'] })
  const payment = await pay(client, disputed)
  const dispute = await opened(client, payment.payment_id)
  assert.deepEqual(
    [dispute.payment_id, dispute.status, dispute.amount, dispute.currency, dispute.reason, dispute.closed_at],
    [payment.payment_id, 'open', 1_000, 'KES', 'fraudulent', null],
  )
  assert.deepEqual([dispute.amount_held, dispute.amount_owed], [1_000, 0])
  assert.match(dispute.dispute_id, /^dsp_[0-9a-z]{26}$/)
  assert.deepEqual(await wallet(client), { balance: 1_471, held: 1_000 })
  const shown = (await client.get(`/v1/payments/${payment.payment_id}`)).body
  assert.deepEqual([shown.status, shown.dispute_status], ['completed', 'open'])

  const refused = await client.post(`/v1/payments/${payment.payment_id}/refund`, { amount: 10 })
  assert.deepEqual(
    [refused.status, refused.body.error.code, refused.body.error.dispute_status],
    [409, 'REFUND_NOT_ALLOWED', 'open'],
  )
  const closing = await client.post(`/v1/sandbox/disputes/${dispute.dispute_id}/close`, { outcome: 'won' })
  assert.equal(closing.status, 200, closing.text)
  assert.deepEqual(
    [closing.body.dispute_id, closing.body.payment_id, closing.body.outcome],
    [dispute.dispute_id, payment.payment_id, 'won'],
  )
  const after = await closed(client, dispute.dispute_id)
  assert.deepEqual([after.status, after.amount_held, after.amount_owed], ['won', 0, 0])
  assert.deepEqual(await wallet(client), { balance: 1_471, held: 0 })
  assert.equal((await client.get(`/v1/payments/${payment.payment_id}`)).body.dispute_status, 'won')
  assert.deepEqual(await transfers(dispute.dispute_id), [])

  const told = await eventually(async () => {
    const bodies = receiver.received.filter(({ url }) => url === '/won').map(({ body }) => JSON.parse(body))
    const found = bodies.filter(({ event }) => event.startsWith('payment.disput'))
    return found.length === 2 && found.sort((a, b) => a.sequence - b.sequence)
  }, 'both webhooks')
  assert.deepEqual(
    told.map(({ event, sequence, dispute_id, dispute_status, payment, dispute }) => [
      event,
      sequence,
      dispute_id,
      dispute_status,
      payment.dispute_status,
      dispute.amount_held,
    ]),
    [
      ['payment.disputed', 3, dispute.dispute_id, 'open', 'open', 1_000],
      ['payment.dispute_closed', 4, dispute.dispute_id, 'won', 'won', 0],
    ],
  )
  const again = await client.post(`/v1/sandbox/disputes/${dispute.dispute_id}/close`, { outcome: 'lost' })
  assert.deepEqual([again.status, again.body.error.code, again.body.error.status], [409, 'INVALID_STATE', 'won'])
  // Whoever won may give the money back of its own will.
  const refund = await client.post(`/v1/payments/${payment.payment_id}/refund`, { amount: 10 })
  assert.equal(refund.status, 201, refund.text)
})

test('a dispute that is lost takes what is there, and what is not there is owed', async () => {
  const account = await world.account()
  const { client } = account
  const payment = await pay(client, disputed)
  const dispute = await opened(client, payment.payment_id)
  // The fee is not in the wallet: of 1000 there are 971.
  assert.deepEqual([dispute.amount_held, await wallet(client)], [971, { balance: 971, held: 971 }])
  await credit(account, 10)
  await close(client, dispute.dispute_id, 'lost')
  const after = await closed(client, dispute.dispute_id)
  assert.deepEqual([after.status, after.amount_held, after.amount_owed], ['lost', 0, 19])
  assert.deepEqual(await wallet(client), { balance: 0, held: 0 })
  assert.deepEqual(await transfers(dispute.dispute_id), [
    { debit: 'receivable:disputes', credit: 'float:acquirer', amount: '19000000' },
    { debit: 'wallet', credit: 'float:acquirer', amount: '10000000' },
    { debit: 'wallet', credit: 'float:acquirer', amount: '971000000' },
  ])
  const movements = (await client.get('/v1/wallet/transactions?type=dispute')).body.data
  assert.deepEqual(
    movements.map(({ amount, direction, source }: { amount: number; direction: string; source: object }) => [
      amount,
      direction,
      source,
    ]),
    [
      [10, 'debit', { type: 'dispute', id: dispute.dispute_id }],
      [971, 'debit', { type: 'dispute', id: dispute.dispute_id }],
    ],
  )
  const refused = await client.post(`/v1/payments/${payment.payment_id}/refund`, {})
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'REFUND_NOT_ALLOWED'])
})

test('what a lost dispute leaves owing is taken from the next credits, and nothing is paid out before', async () => {
  const account = await world.account()
  const { client } = account
  const payment = await pay(client, disputed)
  const { dispute_id: id } = await opened(client, payment.payment_id)
  await close(client, id, 'lost')
  assert.equal((await closed(client, id)).amount_owed, 29)
  const owing = async () => {
    const { body } = await world.operator.get('/v1/operator/payments/debts?limit=200')
    return body.data.find((debt: { dispute_id: string }) => debt.dispute_id === id)
  }
  const debt = await owing()
  assert.deepEqual(
    [debt.account_id, debt.payment_id, debt.environment, debt.amount, debt.amount_owed, debt.currency],
    [account.id, payment.payment_id, 'test', 1_000, 29, 'KES'],
  )
  const payout = { amount: 5, currency: 'KES', phone: '+254700000001' }
  await credit(account, 20)
  const refused = await client.post('/v1/payouts', payout)
  assert.deepEqual([refused.status, refused.body.error.code], [402, 'INSUFFICIENT_WALLET_BALANCE'])
  assert.match(refused.body.error.details, /lost disputes/)
  await collectAll(world.app)
  assert.deepEqual([(await owing()).amount_owed, await wallet(client)], [9, { balance: 0, held: 0 }])
  await credit(account, 1_000)
  const paid = await client.post('/v1/payouts', payout)
  assert.equal(paid.status, 201, paid.text)
  assert.equal(await owing(), undefined, 'a payout pays the debt first')
  assert.equal((await client.get(`/v1/payments/disputes/${id}`)).body.amount_owed, 0)
  const taken = (await client.get('/v1/wallet/transactions?type=dispute')).body.data
  assert.deepEqual(
    taken.map(({ amount }: { amount: number }) => amount),
    [9, 20, 971],
  )
  await collectAll(world.app)
  assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
})

test('what is owed is paid before a refund, too', async () => {
  const { client } = await world.account()
  const { dispute_id: id } = await opened(client, (await pay(client, disputed)).payment_id)
  await close(client, id, 'lost')
  assert.equal((await closed(client, id)).amount_owed, 29)
  const { payment_id } = await pay(client, plain)
  const refund = `/v1/payments/${payment_id}/refund`
  // Of the 971 that it brought 29 are owed.
  const refused = await client.post(refund, { amount: 950 })
  assert.deepEqual([refused.status, refused.body.error.code], [402, 'INSUFFICIENT_WALLET_BALANCE'], refused.text)
  assert.equal((await client.post(refund, { amount: 900 })).status, 201)
  assert.equal((await client.get(`/v1/payments/disputes/${id}`)).body.amount_owed, 0)
})

test('an invoice says what a lost dispute took of its money, and no more than was paid', async () => {
  const account = await world.account({ balance: 5_000 })
  const { client } = account
  const [items, customer] = [[{ description: 'Rent', unit_amount: 1_000 }], { name: 'Asha' }]
  const made = await client.post('/v1/billing/invoices', { customer, currency: 'KES', items, send: true })
  const form = { method: 'card', number: plain.number, expiry: '12/40', cvv: plain.cvv }
  const sent = await world.stranger.request('POST', new URL(made.body.hosted_url).pathname, {
    raw: new URLSearchParams(form).toString(),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  })
  assert.equal(sent.status, 303, sent.text)
  const invoice = async () => (await client.get(`/v1/billing/invoices/${made.body.invoice_id}`)).body
  const { status, payments } = await invoice()
  assert.equal(status, 'paid')
  const refund = await client.post(`/v1/payments/${payments[0]}/refund`, { amount: 400 })
  assert.equal(refund.body.status, 'completed', refund.text)
  const attempt = await attemptOf(account, payments[0])
  for (const [id, outcome, micros] of [
    ['dp_won', 'won', 500_000_000n],
    ['dp_small', 'lost', 100_000_000n],
    ['dp_all', 'lost', 1_000_000_000n],
  ] as const)
    await world.app.db.acrossTx((tx) =>
      applyDispute(world.app, tx, tenantOf(account), attempt, { id, status: outcome, micros, reason: 'other' }),
    )
  const shown = await invoice()
  assert.deepEqual([shown.status, shown.amount_due, shown.amount_refunded], ['paid', 0, 1_000])
  const told = (await client.get('/v1/events?event=invoice.refunded')).body.data
  assert.deepEqual(
    told.map(({ payload }: { payload: { invoice: { amount_refunded: number } } }) => payload.invoice.amount_refunded),
    [1_000, 500, 400],
  )
})

test('a notice that comes again changes nothing, and one that the acquirer did not sign is not taken', async () => {
  const account = await world.account({ balance: 100 })
  const { client } = account
  const payment = await pay(client, disputed)
  const { dispute_id } = await opened(client, payment.payment_id)
  const path = await hookOf(account, payment.payment_id)
  const secret = simulatedAccounts(world.app).acquirer?.webhook_secret ?? ''
  const nowSeconds = Math.floor(Date.now() / 1_000)
  const created = JSON.stringify({ type: disputeNotice('created') })
  // What a notice says is not believed: the acquirer is asked, and says that nothing is decided.
  const lost = JSON.stringify({ type: disputeNotice('closed'), data: { object: { id: 'dp_1', status: 'lost' } } })
  const send = (raw: string, signature: string) =>
    world.stranger.request('POST', path, { raw, headers: { [signatureHeader]: signature } })
  for (const notice of [created, created, lost])
    assert.equal((await send(notice, signNotice(secret, notice, nowSeconds))).status, 200)
  const forged = [
    signNotice('guessed', lost, nowSeconds),
    signNotice(secret, lost, nowSeconds - 3_600),
    signNotice(secret, created, nowSeconds),
    '',
  ]
  for (const signature of forged) assert.equal((await send(lost, signature)).status, 404, signature)
  const { data } = (await client.get('/v1/payments/disputes')).body
  assert.deepEqual(
    data.map(({ dispute_id, status }: { dispute_id: string; status: string }) => [dispute_id, status]),
    [[dispute_id, 'open']],
  )
  assert.deepEqual(await wallet(client), { balance: 1_071, held: 1_000 })
  const told = (await client.get('/v1/events')).body.data.map(({ event }: { event: string }) => event)
  assert.deepEqual(told, ['payment.disputed', 'payment.completed', 'payment.created'])
  // With another address nobody is heard at all.
  const elsewhere = `${path.slice(0, -8)}00000000`
  const signature = signNotice(secret, created, nowSeconds)
  const { status } = await world.stranger.request('POST', elsewhere, {
    raw: created,
    headers: { [signatureHeader]: signature },
  })
  assert.equal(status, 404)
})

test('an end that nobody was told of is found by asking', async () => {
  const account = await world.account({ balance: 100 })
  const { client } = account
  const payment = await pay(client, disputed)
  const dispute = await opened(client, payment.payment_id)
  // The address of its notices is no longer ours, as if they were lost on the way.
  const id = uuidOf('payment', payment.payment_id)
  await sql.query(`update payments.attempts set token = '\\x00000000000000000000000000000000' where payment_id = $1`, [
    id,
  ])
  await close(client, dispute.dispute_id, 'won')
  const tenant = tenantOf(account)
  const run = { id: '', bucket: tenant.bucket, tenant, key: null, place: null, attempt: 1, failures: 0 }
  const payload = { dispute: uuidOf('dispute', dispute.dispute_id) ?? '' }
  assert.equal((await disputeJob.handle(world.app, { ...run, payload })).kind, 'again')
  assert.equal((await client.get(`/v1/payments/disputes/${dispute.dispute_id}`)).body.status, 'won')
  assert.equal((await disputeJob.handle(world.app, { ...run, payload })).kind, 'done')
})

test('disputes are listed and read by their owner alone, and bad requests are refused with a code', async () => {
  const { client } = await world.account({ balance: 100 })
  const { dispute_id } = await opened(client, (await pay(client, disputed)).payment_id)
  const { client: stranger } = await world.account()
  const path = `/v1/payments/disputes/${dispute_id}`
  assert.deepEqual((await client.get('/v1/payments/disputes?status=open')).body.data.length, 1)
  assert.deepEqual((await client.get('/v1/payments/disputes?status=won')).body.data, [])
  assert.deepEqual((await stranger.get('/v1/payments/disputes')).body.data, [])
  const none = await client.get('/v1/payments/disputes?payment_id=pay_1')
  assert.deepEqual([none.status, none.body.data], [200, []], 'as with refunds')
  const closePath = `/v1/sandbox/disputes/${dispute_id}/close`
  const rows: [asked: Promise<{ status: number; body: { error: { code: string } } }>, expected: [number, string]][] = [
    [stranger.get(path), [404, 'NOT_FOUND']],
    [client.get('/v1/payments/disputes/dsp_1'), [404, 'NOT_FOUND']],
    [client.get('/v1/payments/disputes?status=odd'), [400, 'INVALID_REQUEST']],
    [client.get('/v1/payments/disputes?start_date=2026-02-31'), [400, 'INVALID_DATE_RANGE']],
    [client.post(closePath, { outcome: 'odd' }), [422, 'VALIDATION_ERROR']],
    [client.post(closePath, {}), [422, 'VALIDATION_ERROR']],
    [stranger.post(closePath, { outcome: 'won' }), [404, 'NOT_FOUND']],
    [client.post('/v1/sandbox/disputes/dsp_1/close', { outcome: 'won' }), [404, 'NOT_FOUND']],
  ]
  for (const [asked, expected] of rows) {
    const { status, body } = await asked
    assert.deepEqual([status, body.error.code], expected)
  }
  assert.equal((await client.get(path)).body.status, 'open')
})

test('a dispute of a payment that was never made is not believed', async () => {
  const account = await world.account()
  const declined = await account.client.post('/v1/payments', {
    amount: 1_000,
    currency: 'KES',
    card: { ...plain, number: '4000000000000002' },
  })
  const never = await attemptOf(account, declined.body.error.payment_id)
  const told = { id: 'dp_never', status: 'lost', micros: 1_000_000n, reason: 'other' } as const
  assert.equal(await world.app.db.acrossTx((tx) => applyDispute(world.app, tx, tenantOf(account), never, told)), null)
  assert.deepEqual((await account.client.get('/v1/payments/disputes')).body.data, [])
  assert.deepEqual(await wallet(account.client), { balance: 0, held: 0 })
})

test('a dispute of more than was paid takes what was paid, and the rest is on the operator’s list', async () => {
  const account = await world.account({ balance: 500 })
  const { client } = account
  const { payment_id } = await pay(client, plain)
  const attempt = await attemptOf(account, payment_id)
  const apply = (status: 'open' | 'lost') => {
    const told = { id: 'dp_more', status, micros: 1_050_000_000n, reason: 'other' } as const
    return world.app.db.acrossTx((tx) => applyDispute(world.app, tx, tenantOf(account), attempt, told))
  }
  await apply('open')
  assert.deepEqual(await wallet(client), { balance: 1_471, held: 1_000 })
  const refused = await client.post(`/v1/payments/${payment_id}/refund`, {})
  assert.deepEqual([refused.status, refused.body.error?.code], [409, 'REFUND_NOT_ALLOWED'], refused.text)
  await apply('lost')
  assert.deepEqual(await wallet(client), { balance: 471, held: 0 })
  const { data } = (await world.operator.get('/v1/operator/payments/discrepancies')).body
  const found = data.find((one: { payment_id: string }) => one.payment_id === payment_id)
  assert.deepEqual([found.asked_amount, found.told_amount, found.provider_reference], [1_000, 1_050, 'dp_more'])
})

test('a dispute takes no more than refunds have left, and what is taken beyond is on the operator’s list', async () => {
  const account = await world.account({ balance: 500 })
  const { client } = account
  const { payment_id } = await pay(client, plain)
  for (const amount of [100, 200]) {
    const { status, text } = await client.post(`/v1/payments/${payment_id}/refund`, { amount })
    assert.equal(status, 201, text)
  }
  const attempt = await attemptOf(account, payment_id)
  const told = { id: 'dp_twice', micros: 900_000_000n, reason: 'other' } as const
  const apply = (status: 'open' | 'lost') =>
    world.app.db.acrossTx((tx) => applyDispute(world.app, tx, tenantOf(account), attempt, { ...told, status }))
  await apply('open')
  assert.deepEqual(await wallet(client), { balance: 1_171, held: 700 })
  await apply('lost')
  assert.deepEqual(await wallet(client), { balance: 471, held: 0 })
  const [dispute] = (await client.get('/v1/payments/disputes')).body.data
  assert.deepEqual([dispute.amount, dispute.amount_owed], [900, 0])
  const { data } = (await world.operator.get('/v1/operator/payments/discrepancies')).body
  const found = data.find((one: { payment_id: string }) => one.payment_id === payment_id)
  assert.deepEqual([found.asked_amount, found.told_amount, found.provider_reference], [1_000, 1_200, 'dp_twice'])
})

test('two disputes of a payment set aside and take what was paid once, and the rest is on the operator’s list', async () => {
  const account = await world.account({ balance: 2_000 })
  const { client } = account
  const { payment_id } = await pay(client, plain)
  const attempt = await attemptOf(account, payment_id)
  const apply = (id: string, micros: bigint, status: 'open' | 'won' | 'lost') => {
    const told = { id, status, micros, reason: 'other' } as const
    return world.app.db.acrossTx((tx) => applyDispute(world.app, tx, tenantOf(account), attempt, told))
  }
  await apply('dp_first', 700_000_000n, 'open')
  await apply('dp_second', 500_000_000n, 'open')
  assert.deepEqual(await wallet(client), { balance: 2_971, held: 1_000 })
  const held = (await client.get('/v1/payments/disputes?order=asc')).body.data.map(
    ({ amount_held }: { amount_held: number }) => amount_held,
  )
  assert.deepEqual(held, [700, 300])
  await apply('dp_second', 500_000_000n, 'lost')
  assert.deepEqual(await wallet(client), { balance: 2_471, held: 700 })
  await apply('dp_first', 700_000_000n, 'lost')
  assert.deepEqual(await wallet(client), { balance: 1_971, held: 0 })
  const listed = async () => {
    const { data } = (await world.operator.get('/v1/operator/payments/discrepancies?limit=200')).body
    const found = data.find((one: { payment_id: string }) => one.payment_id === payment_id)
    return found && [found.asked_amount, found.told_amount, found.provider_reference]
  }
  assert.deepEqual(await listed(), [1_000, 1_200, 'dp_first'])
  const resolved = await world.operator.post(`/v1/operator/payments/discrepancies/${payment_id}/resolve`, {})
  assert.equal(resolved.status, 200, resolved.text)
  await apply('dp_third', 100_000_000n, 'lost')
  assert.deepEqual(await listed(), [1_000, 1_300, 'dp_third'])
  assert.deepEqual(await wallet(client), { balance: 1_971, held: 0 })
  assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
})

test('what a dispute that was won leaves free is for the next one', async () => {
  const account = await world.account({ balance: 2_000 })
  const { client } = account
  const { payment_id } = await pay(client, plain)
  const attempt = await attemptOf(account, payment_id)
  for (const [id, status] of [
    ['dp_won', 'won'],
    ['dp_again', 'open'],
  ] as const) {
    const told = { id, status, micros: 1_000_000_000n, reason: 'other' } as const
    await world.app.db.acrossTx((tx) => applyDispute(world.app, tx, tenantOf(account), attempt, told))
  }
  assert.deepEqual(await wallet(client), { balance: 2_971, held: 1_000 })
})

test('a refund that fails while a dispute is open leaves its part to the dispute', async () => {
  const account = await world.account({ balance: 500 })
  const { client } = account
  const { payment_id } = await pay(client, plain)
  const attempt = await attemptOf(account, payment_id)
  const told = { id: 'dp_left', micros: 1_000_000_000n, reason: 'other' } as const
  const apply = (status: 'open' | 'lost') =>
    world.app.db.acrossTx((tx) => applyDispute(world.app, tx, tenantOf(account), attempt, { ...told, status }))
  // As a refund does that the acquirer was asked for and has not taken yet.
  const refund = async (by: number) => {
    const id = uuidOf('payment', payment_id)
    await sql.query('update payments.payments set refunded = refunded + $2 where id = $1', [id, by])
  }
  await refund(100_000_000)
  await apply('open')
  assert.deepEqual(await wallet(client), { balance: 1_471, held: 900 })
  await refund(-100_000_000)
  await apply('lost')
  assert.deepEqual(await wallet(client), { balance: 471, held: 0 })
})

test('what the operator lends an account is set aside like its own money', async () => {
  const { client, id } = await world.account()
  const lent = { amount: 20, currency: 'KES', environment: 'test' }
  const overdraft = await world.operator.post(`/v1/operator/accounts/${id}/overdraft`, lent)
  assert.equal(overdraft.status, 200, overdraft.text)
  const dispute = await opened(client, (await pay(client, disputed)).payment_id)
  assert.deepEqual([dispute.amount_held, await wallet(client)], [991, { balance: 971, held: 991 }])
  await close(client, dispute.dispute_id, 'lost')
  assert.equal((await closed(client, dispute.dispute_id)).amount_owed, 9)
  assert.deepEqual(await wallet(client), { balance: -20, held: 0 })
})

test('whatever is told of disputes, in any order: the first decision stands, and no money is lost or made', async () => {
  const words = ['open', 'won', 'lost'] as const
  const telling = fc.record({ dispute: fc.constantFrom('a', 'b'), status: fc.constantFrom(...words) })
  await fc.assert(
    fc.asyncProperty(
      fc.array(telling, { minLength: 1, maxLength: 8 }),
      fc.bigInt({ min: 1n, max: 100_000n }),
      fc.integer({ min: 0, max: 600 }),
      async (tellings, cents, balance) => {
        const account = await world.account({ balance })
        const { client } = account
        const { payment_id } = await pay(client, plain)
        const attempt = await attemptOf(account, payment_id)
        const micros = cents * 10_000n
        const expected = new Map<string, (typeof words)[number]>()
        for (const { dispute, status } of tellings) {
          const told = { id: `dp_${dispute}`, status, micros, reason: 'other' } as const
          await world.app.db.acrossTx((tx) => applyDispute(world.app, tx, tenantOf(account), attempt, told))
          if ((expected.get(dispute) ?? 'open') === 'open') expected.set(dispute, status)
        }
        const { data } = (await client.get('/v1/payments/disputes')).body
        const found = data.map(({ provider_reference, status }: Record<string, string>) => [provider_reference, status])
        assert.deepEqual(Object.fromEntries(found), Object.fromEntries([...expected].map(([k, v]) => [`dp_${k}`, v])))
        const states = [...expected.values()]
        const { dispute_status, status } = (await client.get(`/v1/payments/${payment_id}`)).body
        const whole = states.includes('open') ? 'open' : states.includes('lost') ? 'lost' : 'won'
        assert.deepEqual([status, dispute_status], ['completed', whole])
        const sum = (name: string) =>
          data.reduce((total: number, row: Record<string, number>) => total + Math.round((row[name] ?? 0) * 100), 0)
        const lost = Math.min(states.filter((state) => state === 'lost').length * Number(cents), 100_000)
        const after = await wallet(client)
        assert.equal(Math.round(after.balance * 100), 100 * (balance + 971) - lost + sum('amount_owed'))
        assert.equal(Math.round(after.held * 100), sum('amount_held'))
        const events = (await client.get('/v1/events?limit=100')).body.data.map(({ event }: { event: string }) => event)
        const count = (name: string) => events.filter((event: string) => event === name).length
        assert.equal(count('payment.disputed'), expected.size)
        assert.equal(count('payment.dispute_closed'), states.filter((state) => state !== 'open').length)
      },
    ),
    { numRuns: runs(20) },
  )
})

async function pay(client: Client, card: object) {
  const { status, body, text } = await client.post('/v1/payments', { amount: 1_000, currency: 'KES', card })
  assert.deepEqual([status, body.status], [201, 'completed'], text)
  return body
}

async function opened(client: Client, payment: string) {
  const found = await eventually(
    async () =>
      (await client.get('/v1/payments/disputes')).body.data.find(
        ({ payment_id }: { payment_id: string }) => payment_id === payment,
      ),
    'the dispute',
  )
  return (await client.get(`/v1/payments/disputes/${found.dispute_id}`)).body
}

async function close(client: Client, dispute: string, outcome: 'won' | 'lost'): Promise<void> {
  const { status, text } = await client.post(`/v1/sandbox/disputes/${dispute}/close`, { outcome })
  assert.equal(status, 200, text)
}

async function closed(client: Client, dispute: string) {
  return eventually(async () => {
    const { body } = await client.get(`/v1/payments/disputes/${dispute}`)
    return body.closed_at !== null && body
  }, 'the end of the dispute')
}

async function credit({ id }: Account, amount: number): Promise<void> {
  const body = { amount, currency: 'KES', environment: 'test', reference: `more ${amount}` }
  await world.operator.post(`/v1/operator/accounts/${id}/credit`, body)
}

async function transfers(dispute: string) {
  const { rows } = await sql.query(
    'select debit, credit, amount from ledger.transfers where source_id = $1 order by debit, amount',
    [uuidOf('dispute', dispute)],
  )
  return rows
}

async function attemptOf(account: Account, payment: string): Promise<AttemptRow> {
  const id = uuidOf('payment', payment) ?? assert.fail(payment)
  return one(world.app.db.query(attemptOfPayment, { ...tenantOf(account), payment: id }))
}

async function hookOf(account: Account, payment: string): Promise<string> {
  const url = callbackUrl(world.app, tenantOf(account), await attemptOf(account, payment))
  return new URL(url).pathname
}
