// SPDX-License-Identifier: Apache-2.0
// Payouts to accounts, over the bank's real protocol: every row of the sandbox's table of accounts, what is shown of an
// account, who is believed, and the rules that stop one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedAccounts } from '../../src/areas/payments/gateway/simulated.ts'
import { callbackUrl } from '../../src/areas/payments/records/callback-address.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { signNotice } from '../../src/protocols/acquirer.ts'
import { bankSignatureHeader } from '../../src/protocols/bank.ts'
import { startMarket } from '../market.ts'
import { over, wallet } from '../paying.ts'
import { eventually, tenantOf } from '../world.ts'

const { world, sql } = await startMarket(0.01)

const bulk = '/v1/payments/payout/bulk'
const account = (ending: string) => ({
  account_number: `011223${ending}`,
  bank_code: '999',
  account_name: 'Asha Otieno',
})
const payout = (ending: string) => ({ amount: 1_000, currency: 'KES', bank: account(ending) })

const outcomes: readonly [ending: string, status: string, reason: string | null][] = [
  ['0001', 'completed', null],
  ['0002', 'failed', 'PROVIDER_FLOAT_LOW'],
  ['0004', 'failed', 'RECIPIENT_NOT_FOUND'],
  ['0011', 'completed', null],
  ['0016', 'completed', null],
  ['0777', 'completed', null],
]

for (const [ending, status, reason] of outcomes)
  test(`an account that ends in ${ending}: ${status}${reason ? ` ${reason}` : ''}`, async () => {
    const { client } = await world.account({ balance: 2_000 })
    const asked = await client.post('/v1/payouts', { ...payout(ending), description: 'Rent' })
    assert.equal(asked.status, 201, asked.text)
    const { method, provider, fee, recipient, payout_id } = asked.body
    assert.deepEqual([method, provider, fee], ['bank_transfer', 'bank', 5])
    const bank = { ...account(ending), account_number: `****${ending}` }
    assert.deepEqual(recipient, { name: null, phone: null, bank })
    assert.ok(!asked.text.includes(account(ending).account_number), 'the number is not repeated')
    const ended = await over(client, payout_id)
    assert.deepEqual([ended.status, ended.failure_reason], [status, reason])
    const isPaid = status === 'completed'
    assert.deepEqual([ended.provider_reference !== null, ended.failure_message === null], [isPaid, isPaid])
    assert.deepEqual(await wallet(client), { balance: isPaid ? 995 : 2_000, held: 0 })
    const { data: told } = (await client.get('/v1/events')).body
    assert.deepEqual(
      told.map(({ event, payload }: { event: string; payload: typeof ended }) => [event, payload.recipient.bank]),
      [[`payout.${status}`, bank]],
    )
    const { rows } = await sql.query(
      'select credit, amount from ledger.transfers where source_id = $1 order by amount',
      [uuidOf('payout', payout_id)],
    )
    assert.deepEqual(
      rows.map(({ credit, amount }) => [credit, Number(amount) / 1_000_000]),
      isPaid ? [['revenue:payout_fees', 5], ['float_out:bank', 1_000]] : [],
    ) // biome-ignore format: a table reads better dense
  })

test('of an account that ends in 0003 nothing is ever known: the money stays held until a person has found out', async () => {
  const { client } = await world.account({ balance: 2_000 })
  const { body } = await client.post('/v1/payouts', payout('0003'))
  assert.equal(body.status, 'processing')
  await client.post('/v1/sandbox/clock', { advance_seconds: 7_000 })
  const waiting = async () => (await world.operator.get('/v1/operator/payments/payouts?limit=200')).body.data
  await eventually(
    async () => (await waiting()).some(({ payout_id }: { payout_id: string }) => payout_id === body.payout_id),
    'the operator to be asked',
    60_000,
  )
  assert.deepEqual(await wallet(client), { balance: 2_000, held: 1_005 })
  const path = `/v1/operator/payments/payouts/${body.payout_id}/settle`
  assert.equal((await world.operator.post(path, { outcome: 'failed' })).body.status, 'failed')
  assert.deepEqual(await wallet(client), { balance: 2_000, held: 0 })
})

