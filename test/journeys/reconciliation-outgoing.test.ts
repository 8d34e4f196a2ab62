// SPDX-License-Identifier: Apache-2.0
// Money that went out on providers' statements, each in the form of its provider: payouts and refunds are found by their
// receipts or payees, what nobody knew the end of is settled, and what does not fit is told apart.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settle } from '../../src/areas/payments/payouts/settle.ts'
import { settleRefund } from '../../src/areas/payments/refunds/settle.ts'
import { findRefund } from '../../src/areas/payments/refunds/store.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { one } from '../../src/platform/db.ts'
import type { Client } from '../client.ts'
import { startMarket } from '../market.ts'
import { over } from '../paying.ts'
import { eventually, tenantOf } from '../world.ts'

// Slow enough that a payee who takes a minute is still waited for when the statement comes.
const { world, sql } = await startMarket(0.5)
const path = '/v1/operator/payments/statements'

interface Line {
  receipt: string
  kind: string
  direction: string
  class: string
  matched_by: string | null
  amount: number
  payment_id: string | null
  payout_id: string | null
  refund_id: string | null
  booking: string | null
}

test('M-Pesa: payouts and refunds find their lines, one that nobody knew the end of is paid by its line, and the float comes out even', async () => {
  const { client } = await world.account({ balance: 5_000 })
  const began = now()
  const payment = await collected(client, '+254700000001', 800, 'KES')
  const paid = await payout(client, '+254700000001', 100, 'KES')
  const taken = await payout(client, '+254700000013', 60, 'KES')
  const refund = await refunded(client, payment.payment_id, 300)
  const { body: reversed } = await eventually(
    async () => {
      const reply = await client.get(`/v1/payouts/${taken.payout_id}`)
      return reply.body.status === 'reversed' && reply
    },
    'the payout to be taken back',
    60_000,
  )
  // Taken by the provider, and not paid before half a minute has passed.
  const asked = await client.post('/v1/payouts', { amount: 70, currency: 'KES', phone: '+254700000006' })
  const slow = asked.body.payout_id
  const row = (receipt: string, cells: string): string => `${receipt},${nairobi(now())},Completed,${cells}`
  const file = [
    'Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn,Balance,Reason Type,Other Party Info',
    `FAILED0001,${nairobi(began)},Failed,1.00,,,Pay Bill Online,`,
    `${payment.provider_reference},${nairobi(began)},Completed,800.00,,,Pay Bill Online,254700000001 - ASHA`,
    row(paid.provider_reference, ',-100.00,,Business Payment to Customer via API,254700000001 - ASHA'),
    row(paid.provider_reference, ',-4.00,,Business Payment Charge,'),
    row(reversed.provider_reference, ',-60.00,,Business Payment to Customer via API,254700000013 - ASHA'),
    row(reversed.provider_reference, '60.00,,,Business Payment Reversal,254700000013 - ASHA'),
    row('SLOW000001', ',-70.00,,Business Payment to Customer via API,25470****006 - ASHA'),
    row(refund.provider_reference, ',-300.00,326.00,Reversal,254700000001 - ASHA'),
  ].join('\r\n')
  const statement = await imported('mpesa', file)
  assert.deepEqual([statement.covers, statement.lines, statement.skipped_lines], ['everything', 7, 1])
  assert.deepEqual(statement.classes.matched, { lines: 6, amount: 1_390, net: 330 })
  assert.deepEqual(
    [statement.classes.booked, statement.classes.theirs_only.lines, statement.classes.ours_only.lines],
    [{ lines: 1, amount: 4, net: -4 }, 0, 0],
  )
  assert.deepEqual([statement.closing_balance, statement.float_balance, statement.difference], [326, 326, 0])
  const lines = (await linesOf(statement.id)).map((line) => [
    ...[line.kind, line.direction, line.matched_by, line.payment_id ?? line.payout_id ?? line.refund_id],
  ])
  assert.deepEqual(lines, [
    ['collection', 'in', 'receipt', payment.payment_id],
    ['payout', 'out', 'receipt', paid.payout_id],
    ['fee', 'out', null, null],
    ['payout', 'out', 'receipt', taken.payout_id],
    ['collection', 'in', 'receipt', taken.payout_id],
    ['payout', 'out', 'payer', slow],
    ['refund', 'out', 'receipt', refund.refund_id],
  ])
  const { body: settled } = await client.get(`/v1/payouts/${slow}`)
  assert.deepEqual([settled.status, settled.provider_reference], ['completed', 'SLOW000001'])
  const told = (await client.get('/v1/events?limit=50')).body.data
  assert.equal(told.filter((event: object) => JSON.stringify(event).includes(slow)).length, 1)
  const again = await imported('mpesa', file)
  assert.deepEqual([again.lines, again.known_lines, again.difference], [0, 7, 0], 'the same file twice changes nothing')
})

