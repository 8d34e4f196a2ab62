// SPDX-License-Identifier: Apache-2.0
// The wallet as its owner sees it: what it holds, what moved it and what it held after each movement, how it is filled, and
// who is told when it runs low.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rechargeAll } from '../../src/areas/wallet/auto-recharge.ts'
import { watchBalances } from '../../src/areas/wallet/low-balance.ts'
import { topup } from '../../src/areas/wallet/topup.ts'
import { bucketOf, firstUuidAt, idOf, newUuid, uuidOf } from '../../src/kernel/ids.ts'
import { rollUp } from '../../src/ledger/rollups.ts'
import { type Client, refusal } from '../client.ts'
import { startMarket } from '../market.ts'
import { isToldInTime, settled } from '../paying.ts'
import { type Account, eventually } from '../world.ts'

const { world, sql, receiver } = await startMarket(0.05)

interface Row {
  transaction_id: string
  type: string
  direction: string
  amount: number
  balance_after: number
  created_at: string
}

test('a currency that there is not is a bad query', async () => {
  const { client } = await world.account({ balance: 10 })
  for (const path of ['/v1/wallet/balance?currency=QQQ', '/v1/wallet/transactions?currency=QQQ']) {
    const { status, body } = await client.get(path)
    assert.deepEqual([status, body.error.code], [400, 'INVALID_REQUEST'], path)
    assert.match(body.error.details, /QQQ is not a currency/)
  }
})

test('lists that are given whole are paged for whoever asks', async () => {
  const { client } = await world.account({ balance: 10 })
  for (const [asked, path] of [
    [client, '/v1/payments/methods'],
    [client, '/v1/sms/pricing'],
    [world.operator, '/v1/operator/sms/countries'],
  ] as const) {
    const whole = (await asked.get(path)).body
    assert.deepEqual([whole.has_more, whole.next_cursor], [false, null], path)
    const paged: unknown[] = []
    for (let cursor = ''; ; ) {
      const { body } = await asked.get(`${path}?limit=20${cursor}`)
      assert.ok(body.data.length <= 20)
      paged.push(...body.data)
      if (body.next_cursor === null) break
      cursor = `&cursor=${body.next_cursor}`
    }
    assert.deepEqual(paged, whole.data, path)
    assert.equal((await asked.get(`${path}?limit=0`)).status, 400)
    assert.equal((await asked.get(`${path}?cursor=nothing`)).status, 400)
  }
})

test('a wallet says what it holds in every currency, and keeps its id', async () => {
  const { client, id } = await world.account({ balance: 12.5 })
  const credit = { amount: 3, currency: 'USD', environment: 'test', reference: 'dollars' }
  await world.operator.post(`/v1/operator/accounts/${id}/credit`, credit)
  const { body } = await client.get('/v1/wallet/balance')
  assert.deepEqual(
    [body.currency, body.balance, body.available, body.held, body.pending, body.credit_limit, body.low_balance],
    ['KES', 12.5, 12.5, 0, 0, 0, false],
  )
  assert.deepEqual(body.balances, [
    { currency: 'KES', balance: 12.5, available: 12.5, held: 0, pending: 0 },
    { currency: 'USD', balance: 3, available: 3, held: 0, pending: 0 },
  ])
  const dollars = (await client.get('/v1/wallet/balance?currency=usd')).body
  assert.deepEqual([dollars.currency, dollars.balance], ['USD', 3])
  const none = (await client.get('/v1/wallet/balance?currency=UGX')).body
  assert.deepEqual([none.currency, none.balance, none.available], ['UGX', 0, 0])
  assert.match(body.wallet_id, /^wal_[0-9a-z]{26}$/)
  assert.equal((await client.get('/v1/wallet/balance')).body.wallet_id, body.wallet_id)
  assert.equal(new Set([body.wallet_id, dollars.wallet_id, none.wallet_id]).size, 3)
  for (const currency of ['XXX', 'k', ''])
    assert.deepEqual(
      await refusal(client.get(`/v1/wallet/balance?currency=${currency}`)),
      [400, 'INVALID_REQUEST'],
      currency,
    )
})