test('an account of a bank that is not reached is not found', async () => {
  const { client } = await world.account({ balance: 2_000 })
  const { body } = await client.post('/v1/payouts', {
    ...payout('0001'),
    bank: { ...account('0001'), bank_code: '01' },
  })
  const { status, failure_reason } = await over(client, body.payout_id)
  assert.deepEqual([status, failure_reason], ['failed', 'RECIPIENT_NOT_FOUND'])
})

test('a bank that does not take it is told at once, and nothing is held', async () => {
  const { client } = await world.account({ balance: 2_000 })
  const { status, body } = await client.post('/v1/payouts', payout('0012'))
  assert.deepEqual([status, body.error.code], [503, 'PROVIDER_UNAVAILABLE'])
  assert.deepEqual(await wallet(client), { balance: 2_000, held: 0 })
})

test('a phone or an account, of a bank that reaches it, and never both', async () => {
  const { client } = await world.account({ balance: 2_000 })
  const good = payout('0001')
  const { bank: _, ...unaddressed } = good
  const phone = '+254700000001'
  const rows: [body: object, status: number, code: string][] = [
    [unaddressed, 422, 'VALIDATION_ERROR'],
    [{ ...unaddressed, method: 'bank_transfer' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, phone }, 422, 'VALIDATION_ERROR'],
    [{ ...good, method: 'mobile_money' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, phone, method: 'mobile_money' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, method: 'card' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, provider: 'mpesa' }, 422, 'UNSUPPORTED_PROVIDER'],
    [{ ...good, amount: 0.5 }, 422, 'AMOUNT_TOO_LOW'],
    [{ ...good, amount: 2_500_001 }, 422, 'AMOUNT_TOO_HIGH'],
    [{ ...good, amount: 2_000 }, 402, 'INSUFFICIENT_WALLET_BALANCE'],
    [{ ...good, bank: { ...good.bank, account_number: 'x' } }, 422, 'VALIDATION_ERROR'],
    [{ ...good, bank: { account_number: '0112230001' } }, 422, 'VALIDATION_ERROR'],
  ]
  for (const [body, status, code] of rows) {
    const refused = await client.post('/v1/payouts', body)
    assert.deepEqual([refused.status, refused.body.error?.code], [status, code], JSON.stringify(body))
  }
  assert.equal((await client.get('/v1/payouts')).body.data.length, 0)
  assert.deepEqual(await wallet(client), { balance: 2_000, held: 0 })
})

test('accounts are listed masked, alone and among the transactions, and the bank among the ways to pay out', async () => {
  const { client } = await world.account({ balance: 2_000 })
  const { body } = await client.post('/v1/payouts', payout('0001'))
  await over(client, body.payout_id)
  const [listed] = (await client.get('/v1/payouts?provider=bank')).body.data
  assert.deepEqual([listed.recipient.phone, listed.recipient.bank.account_number], [null, '****0001'])
  const [row] = (await client.get('/v1/payments/transactions?method=bank_transfer')).body.data
  assert.deepEqual([row.type, row.method, row.phone], ['payout', 'bank_transfer', null])
  const way = async (query: string) =>
    (await client.get(`/v1/payments/methods?currency=KES${query}`)).body.data.find(
      ({ method }: { method: string }) => method === 'bank_transfer',
    )
  const out = await way('&direction=out')
  assert.deepEqual([out.directions, out.fee.percent, out.status, out.max_amount], [['in', 'out'], 0.5, 'up', 2_500_000])
  assert.deepEqual([(await way('')).directions, (await way('&direction=in')).fee.percent], [['in', 'out'], 1])
  const { body: key } = await client.post('/v1/api-keys', { name: 'live', environment: 'live' })
  const live = world.stranger.as(key.key)
  assert.deepEqual((await live.get('/v1/payments/methods?currency=KES&direction=out')).body.data, [])
  assert.equal((await live.post('/v1/payouts', payout('0001'))).body.error.code, 'PROVIDER_UNAVAILABLE')
  const path = '/v1/operator/payments/providers'
  const { bank = {} } = simulatedAccounts(world.app)
  const entered = { provider: 'bank', environment: 'live', country: 'KE', ...bank }
  assert.equal((await world.operator.post(path, entered)).status, 201)
  const poor = await eventually(async () => {
    const reply = await live.post('/v1/payouts', payout('0001'))
    return reply.status !== 503 && reply
  }, 'the bank to be known')
  assert.equal(poor.body.error.code, 'INSUFFICIENT_WALLET_BALANCE')
  assert.equal((await world.operator.delete(`${path}/bank-ke-live`)).status, 200)
})