test('MTN: another amount, a payout on no statement and money that went nowhere known are told apart', async () => {
  const { client, id } = await world.account({ balance: 1 })
  await fund(id, 100_000, 'UGX')
  const began = now()
  const [differs, missing, nameless] = [
    await payout(client, '+256770000001', 1_000, 'UGX'),
    await payout(client, '+256770000020', 2_000, 'UGX'),
    await payout(client, '+256770000021', 3_000, 'UGX'),
  ]
  const payment = await collected(client, '+256770000001', 9_000, 'UGX')
  const refund = await refunded(client, payment.payment_id, 500)
  // As with a provider whose answer names no receipt.
  await sql.query('update payments.payouts set provider_reference = null where id = $1', [
    uuidOf('payout', nameless.payout_id),
  ])
  const file = [
    'Id,Date,Status,Type,From,To,Amount,Fee,Balance',
    `${differs.provider_reference},${wall(began)},Successful,Transfer,,256770000001,-1500,25,`,
    `88001,${wall(now())},Successful,Transfer,256770009999,256770000021,-3000,,`,
    `${payment.provider_reference},${wall(now())},Successful,Payment,256770000001,,9000,,`,
    `${refund.provider_reference},${wall(now())},Successful,Refund,,256770000001,-500,,`,
    `88002,${wall(now(), 1)},Successful,Transfer,,256770000077,-250,,3725`,
  ].join('\n')
  const statement = await imported('mtn_momo', file, { country: 'UG' })
  assert.deepEqual(statement.classes, {
    matched: { lines: 3, amount: 12_500, net: 5_500 },
    theirs_only: { lines: 1, amount: 250, net: -250 },
    amount_differs: { lines: 1, amount: 1_500, net: -1_500 },
    booked: { lines: 1, amount: 25, net: -25 },
    ours_only: { lines: 1, amount: 2_000, net: -2_000 },
  })
  // Ours: 9000 - 500 - 25 - 1000 - 2000 - 3000; theirs: 9000 - 500 - 25 - 1500 - 3000 - 250.
  assert.deepEqual([statement.float_balance, statement.difference], [2_475, 1_250])
  assert.equal((await client.get(`/v1/payouts/${nameless.payout_id}`)).body.provider_reference, '88001')
  const [gap] = (await world.operator.get(`${path}/${statement.id}/lines?class=ours_only`)).body.data
  assert.deepEqual(
    [gap.id, gap.payout_id, gap.payment_id, gap.kind, gap.direction, gap.amount, gap.account_id],
    [missing.payout_id, missing.payout_id, null, 'payout', 'out', 2_000, id],
  )
  const [unknown] = await linesOf(statement.id, 'theirs_only')
  assert.deepEqual(
    [unknown?.receipt, unknown?.kind, unknown?.booking],
    ['88002', 'other', null],
    'what left for no known reason is nobody’s, and not booked',
  )
})

test('Airtel: an account that only pays out is held against payouts alone', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const began = now()
  const payment = await collected(client, '+254733000001', 200, 'KES')
  const paid = await payout(client, '+254733000001', 90, 'KES')
  assert.equal(payment.provider, 'airtel_money')
  const file = [
    'Transaction ID,Transaction Date,Transaction Status,Sender MSISDN,Receiver MSISDN,Transaction Amount,Transaction Type,Closing Balance',
    `${paid.provider_reference},${wall(began)},TS,700000000,733000001,-90,Disbursement,-90`,
    `CHARGE1,${wall(now(), 1)},TS,,,-2,Service charge,-92`,
  ].join('\n')
  const statement = await imported('airtel_money', file, { country: 'KE', covers: 'payouts' })
  assert.deepEqual([statement.covers, statement.float_balance, statement.difference], ['payouts', -92, 0])
  assert.deepEqual(
    [statement.classes.matched.lines, statement.classes.ours_only.lines],
    [1, 0],
    'collections are on another account',
  )
  const collections = await imported(
    'airtel_money',
    [
      'Transaction ID,Transaction Date,Transaction Status,Sender MSISDN,Transaction Amount,Transaction Type,Closing Balance',
      `${payment.provider_reference},${wall(began)},TS,733000001,200,Collection,200`,
      `CHARGE2,${wall(now(), 1)},TS,,-3,Service charge,197`,
    ].join('\n'),
    { country: 'KE', covers: 'collections' },
  )
  assert.deepEqual(
    [collections.float_balance, collections.difference, collections.classes.ours_only.lines],
    [197, 0, 0],
  )
  const refused = await world.operator.post(path, { provider: 'mpesa', environment: 'test', covers: 'some' })
  assert.equal(refused.body.error?.code, 'VALIDATION_ERROR')
})