test('a top-up is a payment without a fee, told of as such and as money in the wallet', async () => {
  const { client } = await world.account({ balance: 10 })
  await client.post('/v1/webhooks', { url: receiver.url('/topup'), events: ['payment.*', 'wallet.*'] })
  const asked = await client.post('/v1/wallet/topup', {
    amount: 5000,
    phone: '+254700000001',
    reference: 'fill-1',
    metadata: { who: 'asha' },
  })
  assert.equal(asked.status, 201, asked.text)
  const { type, fee, currency, new_balance, wallet_id, payment_id, status } = asked.body
  assert.deepEqual([type, fee, currency, new_balance, status], ['topup', 0, 'KES', null, 'processing'])
  assert.equal(asked.headers.location, `/api/v1/payments/${payment_id}`)
  assert.equal((await settled(client, payment_id)).net_amount, 5000)
  const balance = (await client.get('/v1/wallet/balance')).body
  assert.deepEqual([balance.balance, balance.wallet_id], [5010, wallet_id])
  const told = await eventually(async () => {
    const got = receiver.received.filter(({ url }) => url === '/topup').map((one) => JSON.parse(one.body))
    return got.length === 3 && got
  }, 'three webhooks')
  const names = told.map(({ event }) => event).sort()
  assert.deepEqual(names, ['payment.completed', 'payment.created', 'wallet.topup_completed'])
  const filled = told.find(({ event }) => event === 'wallet.topup_completed')
  assert.deepEqual(
    [
      filled.amount,
      filled.payment_id,
      filled.available,
      filled.wallet.balance,
      filled.wallet.wallet_id,
      filled.sequence,
    ],
    [5000, payment_id, 5010, 5010, wallet_id, 1],
  )
  const [row] = (await client.get('/v1/wallet/transactions')).body.data
  assert.deepEqual(
    [row.type, row.direction, row.amount, row.balance_after, row.source, row.reference, row.metadata],
    ['topup', 'credit', 5000, 5010, { type: 'payment', id: payment_id }, 'fill-1', { who: 'asha' }],
  )
  assert.equal((await client.get('/v1/payments/transactions')).body.data[0].type, 'topup')
})

test('a top-up can be followed as a payment, which says what the wallet held with it', async () => {
  const { client } = await world.account({ balance: 10 })
  const asked = await client.post('/v1/wallet/topup?wait=0', { amount: 500, phone: '+254700000001' })
  const { payment_id, wallet_id } = asked.body
  const { body: under, text } = await client.get(`/v1/payments/${payment_id}`)
  assert.deepEqual([under.type, under.wallet_id], ['topup', wallet_id], text)
  assert.equal(under.new_balance, under.status === 'completed' ? 510 : null)
  assert.equal((await settled(client, payment_id)).new_balance, 510)
  // What comes later is not of it.
  const card = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '123' }
  const later = await client.post('/v1/wallet/topup', { amount: 40, card })
  assert.deepEqual([later.body.status, later.body.new_balance], ['completed', 550], later.text)
  const shown = await Promise.all([payment_id, later.body.payment_id].map((id) => client.get(`/v1/payments/${id}`)))
  assert.deepEqual(
    shown.map(({ body }) => body.new_balance),
    [510, 550],
  )
  const { body: collected } = await client.post('/v1/payments', { amount: 100, currency: 'KES', card })
  assert.ok(!('type' in (await client.get(`/v1/payments/${collected.payment_id}`)).body))
})

test('a top-up that fails, comes late or is told three times fills the wallet as often as money came', async () => {
  for (const [ending, balance] of [
    ['0002', 0],
    ['0008', 100],
    ['0009', 100],
    ['0013', 0],
  ] as const) {
    const client = await eventually(async () => {
      const { client } = await world.account()
      const { body } = await client.post('/v1/wallet/topup?wait=0', { amount: 100, phone: `+25470000${ending}` })
      assert.equal(body.status, 'pending')
      await settled(client, body.payment_id)
      return (ending !== '0013' || (await isToldInTime(sql, body.payment_id))) && client
    }, 'a call that comes in time')
    // A callback that a busy machine misses is made up for by a poll, the next of which may be 36 seconds away.
    const isFilled = async () => (await client.get('/v1/wallet/balance')).body.balance === balance
    await eventually(isFilled, `KES ${balance}`)
    const events = (await client.get('/v1/events')).body.data.map(({ event }: { event: string }) => event)
    const filled = events.filter((event: string) => event === 'wallet.topup_completed')
    assert.equal(filled.length, balance > 0 ? 1 : 0, ending)
  }
})