test('only what the bank signed is a reason to ask', async () => {
  const { client, id } = await world.account({ balance: 2_000 })
  const { body } = await client.post('/v1/payouts', payout('0003'))
  const uuid = uuidOf('payout', body.payout_id) ?? ''
  const tenant = tenantOf({ id })
  const { rows } = await sql.query('select token from payments.payouts where id = $1', [uuid])
  const { webhook_secret = '' } = simulatedAccounts(world.app).bank ?? {}
  const call = async (topic: number, said: object, secret = webhook_secret, token: Buffer = rows[0].token) => {
    const url = callbackUrl(world.app, tenant, { id: uuid, token }, 'payout', topic)
    const signature = signNotice(secret, JSON.stringify(said), Math.floor(world.app.clock.nowMs() / 1_000))
    const headers = { [bankSignatureHeader]: signature }
    return (await world.stranger.request('POST', new URL(url).pathname, { body: said, headers })).status
  }
  const paid = { id: uuid, status: 'paid', paid_amount: '1000', reference: 'X' }
  const [result, timeout, answer] = [0, 1, 2]
  assert.equal(await call(result, paid, 'guessed'), 404, 'signed by somebody else')
  assert.equal(await call(result, paid, webhook_secret, Buffer.alloc(16)), 404, 'a wrong token')
  assert.equal(await call(result, { ...paid, id: 'another' }), 404, 'of something else')
  assert.equal(await call(result, {}), 404, 'of nothing')
  for (const topic of [timeout, answer]) assert.equal(await call(topic, paid), 404, 'an address that it was not given')
  assert.equal(await call(result, paid), 200)
  assert.equal((await client.get(`/v1/payouts/${body.payout_id}`)).body.status, 'processing', 'the bank says otherwise')
  assert.deepEqual(await wallet(client), { balance: 2_000, held: 1_005 })
})

test('a batch pays phones and accounts, and an account on a blacklist is not paid', async () => {
  const { client } = await world.account({ balance: 2_000 })
  const entry = { type: 'bank_account', value: '999:0112230777' }
  assert.equal((await client.post('/v1/payments/fraud/blacklist', entry)).status, 201)
  const items = [
    { amount: 10, bank: account('0001') },
    { amount: 20, phone: '+254700000001' },
    { amount: 30, bank: account('0777') },
    { amount: 40, bank: account('0004') },
    { amount: 50, bank: account('0001'), phone: '+254700000001' },
  ]
  const { body: batch } = await client.post(bulk, { currency: 'KES', items })
  assert.deepEqual([batch.accepted_count, batch.failed_count], [4, 1])
  const ended = await eventually(
    async () => {
      const { status, body } = await client.get(`${bulk}/${batch.batch_id}`)
      return status === 200 && body.status !== 'processing' && body
    },
    'the batch to end',
    60_000,
  )
  assert.deepEqual(
    ended.payouts.map((item: { status: string; failure_reason?: string | null }) => [item.status, item.failure_reason]),
    [
      ['completed', null],
      ['completed', null],
      ['failed', 'BLACKLISTED'],
      ['failed', 'RECIPIENT_NOT_FOUND'],
      ['failed', undefined],
    ],
  )
  assert.deepEqual(await wallet(client), { balance: 1_969.85, held: 0 })
  const alone = await client.post('/v1/payouts', payout('0777'))
  assert.deepEqual([alone.status, alone.body.error.code], [403, 'PAYMENT_BLOCKED'])
  const all = { name: 'By bank', action: 'review', applies_to: ['payout'] }
  const conditions = [{ field: 'bank_code', operator: 'eq', value: '999' }]
  assert.equal((await client.post('/v1/payments/fraud/rules', { ...all, conditions })).status, 201)
  const { body: waiting } = await client.post('/v1/payouts', payout('0001'))
  assert.deepEqual([waiting.status, waiting.in_review], ['pending', true])
  const { body: approver } = await client.post('/v1/api-keys', { name: 'approver', scopes: ['payouts:approve'] })
  const approved = await world.stranger.as(approver.key).post(`/v1/payouts/${waiting.payout_id}/approve`)
  assert.equal(approved.body.status, 'processing', approved.text)
  assert.equal((await over(client, waiting.payout_id)).status, 'completed')
})
