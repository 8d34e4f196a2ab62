// SPDX-License-Identifier: Apache-2.0
// Payments by bank, over the bank's real protocol: every row of the sandbox's table of accounts, and one-time accounts
// that a payer pays into.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedAccounts } from '../../src/areas/payments/gateway/simulated.ts'
import { secretNameOf } from '../../src/areas/payments/records/callback-address.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { enabledCurrencies } from '../../src/ledger/currencies.ts'
import { signNotice } from '../../src/protocols/acquirer.ts'
import { bankSignatureHeader } from '../../src/protocols/bank.ts'
import { startMarket } from '../market.ts'
import { settled } from '../paying.ts'
import { eventually } from '../world.ts'

const { world, sql } = await startMarket(0.01)

const holder = (account_number: string) => ({ account_number, bank_code: '999', account_name: 'Asha Otieno' })

const rows: readonly [ending: string, status: string, reason: string | null][] = [
  ['0001', 'completed', null],
  ['0002', 'failed', 'INSUFFICIENT_FUNDS'],
  ['0003', 'expired', 'TRANSACTION_TIMEOUT'],
  ['0011', 'completed', null],
  ['0016', 'completed', null],
  ['0777', 'completed', null],
]

for (const [ending, status, reason] of rows)
  test(`the debit of an account that ends in ${ending}: ${status}${reason ? ` ${reason}` : ''}`, async () => {
    const { client } = await world.account()
    const bank = holder(`011223${ending}`)
    // Who is to pay has all the time there is: what is sent again after an expiry is not sent, however slow the machine.
    const expires_in = status === 'expired' ? 60 : 86_400
    const asked = await client.post('/v1/payments', { amount: 1_000, currency: 'KES', bank, expires_in })
    assert.deepEqual([asked.status, asked.body.method, asked.body.provider], [201, 'bank_transfer', 'bank'], asked.text)
    assert.deepEqual(asked.body.bank, { ...bank, account_number: `****${ending}` })
    assert.ok(!asked.text.includes(bank.account_number), 'the number is not repeated')
    const payment = await settled(client, asked.body.payment_id)
    assert.deepEqual([payment.status, payment.failure_reason], [status, reason])
    assert.equal(payment.failure_message === null, reason === null)
    assert.equal(payment.bank_transfer, undefined)
    const isPaid = status === 'completed'
    assert.equal(payment.provider_reference !== null, isPaid)
    assert.deepEqual(
      await moves(payment.payment_id),
      isPaid
        ? [
            ['float:bank', 'wallet', 990],
            ['float:bank', 'revenue:payment_fees', 10],
          ]
        : [],
    )
    const told = (await client.get('/v1/events?limit=20')).body.data.map(({ event }: { event: string }) => event)
    assert.deepEqual(told.sort(), [isPaid ? 'payment.completed' : 'payment.failed', 'payment.created'].sort())
  })

test('a debit that the bank refuses at once is an error, which names the payment that is stored as failed', async () => {
  const { client } = await world.account()
  const asked = { amount: 1_000, currency: 'KES', bank: holder('0112230004') }
  const refused = await client.post('/v1/payments', asked)
  const { code, failure_reason, payment_id } = refused.body.error
  assert.deepEqual([refused.status, code, failure_reason], [402, 'DEBIT_REFUSED', 'PAYER_NOT_FOUND'], refused.text)
  const { body: stored } = await client.get(`/v1/payments/${payment_id}`)
  assert.deepEqual([stored.status, stored.failure_reason], ['failed', 'PAYER_NOT_FOUND'])
  const told = (await client.get('/v1/events?limit=20')).body.data.map(({ event }: { event: string }) => event)
  assert.deepEqual(told.sort(), ['payment.created', 'payment.failed'])
  const unwaited = await client.post('/v1/payments?wait=0', asked)
  assert.equal(unwaited.status, 201)
  assert.equal((await settled(client, unwaited.body.payment_id)).failure_reason, 'PAYER_NOT_FOUND')
})