test('what cannot be topped up is refused with a code, and one key is one top-up', async () => {
  const { client } = await world.account()
  const good = { amount: 100, phone: '+254700000001' }
  const rows: [body: object, status: number, code: string][] = [
    [{ ...good, amount: 0 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, amount: 250_001 }, 422, 'AMOUNT_TOO_HIGH'],
    [{ ...good, currency: 'KSH' }, 422, 'UNSUPPORTED_CURRENCY'],
    [{ ...good, phone: '0700000001' }, 422, 'INVALID_PHONE'],
    [{ amount: 100 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, method: 'cowries' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, callback_url: 'ftp://example.com' }, 400, 'INVALID_URL'],
    [{ ...good, phone: '+254700000012' }, 503, 'PROVIDER_UNAVAILABLE'],
  ]
  for (const [body, status, code] of rows)
    assert.deepEqual(await refusal(client.post('/v1/wallet/topup', body)), [status, code], JSON.stringify(body))
  const headers = { 'Idempotency-Key': 'fill' }
  const first = await client.post('/v1/wallet/topup', good, { headers })
  const again = await client.post('/v1/wallet/topup', good, { headers })
  assert.equal(again.text, first.text)
})

test('every movement is listed with what it was about and the balance after it', async () => {
  const { client } = await world.account({ balance: 100 })
  const { body: sent } = await client.post('/v1/sms/send', { to: '+254711000001', from: 'PAMOJA', message: 'Habari' })
  const { body: later } = await client.post('/v1/sms/send', {
    to: '+254711000001',
    from: 'PAMOJA',
    message: 'Habari',
    scheduled_at: new Date(Date.now() + 86_400_000).toISOString(),
  })
  await client.delete(`/v1/sms/${later.message_id}`)
  const { body: asked } = await client.post('/v1/payments', { amount: 1000, currency: 'KES', phone: '+254700000001' })
  await settled(client, asked.payment_id)
  const { body } = await client.get('/v1/wallet/transactions')
  const rows: Row[] = body.data
  assert.deepEqual(
    rows.map(({ type, direction }) => [type, direction]),
    [
      ['payment', 'credit'],
      ['usage_reversal', 'credit'],
      ['usage_sms', 'debit'],
      ['usage_sms', 'debit'],
      ['adjustment', 'credit'],
    ],
  )
  assert.equal(rows[0]?.amount, 985)
  assert.equal(rows[0]?.balance_after, (await client.get('/v1/wallet/balance')).body.balance)
  assert.deepEqual(body.data[3].source, { type: 'sms', id: sent.message_id })
  assert.deepEqual(body.data[1].source, { type: 'sms', id: later.message_id })
  assertRuns(rows)
  const listed = async (query: string) =>
    (await client.get(`/v1/wallet/transactions?${query}`)).body.data.map(({ type }: Row) => type)
  assert.deepEqual(await listed('type=usage_sms'), ['usage_sms', 'usage_sms'])
  assert.deepEqual(await listed('currency=usd'), [])
  assert.deepEqual(await listed('end_date=2020-01-01'), [])
  assert.deepEqual(await listed('start_date=2099-01-01'), [])
  assert.deepEqual(await listed('end_date=1960-01-01'), [])
  assert.equal((await listed('start_date=1960-01-01')).length, 5)
  const text = (await client.get('/v1/wallet/transactions?limit=2', { headers: { accept: 'text/csv' } })).text
  assert.equal(text.trim().split('\r\n').length, 6)
  assert.match(text, /^transaction_id,type,direction,amount,currency,balance_after,/)
  const refused: [string, number, string][] = [
    ['type=cowries', 400, 'INVALID_REQUEST'],
    ['currency=KSH', 400, 'INVALID_REQUEST'],
    ['cursor=x', 400, 'INVALID_REQUEST'],
    [`cursor=${Buffer.from(`${newUuid(0)}:99999999999999999999`).toString('base64url')}`, 400, 'INVALID_REQUEST'],
    ['start_date=2026-02-02&end_date=2026-02-01', 400, 'INVALID_DATE_RANGE'],
    ['limit=0', 400, 'INVALID_REQUEST'],
  ]
  for (const [query, status, code] of refused) {
    assert.deepEqual(await refusal(client.get(`/v1/wallet/transactions?${query}`)), [status, code], query)
  }
})

