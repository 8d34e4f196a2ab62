// SPDX-License-Identifier: Apache-2.0
// A payout from the request to the phone and the signed webhook, over the provider's real protocol. Every row of the
// sandbox's table of payouts is here, and what becomes of the money that was held for it.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { uuidOf } from '../../src/kernel/ids.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import type { Client } from '../client.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { eventually, startWorld, type World } from '../world.ts'

let world: World
let receiver: Receiver
let sql: pg.Client

before(async () => {
  world = await startWorld({ PAMOJA_RATE_LIMITS: 'off', PAMOJA_SANDBOX_TIME_SCALE: 0.01 })
  receiver = await startReceiver()
  sql = new pg.Client({ connectionString: world.databaseUrl })
  await sql.connect()
})
after(async () => {
  await sql.end()
  await receiver.stop()
  await world.stop()
})

test('a payout is held, paid, taken from the wallet with its fee, and its webhook is signed', async () => {
  const { client } = await world.account({ balance: 5_000 })
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/out'), events: ['payout.*'] })
  const asked = await client.post('/v1/payouts', {
    amount: 2000,
    currency: 'kes',
    phone: '+254700000001',
    description: 'Salary',
    reference: 'salary-9',
    recipient: { name: 'Asha' },
    metadata: { month: 'May' },
  })
  assert.equal(asked.status, 201, asked.text)
  const { payout_id, status, amount, fee, currency, recipient, provider } = asked.body
  assert.deepEqual([status, amount, fee, currency, provider], ['processing', 2000, 10, 'KES', 'mpesa'])
  assert.deepEqual(recipient, { name: 'Asha', phone: '+254700000001', bank: null })
  assert.equal(asked.headers.location, `/api/v1/payouts/${payout_id}`)
  const paid = await over(client, payout_id)
  assert.deepEqual([paid.status, paid.failure_reason, paid.batch_id], ['completed', null, null])
  assert.match(paid.provider_reference, /^S[0-9A-F]{9}$/)
  assert.deepEqual(await wallet(client), { balance: 2990, held: 0 })
  const told = await eventually(async () => receiver.received.find(({ url }) => url === '/out'), 'the webhook')
  assert.equal(told.headers['x-service-signature'], createHmac('sha256', hook.secret).update(told.body).digest('hex'))
  const event = JSON.parse(told.body)
  assert.deepEqual(
    [event.event, event.payout_id, event.status, event.amount, event.metadata, event.sequence, event.payout.fee],
    ['payout.completed', payout_id, 'completed', 2000, { month: 'May' }, 1, 10],
  )
  assert.deepEqual(await transfers(payout_id), [
    ['wallet', 'revenue:payout_fees', 10],
    ['wallet', 'float_out:mpesa', 2000],
  ])
  const rows = (await client.get('/v1/wallet/transactions')).body.data
  assert.deepEqual(
    rows.slice(0, 2).map((row: Record<string, unknown>) => [row.type, row.amount, row.source, row.reference]),
    [
      ['payout_fee', 10, { type: 'payout', id: payout_id }, 'salary-9'],
      ['payout', 2000, { type: 'payout', id: payout_id }, 'salary-9'],
    ],
  )
  assert.equal(
    (await client.get(`/v1/payments/payout/${payout_id}`)).text,
    (await client.get(`/v1/payouts/${payout_id}`)).text,
  )
})

const outcomes: Readonly<Record<string, readonly [status: string, reason?: string]>> = {
  '0001': ['completed'],
  '0002': ['failed', 'PROVIDER_FLOAT_LOW'],
  '0003': ['failed', 'PROVIDER_ERROR'],
  '0004': ['failed', 'RECIPIENT_NOT_FOUND'],
  '0005': ['failed', 'RECIPIENT_LIMIT_REACHED'],
  '0006': ['completed'],
  '0008': ['completed'],
  '0009': ['completed'],
  '0010': ['completed'],
  '0011': ['completed'],
  '0014': ['completed'],
  '0015': ['completed'],
  '0016': ['completed'],
  '0017': ['completed'],
  '0020': ['completed'],
}