test('a bank out of reach is told at once, charges nothing, and the same key may be tried again', async () => {
  const { client } = await world.account()
  const headers = { 'Idempotency-Key': 'debit-1' }
  for (let i = 0; i < 2; i++) {
    const body = { amount: 100, currency: 'KES', bank: holder('0012'), reference: 'r-1' }
    const refused = await client.post('/v1/payments', body, { headers })
    assert.deepEqual([refused.status, refused.body.error.code], [503, 'PROVIDER_UNAVAILABLE'], refused.text)
    const { body: stored } = await client.get(`/v1/payments/${refused.body.error.payment_id}`)
    assert.deepEqual([stored.status, stored.failure_reason], ['failed', 'PROVIDER_UNAVAILABLE'])
  }
})

test('the method may be told by its name, and a debit waits for an hour unless told otherwise', async () => {
  const { client } = await world.account()
  const body = { amount: '12.50', currency: 'kes', method: 'bank_transfer', bank: holder('0001') }
  const { body: debit } = await client.post('/v1/payments?wait=0', body)
  assert.deepEqual([debit.status, lifeMs(debit)], ['pending', 36_000])
  assert.equal((await settled(client, debit.payment_id)).status, 'completed')
})

test('a one-time account is given, and the exact amount paid into it completes the payment', async () => {
  const { client } = await world.account()
  const asked = await client.post('/v1/payments', { amount: 2_500, currency: 'NGN', method: 'bank_transfer' })
  assert.deepEqual([asked.status, asked.body.status], [201, 'processing'], asked.text)
  const { bank_transfer: into } = asked.body
  assert.deepEqual(
    [into.bank_name, into.bank_code, into.amount, into.expires_at, lifeMs(asked.body)],
    ['Sandbox Bank', '999', 2_500, asked.body.expires_at, 864_000],
  )
  assert.match(into.account_number, /^99\d{9}$/)
  assert.equal((await client.get(`/v1/payments/${asked.body.payment_id}`)).body.status, 'processing')
  const paid = await client.post('/v1/sandbox/bank/credit', { account_number: into.account_number, amount: 2_500 })
  assert.deepEqual(
    [paid.status, paid.body.payment_id, paid.body.currency],
    [200, asked.body.payment_id, 'NGN'],
    paid.text,
  )
  const payment = await settled(client, asked.body.payment_id)
  assert.deepEqual([payment.status, payment.net_amount, payment.late], ['completed', 2_475, false])
  assert.match(payment.provider_reference, /^BNK[0-9A-F]{12}$/)
  const again = await client.post('/v1/sandbox/bank/credit', { account_number: into.account_number, amount: 2_500 })
  assert.deepEqual([again.status, again.body.error.code], [409, 'INVALID_STATE'], 'it is paid into once')
})

test('another amount than was asked for fails the payment, and the money is kept apart', async () => {
  for (const amount of [2_499.99, 2_501]) {
    const { client } = await world.account()
    const { body } = await client.post('/v1/payments', { amount: 2_500, currency: 'NGN', provider: 'bank' })
    const { account_number } = body.bank_transfer
    assert.equal((await client.post('/v1/sandbox/bank/credit', { account_number, amount })).status, 200)
    const payment = await settled(client, body.payment_id)
    assert.deepEqual([payment.status, payment.failure_reason], ['failed', 'AMOUNT_MISMATCH'])
    assert.deepEqual(await moves(payment.payment_id), [['float:bank', 'suspense:bank', amount]])
  }
})

test('a one-time account that nobody pays into expires, and takes nothing afterwards', async () => {
  const { client } = await world.account()
  const body = { amount: 2_500, currency: 'NGN', method: 'bank_transfer', expires_in: 60 }
  const { body: asked } = await client.post('/v1/payments', body)
  const payment = await settled(client, asked.payment_id)
  assert.deepEqual([payment.status, payment.failure_reason], ['expired', 'TRANSACTION_TIMEOUT'])
  const { account_number } = asked.bank_transfer
  const late = await client.post('/v1/sandbox/bank/credit', { account_number, amount: 2_500 })
  assert.deepEqual([late.status, late.body.error.code], [409, 'INVALID_STATE'])
})