test('balances are the same however the list is cut, also over days that were added up', async () => {
  const account = await world.account()
  const dayMs = 86_400_000
  const firstMs = Date.now() - 5 * dayMs
  // Every 50 minutes for five days: in, out, and some in another currency.
  await move(account, 144, firstMs, 50 * 60_000)
  const whole: Row[] = await all(account.client, 'limit=200')
  assert.equal(whole.length, 96)
  assertRuns(whole)
  assert.equal(whole.at(-1)?.balance_after, whole.at(-1)?.amount, 'it began with nothing')
  const check = async () => {
    for (const query of ['limit=7', 'limit=1', 'limit=95', 'limit=96'])
      assert.deepEqual(await all(account.client, query), whole, query)
    assert.deepEqual((await all(account.client, 'limit=13&order=asc')).reverse(), whole)
    const day = (n: number) => new Date(firstMs + n * dayMs).toISOString().slice(0, 10)
    const moment = new Date(firstMs + 2.3 * dayMs).toISOString()
    const cuts: [string, (row: Row) => boolean][] = [
      [`end_date=${day(2)}`, (row) => row.created_at.slice(0, 10) <= day(2)],
      [`start_date=${day(1)}&end_date=${day(3)}`, ({ created_at: at }) => at >= day(1) && at.slice(0, 10) <= day(3)],
      [`end_date=${moment}`, (row) => row.created_at <= moment],
      [`start_date=${moment}`, (row) => row.created_at >= moment],
      ['type=usage_sms', (row) => row.type === 'usage_sms'],
      [
        `type=adjustment&end_date=${day(3)}`,
        (row) => row.type === 'adjustment' && row.created_at.slice(0, 10) <= day(3),
      ],
    ]
    for (const [query, holds] of cuts)
      for (const order of ['desc', 'asc']) {
        const rows = await all(account.client, `limit=9&order=${order}&${query}`)
        assert.deepEqual(order === 'asc' ? rows.reverse() : rows, whole.filter(holds), `${query} ${order}`)
      }
  }
  await check()
  await rollUp(world.app.db, world.app.clock)
  const { rows: sums } = await sql.query('select from ledger.rollups where account_id = $1', [
    uuidOf('account', account.id),
  ])
  assert.ok(sums.length > 5)
  await check()
})

test('a rare kind among very many is found over pages that may be empty', async () => {
  const account = await world.account()
  const { client } = account
  const { body } = await client.post('/v1/wallet/topup', { amount: 5, phone: '+254700000001' })
  await settled(client, body.payment_id)
  await move(account, 10_500, Date.now() + 1_000, 0.001)
  const path = '/v1/wallet/transactions?type=topup'
  const { body: first } = await client.get(path)
  assert.deepEqual([first.data.length, first.has_more], [0, true])
  const { body: second } = await client.get(`${path}&cursor=${first.next_cursor}`)
  assert.deepEqual([second.data.length, second.has_more, second.data[0].balance_after], [1, false, 5])
})