/** What a provider does not do differently is left to M-Pesa; Airtel Money is never sent a payout again. */
const { '0016': _, ...sentOnce } = outcomes
const providers = [
  { provider: 'mpesa', currency: 'KES', beginning: '+25470000', outcomes },
  { provider: 'mtn_momo', currency: 'UGX', beginning: '+25677000', outcomes },
  { provider: 'airtel_money', currency: 'KES', beginning: '+25473300', outcomes: sentOnce },
]

for (const { provider, currency, beginning, outcomes } of providers)
  for (const [ending, [status, reason = null]] of Object.entries(outcomes))
    test(`a ${provider} payee whose number ends in ${ending}: ${status}${reason ? ` ${reason}` : ''}`, async () => {
      const { client } = await world.account({ balance: 2_000, currency })
      const asked = await client.post('/v1/payouts', { amount: 1_000, currency, phone: `${beginning}${ending}` })
      assert.deepEqual([asked.status, asked.body.provider], [201, provider], asked.text)
      const payout = await over(client, asked.body.payout_id)
      assert.deepEqual([payout.status, payout.failure_reason], [status, reason])
      assert.equal(payout.failure_message === null, reason === null)
      assert.deepEqual(await wallet(client), { balance: status === 'completed' ? 995 : 2_000, held: 0 })
      assert.deepEqual(await events(client), [`payout.${status}`])
    })

for (const { provider, currency, beginning } of providers)
  for (const ending of ['0007', '0012'])
    test(`${provider} out of reach for ${ending} is told at once, holds nothing, and the reference may be used again`, async () => {
      const { client } = await world.account({ balance: 2_000, currency })
      const body = { amount: 1_000, currency, phone: `${beginning}${ending}`, reference: 'r-1' }
      for (let i = 0; i < 2; i++) {
        const refused = await client.post('/v1/payouts', body, { headers: { 'Idempotency-Key': 'po-1' } })
        assert.deepEqual([refused.status, refused.body.error.code], [503, 'PROVIDER_UNAVAILABLE'], refused.text)
        const stored = await client.get(`/v1/payouts/${refused.body.error.payout_id}`)
        assert.deepEqual([stored.body.status, stored.body.failure_reason], ['failed', 'PROVIDER_UNAVAILABLE'])
      }
      assert.deepEqual(await wallet(client), { balance: 2_000, held: 0 })
    })

test('a payout that the provider takes back is reversed, and money and fee are back', async () => {
  const { client } = await world.account({ balance: 2_000 })
  const { body } = await client.post('/v1/payouts', { amount: 1_000, currency: 'KES', phone: '+254700000013' })
  const payout = await eventually(async () => {
    const { body: now } = await client.get(`/v1/payouts/${body.payout_id}`)
    return now.status === 'reversed' && now
  }, 'the reversal')
  assert.equal(payout.failure_reason, 'REVERSED_BY_PROVIDER')
  assert.ok(payout.completed_at, 'it had been paid')
  assert.deepEqual(await wallet(client), { balance: 2_000, held: 0 })
  assert.deepEqual((await events(client)).sort(), ['payout.completed', 'payout.reversed'])
  const types = (await client.get('/v1/wallet/transactions')).body.data.map(({ type }: { type: string }) => type)
  assert.deepEqual(types.slice(0, 4).sort(), ['payout', 'payout_fee', 'payout_reversal', 'payout_reversal'])
  assert.equal((await client.get('/v1/wallet/transactions?type=payout_reversal')).body.data.length, 2)
})

test('more than the wallet has is refused with what is there and what is needed, and nothing is created', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const body = { amount: 1_000, currency: 'KES', phone: '+254700000001' }
  const refused = await client.post('/v1/payments/payout', body)
  const { code, available, required, currency } = refused.body.error
  assert.deepEqual(
    [refused.status, code, available, required, currency],
    [402, 'INSUFFICIENT_WALLET_BALANCE', 1_000, 1_005, 'KES'],
  )
  const none = await client.post('/v1/payouts', { amount: 1_000, currency: 'UGX', phone: '+256770000001' })
  assert.deepEqual([none.status, none.body.error.available], [402, 0])
  assert.equal((await client.get('/v1/payouts')).body.data.length, 0)
  assert.deepEqual(await wallet(client), { balance: 1_000, held: 0 })
})

