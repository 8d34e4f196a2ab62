// SPDX-License-Identifier: Apache-2.0
// A payout from the request to the phone and the signed webhook, over the provider's real protocol. Every row of the
// sandbox's table of payouts is here, and what becomes of the money that was held for it.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { simulatedAccounts } from '../../src/areas/payments/gateway/simulated.ts'
import { callbackUrl } from '../../src/areas/payments/records/callback-address.ts'
import { bucketOf, uuidOf } from '../../src/kernel/ids.ts'
import type { Client } from '../client.ts'
import { eventually } from '../eventually.ts'
import { startMarket } from '../market.ts'
import { over, wallet } from '../paying.ts'

const { world, sql, receiver } = await startMarket(0.01)

test('a payout is held, paid, taken from the wallet with its fee, and its webhook is signed', async () => {
  const { client } = await world.account({ balance: 5_000 })
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/out'), events: ['payout.*'] })
  const asked = await client.post('/v1/payouts', {
    amount: 2000,
    currency: 'kes',
    phone: '+254700000001',
    description: 'Salary',
    reference: 'salary-9',
    recipient: { name: 'Asha', email: 'asha@example.com' },
    metadata: { month: 'May' },
  })
  assert.equal(asked.status, 201, asked.text)
  const { payout_id, status, amount, fee, currency, recipient, provider } = asked.body
  assert.deepEqual([status, amount, fee, currency, provider], ['processing', 2000, 10, 'KES', 'mpesa'])
  assert.deepEqual(recipient, { name: 'Asha', email: 'asha@example.com', phone: '+254700000001', bank: null })
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
    [second.status, second.body.error.code, second.body.error.existing_id],
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
    [{ ...good, currency: 'XOF', phone: '+221770000001' }, 422, 'UNSUPPORTED_PROVIDER'],
    [{ ...good, currency: 'XOF', phone: '+237650000001' }, 422, 'INVALID_PHONE'],
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
  assert.equal((await client.get(`/v1/payouts/${row.transaction_id}`)).body.payout_id, row.payout_id)
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

test('whoever calls without knowing what was agreed on is not heard, and a time-out tells nothing', async () => {
  const { client } = await world.account({ balance: 2_000 })
  const body = { amount: 1_000, currency: 'KES', phone: '+254700000006' }
  const { body: payout } = await client.post('/v1/payouts', body)
  const { tenant, row } = await stored(payout.payout_id)
  const told = (ResultCode: number, OriginatorConversationID: string) => ({
    Result: { ResultCode, OriginatorConversationID, ConversationID: 'AG_1', TransactionID: 'X' },
  })
  const call = async (topic: number, said: object, token = row.token) => {
    const url = callbackUrl(world.app, tenant, { id: row.id, token }, 'payout', topic)
    const answer = await world.stranger.request('POST', new URL(url).pathname, {
      body: said,
    })
    return answer.status
  }
  const [result, timeout, answer] = [0, 1, 2]
  assert.equal(await call(result, told(0, row.id), Buffer.alloc(16)), 404, 'a wrong token')
  assert.equal(await call(result, told(1, 'another')), 404, 'another id')
  assert.equal(await call(result, {}), 404, 'nothing that the provider says')
  assert.equal(await call(9, told(0, row.id)), 404, 'an address that was never given')
  assert.equal(await call(timeout, told(1, row.id)), 200)
  assert.equal(await call(result, told(1, row.id)), 200, 'bad news that is not so')
  assert.equal(await call(answer, told(2001, 'x')), 200, 'a question that was not answered')
  // By now it may be paid: what it must not be is failed.
  assert.notEqual((await client.get(`/v1/payouts/${payout.payout_id}`)).body.status, 'failed')
  const paid = await over(client, payout.payout_id)
  assert.equal(paid.status, 'completed')
  assert.equal(await call(result, told(1, row.id)), 200, 'bad news after it was paid')
  assert.equal((await client.get(`/v1/payouts/${payout.payout_id}`)).body.status, 'completed')
  assert.deepEqual(await wallet(client), { balance: 995, held: 0 })
  const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
  const { body: waiting } = await client.post('/v1/payouts', { ...body, amount: 1, scheduled_at })
  const unsent = await stored(waiting.payout_id)
  const url = callbackUrl(world.app, unsent.tenant, unsent.row, 'payout', answer)
  const early = await world.stranger.request('POST', new URL(url).pathname, { body: told(0, 'x') })
  assert.equal(early.status, 404, 'of what was never sent nobody can tell')
})

test('a payout that the provider does not take is tried again by the job, and is refused when it never does', async () => {
  const { client } = await world.account({ balance: 2_000 })
  const body = { amount: 1_000, currency: 'KES', phone: '+254700000012' }
  const asked = await client.post('/v1/payouts?wait=0', body)
  assert.deepEqual([asked.status, asked.body.status], [201, 'processing'])
  const payout = await over(client, asked.body.payout_id)
  assert.deepEqual([payout.status, payout.failure_reason], ['failed', 'PROVIDER_UNAVAILABLE'])
  assert.deepEqual(await wallet(client), { balance: 2_000, held: 0 })
})

test('a provider that takes nothing is given a rest, and a simulated one is not', async () => {
  const { client } = await world.account({ currency: 'UGX', balance: 2_000 })
  const { client: other } = await world.account({ currency: 'UGX', balance: 2_000 })
  const refused = { amount: 1_000, currency: 'UGX', phone: '+256770000012' }
  const good = { ...refused, phone: '+256770000001' }
  for (let i = 0; i < 20; i++) assert.equal((await client.post('/v1/payouts', refused)).status, 503)
  const asked = await other.post('/v1/payouts', good)
  assert.equal(asked.status, 201, asked.text)
  assert.equal((await over(other, asked.body.payout_id)).status, 'completed', 'the number decides')

  const { mtn_momo: momo } = simulatedAccounts(world.app)
  const entered = { provider: 'mtn_momo', environment: 'test', country: 'UG', ...momo }
  const provider = await world.operator.post('/v1/operator/payments/providers', entered)
  assert.equal(provider.status, 201, provider.text)
  const methods = async (direction: string) =>
    (await client.get(`/v1/payments/methods?country=UG${direction}`)).body.data[0].status
  // Twenty that were not taken, and the provider is asked nothing for half a minute.
  await eventually(async () => {
    assert.equal((await client.post('/v1/payouts', refused)).status, 503)
    return (await methods('&direction=out')) === 'down'
  }, 'it to be left alone')
  assert.equal(await methods(''), 'up', 'collections are another matter')
  const queued = await client.post('/v1/payouts', good)
  assert.deepEqual([queued.status, queued.body.status], [201, 'processing'], 'it waits instead of failing')
  assert.deepEqual(await wallet(client, 'UGX'), { balance: 2_000, held: 1_005 })
  assert.equal((await over(client, queued.body.payout_id)).status, 'completed')
  await world.operator.delete(`/v1/operator/payments/providers/${provider.body.id}`)
})

test('time fails nothing: after a week a person has to find out, and the money is held until then', async () => {
  const lost = { amount: 1_000, currency: 'KES', phone: '+254733000016' }
  const waiting = async () => (await world.operator.get('/v1/operator/payments/payouts?limit=200')).body.data
  for (const [outcome, status, balance] of [
    ['failed', 'failed', 2_000],
    ['paid', 'completed', 995],
  ] as const) {
    const { client } = await world.account({ balance: 2_000 })
    const { body: payout } = await client.post('/v1/payouts', lost)
    assert.equal(payout.status, 'processing')
    const path = `/v1/operator/payments/payouts/${payout.payout_id}/settle`
    assert.equal((await world.operator.post(path, { outcome })).status, 404, 'nobody is asked yet')
    await client.post('/v1/sandbox/clock', { advance_seconds: 7_000 })
    const found = await eventually(
      async () => (await waiting()).find(({ payout_id }: { payout_id: string }) => payout_id === payout.payout_id),
      'the operator to be asked',
    )
    assert.deepEqual([found.status, found.amount, found.provider], ['processing', 1_000, 'airtel_money'])
    assert.deepEqual(await wallet(client), { balance: 2_000, held: 1_005 })
    const settled = await world.operator.post(path, {
      outcome,
      ...(outcome === 'paid' ? { provider_reference: 'CI9' } : {}),
    })
    assert.deepEqual([settled.status, settled.body.status], [200, status], settled.text)
    assert.equal((await world.operator.post(path, { outcome })).status, 404, 'once')
    const now = (await client.get(`/v1/payouts/${payout.payout_id}`)).body
    assert.deepEqual([now.status, now.provider_reference], [status, outcome === 'paid' ? 'CI9' : null])
    assert.deepEqual(await wallet(client), { balance, held: 0 })
    assert.deepEqual(await events(client), [`payout.${status}`])
  }
})

test('live payouts need a provider that was entered with what it takes to pay, whole', async () => {
  const { client } = await world.account({ balance: 100 })
  const { body: key } = await client.post('/v1/api-keys', { name: 'live', environment: 'live' })
  const live = world.stranger.as(key.key)
  const asked = { amount: 10, currency: 'KES', phone: '+254700000001' }
  const nobody = await live.post('/v1/payouts', asked)
  assert.deepEqual([nobody.status, nobody.body.error.code], [503, 'PROVIDER_UNAVAILABLE'])
  assert.equal((await live.get('/v1/payments/methods?country=KE&direction=out')).body.data.length, 0)
  const { mpesa = {} } = simulatedAccounts(world.app)
  const path = '/v1/operator/payments/providers'
  const account = { provider: 'mpesa', environment: 'live', ...mpesa }
  for (const bad of [
    { ...account, initiator_password: undefined },
    { ...account, certificate: 'x' },
    { ...account, certificate: '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----' },
    { ...account, payout_pin: '1234' },
  ])
    assert.equal((await world.operator.post(path, bad)).body.error?.code, 'VALIDATION_ERROR')
  const entered = await world.operator.post(path, account)
  assert.equal(entered.status, 201, entered.text)
  assert.ok(mpesa.initiator_password && !entered.text.includes(mpesa.initiator_password), 'no secret comes back')
  const poor = await eventually(async () => {
    const reply = await live.post('/v1/payouts', asked)
    return reply.status !== 503 && reply
  }, 'the provider to be known')
  assert.equal(poor.body.error.code, 'INSUFFICIENT_WALLET_BALANCE')
  const [one, ...others] = ['payout_shortcode', 'initiator_name', 'initiator_password', 'certificate']
  const change = (body: object) => world.operator.patch(`${path}/mpesa-ke-live`, body)
  const half = await change({ [one ?? '']: null })
  assert.deepEqual([half.status, half.body.error?.details], [422, 'payout_shortcode: needed for mpesa'])
  assert.match((await change({ payout_pin: null })).body.error.details, /^payout_pin: is not a setting of mpesa/)
  const without = await change(Object.fromEntries([one, ...others].map((name) => [name, null])))
  assert.deepEqual([without.status, without.body.payout_shortcode], [200, undefined], without.text)
  await eventually(async () => (await live.post('/v1/payouts', asked)).status === 503, 'nothing to be paid any more')
  assert.equal((await world.operator.delete(`${path}/mpesa-ke-live`)).status, 200)
})

async function events(client: Client): Promise<string[]> {
  const { body } = await client.get('/v1/events?limit=20')
  return body.data.map(({ event }: { event: string }) => event)
}

async function transfers(id: string): Promise<[debit: string, credit: string, amount: number][]> {
  const { rows } = await sql.query(
    'select debit, credit, amount from ledger.transfers where source_id = $1 order by amount',
    [uuidOf('payout', id)],
  )
  return rows.map(({ debit, credit, amount }) => [debit, credit, Number(amount) / 1_000_000])
}

/** A payout as it is stored, and whose it is. */
async function stored(id: string) {
  const { rows } = await sql.query('select id, account_id, token from payments.payouts where id = $1', [
    uuidOf('payout', id),
  ])
  const [row] = rows
  const environment: 'test' | 'live' = 'test'
  return { row, tenant: { bucket: bucketOf(row.account_id), account: row.account_id, environment } }
}