test('a fall below the threshold is told once, and again after it was made good', async () => {
  const account = await world.account({ balance: 100 })
  const { client, id } = account
  const told = async () =>
    (await client.get('/v1/events?event=wallet.low_balance')).body.data.map(({ data }: { data: unknown }) => data)
  const set = await client.patch('/v1/account', { settings: { low_balance_threshold: 50.5 } })
  assert.equal(set.body.settings.low_balance_threshold, 50.5, set.text)
  await watchBalances(world.app)
  assert.deepEqual(await told(), [])
  for (const bad of [0, -1, 1.234, 'much', 1e21, true, {}])
    assert.deepEqual(
      await refusal(client.patch('/v1/account', { settings: { low_balance_threshold: bad } })),
      [422, 'VALIDATION_ERROR'],
      String(bad),
    )
  await client.patch('/v1/account', { settings: { low_balance_threshold: '200' } })
  for (let i = 0; i < 3; i++) await watchBalances(world.app)
  assert.equal((await told()).length, 1)
  const low = (await client.get('/v1/wallet/balance')).body
  assert.deepEqual([low.low_balance, low.balance], [true, 100])
  await credit(id, 1_000)
  await watchBalances(world.app)
  assert.equal((await client.get('/v1/wallet/balance')).body.low_balance, false)
  await client.patch('/v1/account', { settings: { low_balance_threshold: 2_000 } })
  await Promise.all([watchBalances(world.app), watchBalances(world.app)])
  assert.equal((await told()).length, 2)
  const { body } = await client.post('/v1/wallet/topup', { amount: 5_000, phone: '+254700000001' })
  await settled(client, body.payment_id)
  await client.patch('/v1/account', { settings: { low_balance_threshold: 10_000 } })
  await watchBalances(world.app)
  assert.equal((await told()).length, 3, 'the top-up had made it good')
  await client.patch('/v1/account', { settings: { low_balance_threshold: null } })
  await watchBalances(world.app)
  assert.equal((await client.get('/v1/wallet/balance')).body.low_balance, false)
  const { rows } = await sql.query(
    `select body from events.events where account_id = $1 and environment = 'test' and type = 'wallet.low_balance' order by id limit 1`,
    [uuidOf('account', id)],
  )
  const event = JSON.parse(rows[0].body)
  assert.deepEqual(
    [event.currency, event.available, event.threshold, event.livemode, event.sequence, event.wallet.wallet_id],
    ['KES', 100, 200, false, 1, low.wallet_id],
  )
})

test('a wallet fills itself from a saved card, and a card that is refused or gone is a failure', async () => {
  const { client, id } = await world.account({ balance: 10 })
  const path = '/v1/wallet/auto-recharge'
  const saved = async (number: string): Promise<string> => {
    const card = { number, exp_month: 12, exp_year: 2040, cvv: '123' }
    const { status, body, text } = await client.post('/v1/wallet/topup', { amount: 10, card })
    assert.equal(status, 201, text)
    assert.equal(body.status, 'completed')
    const paid = await client.post('/v1/payments', { amount: 10, currency: 'KES', card, save_card: true })
    return paid.body.card_token
  }
  const recharge = async () => (await client.get(path)).body.data[0]
  const topups = async () =>
    (await client.get('/v1/payments/transactions?type=topup')).body.data.filter(
      ({ description }: { description: string }) => description === 'Automatic top-up',
    )
  const card_token = await saved('4242424242424242')
  const rule = { enabled: true, method: 'card', card_token, threshold: 500, amount: 1_000, max_per_day: 24 }
  const set = await client.post(path, rule)
  assert.deepEqual(
    [set.status, set.body.method, set.body.card_token, set.body.phone, set.body.provider],
    [200, 'card', card_token, null, null],
    set.text,
  )
  await Promise.all([rechargeAll(world.app, topup), rechargeAll(world.app, topup)])
  await eventually(async () => (await topups())[0]?.status === 'completed', 'the money of the card')
  const [filled] = await topups()
  assert.deepEqual([(await topups()).length, filled.method, filled.fee, filled.amount], [1, 'card', 0, 1_000])

  const refused = await saved('4000000000000317')
  const changed = await client.post(path, { enabled: true, card_token: refused, threshold: 100_000 })
  assert.deepEqual([changed.body.card_token, changed.body.amount], [refused, 1_000], changed.text)
  await rechargeAll(world.app, topup)
  await eventually(async () => (await recharge()).consecutive_failures === 1, 'a failure')
  const [declined] = await topups()
  const { failure_reason } = (await client.get(`/v1/payments/${declined.payment_id}`)).body
  assert.equal(failure_reason, 'CARD_DECLINED')
  assert.equal((await client.delete(`/v1/payments/cards/${refused}`)).status, 200)
  // The node does the same every half minute, so that a failure may be there before ours.
  for (const least of [2, 3, 3]) {
    await rechargeAll(world.app, topup)
    const { consecutive_failures: failures, status } = await recharge()
    assert.ok(failures >= least && failures <= 3, `${failures} failures`)
    assert.equal(status, failures < 3 ? 'active' : 'paused')
  }
  assert.equal((await topups()).length, 2)
  const { rows } = await sql.query(
    `select body from events.events where account_id = $1 and environment = 'test' and type = 'wallet.auto_recharge_failed'`,
    [uuidOf('account', id)],
  )
  const [told] = rows.map(({ body }) => JSON.parse(body))
  assert.deepEqual([rows.length, told.failure_reason, told.payment_id], [1, 'INVALID_CARD', null])
  assert.deepEqual(await refusal(client.post(path, { enabled: true })), [422, 'INVALID_CARD'])
  const phoned = await client.post(path, { enabled: true, phone: '+254700000001' })
  assert.deepEqual([phoned.body.method, phoned.body.card_token, phoned.body.status], ['mobile_money', null, 'active'])
})