test('payouts that are asked for at once cannot spend the same money', async () => {
  const { client } = await world.account({ balance: 1_005 })
  const ask = () => client.post('/v1/payouts?wait=0', { amount: 500, currency: 'KES', phone: '+254700000001' })
  const replies = await Promise.all(Array.from({ length: 8 }, ask))
  assert.equal(replies.filter(({ status }) => status === 201).length, 2)
  assert.equal(replies.filter(({ status }) => status === 402).length, 6)
  for (const { body } of replies.filter(({ status }) => status === 201)) await over(client, body.payout_id)
  assert.deepEqual(await wallet(client), { balance: 0, held: 0 })
})

test('the same key gives the same payout, the same reference none', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const body = { amount: 100, currency: 'KES', phone: '+254700000001', reference: 'once' }
  const headers = { 'Idempotency-Key': 'k' }
  const first = await client.post('/v1/payouts', body, { headers })
  const again = await client.post('/v1/payouts', body, { headers })
  assert.deepEqual([again.status, again.text], [201, first.text])
  const second = await client.post('/v1/payouts', body)
  assert.deepEqual(
    [second.status, second.body.error.code, second.body.error.original_id],
    [409, 'DUPLICATE_REFERENCE', first.body.payout_id],
  )
  await over(client, first.body.payout_id)
  assert.deepEqual(await wallet(client), { balance: 899.5, held: 0 })
})

test('what cannot be paid is refused with a code, and nothing is stored', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const good = { amount: 100, currency: 'KES', phone: '+254700000001' }
  const rows: [body: object, status: number, code: string][] = [
    [{ ...good, amount: 0 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, amount: 1.5 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, amount: 250_001 }, 422, 'AMOUNT_TOO_HIGH'],
    [{ ...good, currency: 'KSH' }, 422, 'UNSUPPORTED_CURRENCY'],
    [{ ...good, currency: 'GBP' }, 422, 'UNSUPPORTED_METHOD'],
    [{ ...good, provider: 'mtn_momo' }, 422, 'UNSUPPORTED_PROVIDER'],
    [{ ...good, phone: '0700000001' }, 422, 'INVALID_PHONE'],
    [{ ...good, method: 'bank_transfer' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, reference: 'two words' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, recipient: { email: 'asha' } }, 422, 'VALIDATION_ERROR'],
    [{ ...good, scheduled_at: 'tomorrow' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, scheduled_at: '2020-01-01T00:00:00Z' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, scheduled_at: '2099-01-01T00:00:00Z' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, callback_url: 'ftp://example.com' }, 400, 'INVALID_URL'],
  ]
  for (const [body, status, code] of rows) {
    const refused = await client.post('/v1/payouts', body)
    assert.deepEqual([refused.status, refused.body.error?.code], [status, code], JSON.stringify(body))
  }
  for (const id of ['po_nonsense', 'pay_01jb2c3d4e5f6g7h8j9kamnpqr', 'po_01jb2c3d4e5f6g7h8j9kamnpqr']) {
    assert.equal((await client.get(`/v1/payouts/${id}`)).status, 404)
    assert.equal((await client.post(`/v1/payouts/${id}/cancel`)).status, 404)
  }
  assert.deepEqual(await wallet(client), { balance: 1_000, held: 0 })
  assert.equal((await client.get('/v1/payouts')).body.data.length, 0)
})

test('a payout waits for its time, can be withdrawn until then, and goes when it has come', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
  const body = { amount: 100, currency: 'KES', phone: '+254700000001', scheduled_at }
  const [first, second] = [await client.post('/v1/payouts', body), await client.post('/v1/payouts', body)]
  assert.deepEqual([first.status, first.body.status, first.body.scheduled_at], [201, 'pending', scheduled_at])
  assert.deepEqual(await wallet(client), { balance: 1_000, held: 201 })
  const cancelled = await client.post(`/v1/payouts/${first.body.payout_id}/cancel`)
  assert.deepEqual([cancelled.status, cancelled.body.status], [200, 'cancelled'], cancelled.text)
  assert.deepEqual(await wallet(client), { balance: 1_000, held: 100.5 })
  const again = await client.post(`/v1/payouts/${first.body.payout_id}/cancel`)
  assert.deepEqual([again.status, again.body.error.code, again.body.error.status], [409, 'INVALID_STATE', 'cancelled'])
  await client.post('/v1/sandbox/clock', { advance_seconds: 3_700 })
  assert.equal((await over(client, second.body.payout_id)).status, 'completed')
  const late = await client.post(`/v1/payouts/${second.body.payout_id}/cancel`)
  assert.deepEqual([late.status, late.body.error.status], [409, 'completed'])
  assert.deepEqual(await wallet(client), { balance: 899.5, held: 0 })
  assert.deepEqual(await events(client), ['payout.completed'])
})