test('what the bank did not sign is not heard, and what it signed is a reason to ask and nothing else', async () => {
  const { client } = await world.account()
  const { body } = await client.post('/v1/payments', { amount: 100, currency: 'KES', method: 'bank_transfer' })
  const { rows: attempts } = await sql.query(
    'select id, bucket, account_id, environment, token from payments.attempts where payment_id = $1',
    [uuidOf('payment', body.payment_id)],
  )
  const [{ bucket, account_id: account, environment, ...attempt }] = attempts
  const path = `/hooks/p/${secretNameOf({ subject: 'attempt', tenant: { bucket, account, environment }, topic: 0, ...attempt })}`
  const { webhook_secret: secret = '' } = simulatedAccounts(world.app).bank ?? {}
  const nowSeconds = Math.floor(world.app.clock.nowMs() / 1_000)
  const notice = (about: string) => JSON.stringify({ id: about, status: 'paid', paid_amount: '100', reference: 'X' })
  const send = (raw: string, signature: string) =>
    world.stranger.post(path, undefined, { raw, headers: { [bankSignatureHeader]: signature } })
  const right = notice(attempt.id)
  for (const [raw, signature] of [
    [right, ''],
    [right, signNotice('guessed', right, nowSeconds)],
    [right, signNotice(secret, right, nowSeconds - 3_600)],
    [notice('another'), signNotice(secret, notice('another'), nowSeconds)],
    ['nonsense', signNotice(secret, 'nonsense', nowSeconds)],
  ] as const)
    assert.equal((await send(raw, signature)).status, 404, signature)
  assert.equal((await send(right, signNotice(secret, right, nowSeconds))).status, 200)
  const { body: after } = await client.get(`/v1/payments/${body.payment_id}`)
  assert.equal(after.status, 'processing', 'the bank itself says that nothing was paid')
})

test('an account’s counter is its own, and refuses what is no amount', async () => {
  const [ada, eve] = [await world.account(), await world.account()]
  const { body } = await ada.client.post('/v1/payments', { amount: 100, currency: 'KES', method: 'bank_transfer' })
  const { account_number } = body.bank_transfer
  const path = '/v1/sandbox/bank/credit'
  assert.equal((await eve.client.post(path, { account_number, amount: 100 })).body.error.code, 'NOT_FOUND')
  assert.equal((await ada.client.post(path, { account_number: '1', amount: 100 })).body.error.code, 'NOT_FOUND')
  for (const amount of [0, -1, 'x', 1.234, null])
    assert.equal((await ada.client.post(path, { account_number, amount })).body.error?.code, 'VALIDATION_ERROR')
  const { body: key } = await ada.client.post('/v1/api-keys', { name: 'live', environment: 'live' })
  assert.equal((await world.stranger.as(key.key).post(path, { account_number, amount: 100 })).status, 403)
})

test('bank transfer is offered in every currency, and pays in one that countries share', async () => {
  const { client } = await world.account()
  const { data } = (await client.get('/v1/payments/methods?limit=200')).body
  const banks = data.filter(({ method }: { method: string }) => method === 'bank_transfer')
  const offered = new Set(banks.flatMap((one: { currencies: string[] }) => one.currencies))
  assert.deepEqual(
    enabledCurrencies(world.app).filter((currency) => !offered.has(currency)),
    [],
  )
  for (const currency of ['XOF', 'ZWG', 'EUR']) {
    const asked = await client.post('/v1/payments', { amount: 1_000, currency, method: 'bank_transfer' })
    assert.deepEqual([asked.status, asked.body.provider], [201, 'bank'], asked.text)
    assert.match(asked.body.bank_transfer.account_number, /^\d+$/)
  }
})