test('a payout that failed here is not taken for paid because a line looks like it', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const { body } = await client.post('/v1/payouts', { amount: 37, currency: 'KES', phone: '+254700000004' })
  const failed = await over(client, body.payout_id)
  assert.equal(failed.status, 'failed')
  const file = [
    'Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn,Balance,Reason Type,Other Party Info',
    `GHOST00001,${nairobi(now())},Completed,,-37.00,,Business Payment to Customer via API,254700000004 - ASHA`,
  ].join('\r\n')
  const statement = await imported('mpesa', file)
  assert.equal(statement.classes.theirs_only.lines, 1)
  assert.equal((await client.get(`/v1/payouts/${body.payout_id}`)).body.status, 'failed')
})

test('money that came back of a completed payout or refund is in the wallet again, once its line is there', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const payment = await collected(client, '+254700000001', 500, 'KES')
  const paid = await payout(client, '+254700000001', 100, 'KES')
  const refund = await refunded(client, payment.payment_id, 200)
  const before = (await client.get('/v1/wallet/balance')).body.balance
  const row = (receipt: string, cells: string): string => `${receipt},${nairobi(now())},Completed,${cells}`
  const header = 'Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn,Balance,Reason Type,Other Party Info'
  const backs = [
    row(paid.provider_reference, '100.00,,,Business Payment Reversal,254700000001 - ASHA'),
    row(refund.provider_reference, '200.00,,,Business Payment Reversal,254700000001 - ASHA'),
  ]
  // Alone they may be a provider's way to write what went out.
  const early = await imported('mpesa', [header, ...backs].join('\r\n'))
  assert.equal(early.classes.theirs_only.lines, 2)
  assert.equal((await client.get(`/v1/payouts/${paid.payout_id}`)).body.status, 'completed')
  const outs = [
    row(paid.provider_reference, ',-100.00,,Business Payment to Customer via API,254700000001 - ASHA'),
    row(refund.provider_reference, ',-200.00,,Business Payment to Customer via API,254700000001 - ASHA'),
  ]
  const whole = [header, ...backs, ...outs].join('\r\n')
  assert.equal((await imported('mpesa', whole)).lines, 2)
  assert.deepEqual(
    (await linesOf(early.id)).map((line) => [line.class, line.payout_id ?? line.refund_id, line.booking]),
    [
      ['matched', paid.payout_id, null],
      ['matched', refund.refund_id, null],
    ],
  )
  assert.equal((await client.get(`/v1/payouts/${paid.payout_id}`)).body.status, 'reversed')
  const { body: failed } = await client.get(`/v1/refunds/${refund.refund_id}`)
  assert.deepEqual([failed.status, failed.failure_reason], ['failed', 'REVERSED_BY_PROVIDER'])
  assert.equal((await client.get('/v1/wallet/balance')).body.balance, before + 100 + paid.fee + 200)
  await imported('mpesa', whole)
  assert.equal((await client.get('/v1/wallet/balance')).body.balance, before + 300 + paid.fee, 'once')
  assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
})