test('payouts are listed with masked numbers, alone and among the transactions', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const { body: payment } = await client.post('/v1/payments', { amount: 10, currency: 'KES', phone: '+254700000001' })
  for (const [n, ending] of ['0001', '0004'].entries()) {
    const body = { amount: 20 + n, currency: 'KES', phone: `+25470000${ending}`, reference: `p-${n}` }
    await over(client, (await client.post('/v1/payouts', body)).body.payout_id)
  }
  const amounts = async (path: string) =>
    (await client.get(path)).body.data.map(({ amount }: { amount: number }) => amount)
  assert.deepEqual(await amounts('/v1/payouts'), [21, 20])
  assert.deepEqual(await amounts('/v1/payouts?status=completed'), [20])
  assert.deepEqual(await amounts('/v1/payouts?reference=p-1&provider=mpesa&currency=kes'), [21])
  assert.deepEqual(await amounts('/v1/payouts?end_date=2020-01-01'), [])
  const [listed] = (await client.get('/v1/payouts')).body.data
  assert.equal(listed.recipient.phone, '+2547****0004')
  assert.deepEqual(await amounts('/v1/payments/transactions'), [21, 20, 10])
  assert.deepEqual(await amounts('/v1/payments/transactions?order=asc&limit=2'), [10, 20])
  assert.deepEqual(await amounts('/v1/payments/transactions?type=payout'), [21, 20])
  assert.deepEqual(await amounts('/v1/payments/transactions?type=payment'), [10])
  assert.deepEqual(await amounts('/v1/payments/transactions?type=topup'), [])
  const first = await client.get('/v1/payments/transactions?limit=1')
  assert.deepEqual(await amounts(`/v1/payments/transactions?limit=1&cursor=${first.body.next_cursor}`), [20])
  const [row] = first.body.data
  assert.deepEqual(
    [row.type, row.direction, row.payment_id, row.payout_id, row.phone],
    ['payout', 'debit', null, listed.payout_id, '+2547****0004'],
  )
  assert.ok(payment.payment_id)
  const { body: methods } = await client.get('/v1/payments/methods?currency=KES&direction=out')
  assert.deepEqual([methods.data[0].provider, methods.data[0].fee.percent], ['mpesa', 0.5])
})

test('nobody else may pay, and a key without the scope may not', async () => {
  const { client } = await world.account({ balance: 100 })
  const { body: key } = await client.post('/v1/api-keys', {
    name: 'reader',
    scopes: ['payouts:read', 'payments:write'],
  })
  const reader = world.stranger.as(key.key)
  const body = { amount: 10, currency: 'KES', phone: '+254700000001' }
  assert.equal((await reader.post('/v1/payouts', body)).status, 403)
  assert.equal((await reader.get('/v1/payouts')).status, 200)
  const { body: payout } = await client.post('/v1/payouts', body)
  const { client: eve } = await world.account({ balance: 100 })
  assert.equal((await eve.get(`/v1/payouts/${payout.payout_id}`)).status, 404)
})

test('the ledger verifies', async () => {
  assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
})

const ends = ['completed', 'failed', 'cancelled', 'reversed']

function over(client: Client, id: string) {
  return eventually(
    async () => {
      const { body } = await client.get(`/v1/payouts/${id}`)
      return ends.includes(body.status) && body
    },
    `payout ${id} to be over`,
    60_000,
  )
}

async function events(client: Client): Promise<string[]> {
  const { body } = await client.get('/v1/events?limit=20')
  return body.data.map(({ event }: { event: string }) => event)
}

async function wallet(client: Client): Promise<{ balance: number; held: number }> {
  const { balance, held } = (await client.get('/v1/wallet/balance')).body
  return { balance, held }
}

async function transfers(id: string): Promise<[debit: string, credit: string, amount: number][]> {
  const { rows } = await sql.query(
    'select debit, credit, amount from ledger.transfers where source_id = $1 order by amount',
    [uuidOf('payout', id)],
  )
  return rows.map(({ debit, credit, amount }) => [debit, credit, Number(amount) / 1_000_000])
}