test('a wallet that fills itself asks once at a time, so often a day, and stops after three failures', async () => {
  const { client, id } = await world.account({ balance: 10 })
  const path = '/v1/wallet/auto-recharge'
  const rule = { enabled: true, threshold: 50, amount: 100, phone: '+254700000001', max_per_day: 4 }
  assert.deepEqual(await refusal(client.post(path, { enabled: false })), [200, undefined])
  const bad: [object, number, string][] = [
    [{ enabled: true }, 422, 'VALIDATION_ERROR'],
    [{ ...rule, threshold: 0 }, 422, 'VALIDATION_ERROR'],
    [{ ...rule, amount: 250_001 }, 422, 'AMOUNT_TOO_HIGH'],
    [{ ...rule, phone: '0700000001' }, 422, 'INVALID_PHONE'],
    [{ ...rule, phone: '+256772000001' }, 422, 'INVALID_PHONE'],
    [{ ...rule, currency: 'GBP' }, 422, 'UNSUPPORTED_METHOD'],
    [{ ...rule, max_per_day: 25 }, 422, 'VALIDATION_ERROR'],
    [{ ...rule, daily_limit: 99 }, 422, 'VALIDATION_ERROR'],
  ]
  for (const [body, status, code] of bad)
    assert.deepEqual(await refusal(client.post(path, body)), [status, code], JSON.stringify(body))
  assert.deepEqual((await client.get(path)).body.data, [])
  const cards: [object, number, string][] = [
    [{ ...rule, card_token: 'tok_1' }, 422, 'VALIDATION_ERROR'],
    [{ ...rule, method: 'card' }, 422, 'VALIDATION_ERROR'],
    [{ ...rule, phone: undefined, method: 'card' }, 422, 'VALIDATION_ERROR'],
    [{ ...rule, phone: undefined, method: 'mobile_money', card_token: 'tok_1' }, 422, 'VALIDATION_ERROR'],
    [{ ...rule, phone: undefined, provider: 'mpesa', card_token: 'tok_1' }, 422, 'VALIDATION_ERROR'],
    [{ ...rule, phone: undefined, card_token: 'tok_1' }, 422, 'INVALID_CARD'],
    [{ ...rule, phone: undefined, card_token: idOf('cardToken', newUuid(0)) }, 422, 'INVALID_CARD'],
    [{ ...rule, phone: undefined }, 422, 'VALIDATION_ERROR'],
  ]
  for (const [body, status, code] of cards)
    assert.deepEqual(await refusal(client.post(path, body)), [status, code], JSON.stringify(body))
  assert.deepEqual((await client.get(path)).body.data, [])
  const set = await client.post(path, rule)
  assert.deepEqual([set.status, set.body.status, set.body.consecutive_failures], [200, 'active', 0], set.text)
  await Promise.all([rechargeAll(world.app, topup), rechargeAll(world.app, topup)])
  const payments = async () => (await client.get('/v1/payments/transactions')).body.data
  assert.equal((await payments()).length, 1)
  await eventually(async () => (await client.get('/v1/wallet/balance')).body.balance === 110, 'KES 110')
  await rechargeAll(world.app, topup)
  assert.equal((await payments()).length, 1, 'there is enough')
  await client.post(path, { enabled: true, threshold: 1_000, phone: '+254700000002' })
  for (let failed = 1; failed <= 3; failed++) {
    await rechargeAll(world.app, topup)
    await eventually(async () => (await client.get(path)).body.data[0].consecutive_failures >= failed, 'a failure')
  }
  await rechargeAll(world.app, topup)
  assert.equal((await payments()).length, 4)
  const balance = (await client.get('/v1/wallet/balance')).body
  assert.deepEqual([balance.auto_recharge.status, balance.auto_recharge.threshold], ['paused', 1_000])
  const { rows } = await sql.query(
    `select body from events.events where account_id = $1 and environment = 'test' and type = 'wallet.auto_recharge_failed'`,
    [uuidOf('account', id)],
  )
  assert.equal(rows.length, 1)
  const event = JSON.parse(rows[0].body)
  assert.deepEqual(
    [event.failure_reason, event.threshold, event.wallet.auto_recharge.status, event.available],
    ['INSUFFICIENT_FUNDS', 1_000, 'paused', 110],
  )
  const again = await client.post(path, { enabled: true, phone: '+254700000001' })
  assert.deepEqual([again.body.status, again.body.consecutive_failures], ['active', 0])
  await rechargeAll(world.app, topup)
  assert.equal((await payments()).length, 4, 'four were asked for today')
  await client.post(path, { enabled: true, max_per_day: 24, daily_limit: 500 })
  await rechargeAll(world.app, topup)
  await eventually(async () => (await client.get('/v1/wallet/balance')).body.balance === 210, 'KES 210')
  await rechargeAll(world.app, topup)
  assert.equal((await payments()).length, 5, 'KES 500 were asked for today')
  const off = await client.post(path, { enabled: false })
  assert.deepEqual([off.body.enabled, off.body.status, off.body.amount], [false, 'disabled', 100])
})