test('what a bank does not take is refused with a code, and nothing is stored', async () => {
  const { client } = await world.account()
  const good = { amount: 100, currency: 'KES', method: 'bank_transfer', bank: holder('0001') }
  const refusals: [body: object, code: string][] = [
    [{ ...good, provider: 'mpesa' }, 'UNSUPPORTED_PROVIDER'],
    [{ ...good, amount: 2_500_001 }, 'AMOUNT_TOO_HIGH'],
    [{ ...good, amount: 0.5 }, 'AMOUNT_TOO_LOW'],
    [{ ...good, bank: { ...good.bank, account_number: '01' } }, 'VALIDATION_ERROR'],
    [{ ...good, bank: { ...good.bank, bank_code: '9' } }, 'VALIDATION_ERROR'],
    [{ ...good, bank: { ...good.bank, account_name: '' } }, 'VALIDATION_ERROR'],
    [{ ...good, bank: { account_number: '011220001' } }, 'VALIDATION_ERROR'],
    [{ ...good, bank: 'mine' }, 'VALIDATION_ERROR'],
    [{ ...good, method: 'mobile_money', phone: '+254700000001' }, 'VALIDATION_ERROR'],
  ]
  for (const [body, code] of refusals) {
    const refused = await client.post('/v1/payments', body)
    assert.deepEqual([refused.status, refused.body.error?.code], [422, code], JSON.stringify(body))
  }
  assert.equal((await client.get('/v1/events')).body.data.length, 0)
})

test('bank transfers are listed with their banks', async () => {
  const { client } = await world.account()
  const { body } = await client.get('/v1/payments/methods?country=KE')
  assert.deepEqual(
    body.data.find(({ method }: { method: string }) => method === 'bank_transfer'),
    {
      method: 'bank_transfer',
      provider: 'bank',
      name: 'Bank transfer',
      countries: ['KE'],
      currencies: ['KES'],
      directions: ['in', 'out'],
      min_amount: 1,
      max_amount: 2_500_000,
      whole_units_only: false,
      fee: { percent: 1, fixed: 0, currency: 'KES' },
      status: 'up',
      logo_url: `${world.node.url}/logos/bank.svg`,
      banks: [{ bank_code: '999', name: 'Sandbox Bank' }],
    },
  )
})

test('an operator enters a bank for one country, and live payments of its currency go to it', async () => {
  const { bank = {} } = simulatedAccounts(world.app)
  const path = '/v1/operator/payments/providers'
  const account = { provider: 'bank', environment: 'live', country: 'KE', ...bank }
  for (const bad of [
    { ...account, country: 'XX' },
    { ...account, country: undefined },
    { ...account, api_key: undefined },
  ])
    assert.equal((await world.operator.post(path, bad)).body.error?.code, 'VALIDATION_ERROR', JSON.stringify(bad))
  const entered = await world.operator.post(path, account)
  assert.deepEqual([entered.status, entered.body.id], [201, 'bank-ke-live'], entered.text)
  assert.ok(bank.api_key && !entered.text.includes(bank.api_key), 'no secret comes back')
  const { client } = await world.account()
  const { body: key } = await client.post('/v1/api-keys', { name: 'live', environment: 'live' })
  const live = world.stranger.as(key.key)
  const asked = await eventually(async () => {
    const { body } = await live.post('/v1/payments', { amount: 100, currency: 'KES', bank: holder('99990001') })
    return body.status === 'processing' && body
  }, 'the bank to be asked')
  assert.equal((await settled(live, asked.payment_id)).status, 'completed')
  const elsewhere = await live.post('/v1/payments', { amount: 100, currency: 'NGN', bank: holder('99990001') })
  assert.equal(elsewhere.body.error?.code, 'PROVIDER_UNAVAILABLE')
  assert.equal((await world.operator.delete(`${path}/bank-ke-live`)).status, 200)
})

function lifeMs({ created_at, expires_at }: { created_at: string; expires_at: string }): number {
  return new Date(expires_at).getTime() - new Date(created_at).getTime()
}

async function moves(id: string): Promise<[string, string, number][]> {
  const { rows: found } = await sql.query(
    'select debit, credit, amount from ledger.transfers where source_id = $1 order by leg',
    [uuidOf('payment', id)],
  )
  return found.map(({ debit, credit, amount }) => [debit, credit, Number(amount) / 1_000_000])
}