test('a line of money that came back is not that of a payout or refund which was sent again since: somebody decides', async () => {
  const account = await world.account({ balance: 1_000 })
  const { client, id: accountId } = account
  const tenant = tenantOf(account)
  const payment = await collected(client, '+254700000001', 500, 'KES')
  const paid = await payout(client, '+254700000001', 100, 'KES')
  const refund = await refunded(client, payment.payment_id, 200)
  // Both are taken back, are there all the same as the provider says, and an operator confirms it.
  const payoutId = uuidOf('payout', paid.payout_id) ?? ''
  const refundId = uuidOf('refund', refund.refund_id) ?? ''
  for (const verdict of [{ kind: 'reversed' }, { kind: 'paid', receipt: null, micros: null }] as const) {
    await settle(world.app, tenant, payoutId, verdict)
    await settleRefund(world.app, await one(world.app.db.query(findRefund, { ...tenant, id: refundId })), verdict)
  }
  const decided = [
    await world.operator.post(`/v1/operator/payments/payouts/${paid.payout_id}/settle`, { outcome: 'paid' }),
    await world.operator.post(`/v1/operator/accounts/${accountId}/refunds/${refund.refund_id}/complete`),
  ]
  for (const { body, text } of decided) assert.equal(body.status, 'completed', text)
  const before = (await client.get('/v1/wallet/balance')).body.balance
  const row = (receipt: string, cells: string): string => `${receipt},${nairobi(now())},Completed,${cells}`
  const header = 'Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn,Balance,Reason Type,Other Party Info'
  const lines = [
    row(paid.provider_reference, ',-100.00,,Business Payment to Customer via API,254700000001 - ASHA'),
    row(refund.provider_reference, ',-200.00,,Business Payment to Customer via API,254700000001 - ASHA'),
    row(paid.provider_reference, '100.00,,,Business Payment Reversal,254700000001 - ASHA'),
    row(refund.provider_reference, '200.00,,,Business Payment Reversal,254700000001 - ASHA'),
  ]
  const statement = await imported('mpesa', [header, ...lines].join('\r\n'))
  assert.deepEqual([statement.classes.matched.lines, statement.classes.theirs_only.lines], [2, 2])
  assert.equal((await client.get(`/v1/payouts/${paid.payout_id}`)).body.status, 'completed')
  assert.equal((await client.get(`/v1/refunds/${refund.refund_id}`)).body.status, 'completed')
  assert.equal((await client.get('/v1/wallet/balance')).body.balance, before)
  assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
})

function now(): Date {
  return new Date(world.app.clock.nowMs())
}

/** By the wall clock of Kenya and Uganda, so many seconds later. */
function wall(moment: Date, seconds = 0): string {
  const shifted = new Date(moment.getTime() + 3 * 3_600_000 + seconds * 1_000)
  return shifted.toISOString().slice(0, 19).replace('T', ' ')
}

function nairobi(moment: Date): string {
  const [, year, month, day, time] = /^(\d+)-(\d+)-(\d+) (.{8})/.exec(wall(moment, 1)) ?? []
  return `${day}-${month}-${year} ${time}`
}

async function imported(provider: string, file: string, more: object = {}) {
  const made = await world.operator.post(path, { provider, environment: 'test', ...more })
  assert.equal(made.status, 201, made.text)
  const headers = { 'content-type': 'text/csv' }
  const sent = await world.operator.post(`${path}/${made.body.id}/lines`, undefined, { raw: file, headers })
  assert.equal(sent.status, 200, sent.text)
  return eventually(
    async () => {
      const { body } = await world.operator.get(`${path}/${made.body.id}`)
      return body.status === 'matched' && body
    },
    'the statement to be matched',
    60_000,
  )
}

async function linesOf(statement: string, only?: string): Promise<Line[]> {
  const query = only === undefined ? '' : `&class=${only}`
  return (await world.operator.get(`${path}/${statement}/lines?order=asc${query}`)).body.data
}

async function fund(account: string, amount: number, currency: string): Promise<void> {
  const body = { amount, currency, environment: 'test', reference: `fund-${currency}` }
  assert.equal((await world.operator.post(`/v1/operator/accounts/${account}/credit`, body)).status, 200)
}

async function payout(client: Client, phone: string, amount: number, currency: string) {
  const { body, text } = await client.post('/v1/payouts', { amount, currency, phone })
  assert.ok(body.payout_id, text)
  const paid = await over(client, body.payout_id)
  assert.equal(paid.status, 'completed')
  return paid
}

async function collected(client: Client, phone: string, amount: number, currency: string) {
  const { body, text } = await client.post('/v1/payments', { amount, currency, phone })
  assert.ok(body.payment_id, text)
  return eventually(
    async () => {
      const { body: now } = await client.get(`/v1/payments/${body.payment_id}`)
      return now.status === 'completed' && now.provider_reference !== null && now
    },
    'the payment to be completed',
    60_000,
  )
}

async function refunded(client: Client, payment: string, amount: number) {
  const { body, text } = await client.post(`/v1/payments/${payment}/refund`, { amount })
  assert.ok(body.refund_id, text)
  return eventually(
    async () => {
      const { body: now } = await client.get(`/v1/refunds/${body.refund_id}`)
      return now.status === 'completed' && now
    },
    'the refund to be completed',
    60_000,
  )
}