/** Moves money as the ledger would have: two of three in shillings, the third in dollars; in twice, then out. */
async function move({ id }: Account, times: number, firstMs: number, stepMs: number): Promise<void> {
  const account = uuidOf('account', id) ?? assert.fail(id)
  const owner = [bucketOf(account), account]
  const source = newUuid(Date.now())
  const first = firstUuidAt(Math.floor(firstMs)).replaceAll('-', '').slice(0, 12)
  await sql.query(
    `insert into ledger.transfers (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency)
     select $1, $2, 'test', $3, 'moved:' || n, 0,
            (lpad(to_hex(('x' || lpad($4, 16, '0'))::bit(64)::bigint + floor(n * $5::float8)::bigint), 12, '0') || '7' ||
             lpad(to_hex(n % 4096), 3, '0') || '8000' || lpad(to_hex(n), 12, '0'))::uuid,
            case when n % 4 = 3 then 'wallet' else 'operator:credit' end,
            case when n % 4 = 3 then 'revenue:sms' else 'wallet' end,
            1000000 + n * 10000, case when n % 3 = 2 then 'USD' else 'KES' end
       from generate_series(0, $6::int - 1) n`,
    [...owner, source, first, stepMs, times],
  )
  await sql.query(
    `insert into ledger.wallets as w (bucket, account_id, environment, currency, balance)
     select $1, $2, 'test', currency, sum(case when credit = 'wallet' then amount else -amount end)
       from ledger.transfers where bucket = $1 and account_id = $2 and source_id = $3 group by currency
     on conflict (bucket, account_id, environment, currency) do update set balance = w.balance + excluded.balance`,
    [...owner, source],
  )
}

async function all(client: Client, query: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let cursor = ''; ; ) {
    const { status, body, text } = await client.get(`/v1/wallet/transactions?${query}${cursor}`)
    assert.equal(status, 200, text)
    rows.push(...body.data)
    if (!body.has_more) return rows
    cursor = `&cursor=${body.next_cursor}`
  }
}

/** Newest first: every balance is the one before it and the movement. */
function assertRuns(rows: readonly Row[]): void {
  const micros = (amount: number) => Math.round(amount * 1e6)
  rows.forEach((row, i) => {
    const before = rows[i + 1]?.balance_after
    if (before === undefined) return
    const moved = row.direction === 'credit' ? micros(row.amount) : -micros(row.amount)
    assert.equal(micros(row.balance_after), micros(before) + moved, row.transaction_id)
  })
}

async function credit(id: string, amount: number): Promise<void> {
  const body = { amount, currency: 'KES', environment: 'test', reference: `credit-${amount}` }
  assert.equal((await world.operator.post(`/v1/operator/accounts/${id}/credit`, body)).status, 200)
}
