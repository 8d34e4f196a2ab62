// SPDX-License-Identifier: Apache-2.0
// The sandbox outlives its process: whatever a simulated provider was asked to do before a kill -9 comes to its end after
// the next start on the same home, once, and the provider's books say the same as ours.
import assert from 'node:assert/strict'
import { appendFile, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Journal } from '../../src/simulators/journal.ts'
import { Client } from '../client.ts'
import { createTestDatabase, type TestDatabase } from '../database.ts'
import { eventually } from '../eventually.ts'
import { endAll, freePort, newHome, run, type Serving, serve } from '../program.ts'

const card = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '123' }
const lateRefunds = { ...card, number: '4000000000007726' }
/** Paid after a minute, which takes six seconds here; and after two, which takes 0.2. */
const payees = ['0006', '0006', '0001', '0010', '0011']

type Moves = Record<string, number>

let home: Awaited<ReturnType<typeof newHome>>
let database: TestDatabase
let environment: Record<string, string>
let serving: Serving
let client: Client

before(async () => {
  home = await newHome()
  database = await createTestDatabase()
  environment = {
    DATABASE_URL: database.url,
    // Providers call the address that they were given, so it stays the same.
    PAMOJA_PORT: String(await freePort()),
    PAMOJA_ADMIN_PORT: '0',
    PAMOJA_RATE_LIMITS: 'off',
    PAMOJA_LOG_LEVEL: 'warn',
  }
  await start()
})
after(async () => {
  client.close()
  await endAll()
  await database.drop()
  await home.remove()
})

test('what was under way at a kill -9 ends after the next start, once, and the books agree', async () => {
  await credit('KES', 100_000)
  await credit('UGX', 1_000_000)
  const paid = await Promise.all([
    pay({ amount: 1_000, currency: 'KES', phone: '+254700000023' }),
    pay({ amount: 1_000, currency: 'UGX', phone: '+256770000023' }),
    pay({ amount: 1_000, currency: 'KES', card: lateRefunds }),
  ])
  for (const id of paid) assert.equal((await over(`/v1/payments/${id}`)).status, 'completed')
  const { body: saved } = await client.post('/v1/payments', { amount: 10, currency: 'KES', card, save_card: true })
  assert.match(saved.card_token, /^tok_/)
  const before = await balances()

  assert.equal((await client.patch('/v1/sandbox/sms/behaviour', { delay_ms: 6_000 })).status, 200)
  const asked = { amount: 2_500, currency: 'NGN' }
  const { body: challenged } = await client.post('/v1/payments', { ...asked, currency: 'KES', card, require_3ds: true })
  const { body: opened } = await client.post('/v1/payments', { ...asked, method: 'bank_transfer' })
  const refunds = await Promise.all(paid.map((id) => made('refund_id', `/v1/payments/${id}/refund`, { amount: 1_000 })))
  const payouts = await Promise.all([
    ...payees.map((digits) => payOut('KES', `+25470000${digits}`)),
    ...payees.map((digits) => payOut('UGX', `+25677000${digits}`)),
    ...payees.slice(0, 4).map((digits) => payOut('KES', `+25473300${digits}`)),
  ])
  const payments = await Promise.all([
    ...['0001', '0010', '0009'].map((digits) => pay({ amount: 70, currency: 'KES', phone: `+25470000${digits}` })),
    ...['0001', '0010', '0011'].map((digits) => pay({ amount: 70, currency: 'UGX', phone: `+25677000${digits}` })),
  ])
  const texts = await Promise.all(
    [1, 2, 3].map((i) =>
      made('message_id', '/v1/sms/send', { to: `+25471155500${i}`, from: 'PAMOJA', message: 'Habari' }),
    ),
  )
  await eventually(async () => (await statuses('/v1/sms', texts)).every((one) => one === 'sent'), 'texts to be sent')

  await serving.program.stop('SIGKILL')
  client.close()
  // As if it had been killed in the middle of a line.
  for (const file of await journals()) await appendFile(file, 'payouts\thalf')
  await start()

  const ended = await browse(challenged.redirect_url, 'decision=approve')
  assert.ok(ended.status < 400, ended.text)
  const counter = { account_number: opened.bank_transfer.account_number, amount: 2_500 }
  assert.equal((await client.post('/v1/sandbox/bank/credit', counter)).status, 200)
  const again = await pay({ amount: 10, currency: 'KES', card_token: saved.card_token })
  for (const id of [...payments, challenged.payment_id, opened.payment_id, again])
    assert.equal((await over(`/v1/payments/${id}`)).status, 'completed')
  for (const id of payouts) assert.equal((await over(`/v1/payouts/${id}`)).status, 'completed')
  for (const id of refunds) assert.equal((await over(`/v1/refunds/${id}`)).status, 'completed')
  await eventually(
    async () => (await statuses('/v1/sms', texts)).every((one) => one === 'delivered'),
    'texts to be delivered',
  )

  const moved: Moves = {}
  for (const id of [...payments, challenged.payment_id, opened.payment_id, again])
    await add(moved, `/v1/payments/${id}`, ({ net_amount }) => net_amount ?? 0)
  for (const id of payouts) await add(moved, `/v1/payouts/${id}`, ({ amount = 0, fee = 0 }) => -amount - fee)
  for (const id of refunds) await add(moved, `/v1/refunds/${id}`, ({ amount = 0 }) => -amount)
  for (const id of texts) await add(moved, `/v1/sms/${id}`, ({ cost = 0 }) => -cost)
  const now = await balances()
  for (const [currency, amount] of Object.entries(moved))
    assert.equal(round((now[currency] ?? 0) - (before[currency] ?? 0)), round(amount), `${currency} moved once`)
  const told = await eventsOf(['payout.completed', 'payment.refunded'])
  assert.deepEqual(told, { 'payout.completed': payouts.length, 'payment.refunded': refunds.length })
})

test('of two nodes the first keeps the books, and its simulators work for the other all the same', async () => {
  const second = await serve(home.path, { ...environment, PAMOJA_PORT: '0' })
  // credentials.json stays that of the first, so that its own address is known from what it prints only.
  const [address = ''] = /https:\/\/localhost:\d+/.exec(second.program.stdout) ?? []
  const there = new Client(
    address,
    await readFile(second.credentials.ca_file ?? '', 'utf8'),
    second.credentials.api_key,
  )
  const { status, body, text } = await there.post('/v1/payouts', {
    amount: 30,
    currency: 'KES',
    phone: '+254700000001',
  })
  assert.equal(status, 201, text)
  const ended = await eventually(async () => {
    const { body: payout } = await there.get(`/v1/payouts/${body.payout_id}`)
    return payout.status === 'completed' && payout
  }, 'the payout by the second node')
  there.close()
  second.client.close()
  assert.equal((await second.program.stop('SIGTERM')).code, 0)
  assert.ok((await readFile(join(home.path, 'simulators/daraja.journal'), 'utf8')).includes(ended.provider_reference))
})

test('a stop leaves the same behind, and the providers have paid what we say they have', async () => {
  const late = await payOut('KES', '+254700000006')
  const text = await made('message_id', '/v1/sms/send', { to: '+254711555004', from: 'PAMOJA', message: 'Habari' })
  assert.equal((await serving.program.stop('SIGTERM')).code, 0)
  client.close()
  await start()
  assert.equal((await over(`/v1/payouts/${late}`)).status, 'completed')
  await eventually(async () => (await statuses('/v1/sms', [text]))[0] === 'delivered', 'the text')
  await serving.program.stop('SIGTERM')

  const paidBy = (name: string, book: string, isPaid: (one: Record<string, unknown>) => boolean): number =>
    bookOf(name, book).filter(isPaid).length
  assert.equal(
    paidBy('daraja', 'payouts', ({ ending }) => ending === 'paid'),
    7,
  )
  assert.equal(
    paidBy('momo', 'transfers', ({ status }) => status === 'SUCCESSFUL'),
    5,
  )
  assert.equal(bookOf('airtel', 'payouts').length, 4)
  assert.equal(bookOf('daraja', 'reversals').length, 1)
  assert.equal(
    paidBy('momo', 'refunds', ({ status }) => status === 'SUCCESSFUL'),
    1,
  )
  assert.equal(
    paidBy('acquirer', 'intents', ({ received }) => Number(received) > 0),
    4,
  )
  assert.deepEqual(bookOf('message-centre', 'messages'), [], 'no receipt is due any more')
  const { stdout } = await run(['ledger', 'verify'], { ...environment, PAMOJA_HOME: home.path })
  assert.match(stdout, /everything adds up/)
})

async function start(): Promise<void> {
  serving = await serve(home.path, environment)
  client = serving.client
}

async function credit(currency: string, amount: number): Promise<void> {
  const { account_id, operator_key } = serving.credentials
  const body = { amount, currency, environment: 'test', reference: `first-${currency}` }
  const { status, text } = await client.as(operator_key).post(`/v1/operator/accounts/${account_id}/credit`, body)
  assert.equal(status, 200, text)
}

/** Asks for something and gives its id. */
async function made(id: string, path: string, body: object): Promise<string> {
  const { status, body: reply, text } = await client.post(path, body)
  assert.ok(status < 300, text)
  return reply[id]
}

const pay = (body: object): Promise<string> => made('payment_id', '/v1/payments', body)

const payOut = (currency: string, phone: string): Promise<string> =>
  made('payout_id', '/v1/payouts', { amount: 100, currency, phone })

function over(path: string) {
  return eventually(async () => {
    const { body } = await client.get(path)
    return ['pending', 'processing'].includes(body.status) ? null : body
  }, `the end of ${path}`)
}

function statuses(path: string, ids: readonly string[]): Promise<string[]> {
  return Promise.all(ids.map(async (id) => (await client.get(`${path}/${id}`)).body.status))
}

async function balances(): Promise<Moves> {
  const found: Moves = {}
  for (const currency of ['KES', 'UGX', 'NGN'])
    found[currency] = (await client.get(`/v1/wallet/balance?currency=${currency}`)).body.balance
  return found
}

async function add(
  moves: Moves,
  path: string,
  amountOf: (one: { amount?: number; net_amount?: number; fee?: number; cost?: number }) => number,
): Promise<void> {
  const { body } = await client.get(path)
  moves[body.currency] = (moves[body.currency] ?? 0) + amountOf(body)
}

const round = (amount: number): number => Math.round(amount * 1e6) / 1e6

/** How often each was told of. */
async function eventsOf(names: readonly string[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (await client.get(`/v1/events?limit=100&event=${name}`)).body.data.length
  return counts
}

async function browse(url: string, raw: string) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return client.request('POST', new URL(url).pathname, { raw, headers })
}

async function journals(): Promise<string[]> {
  const dir = join(home.path, 'simulators')
  return (await readdir(dir)).map((name) => join(dir, name))
}

/** What a provider that is not running has written down. */
function bookOf(simulator: string, name: string): Record<string, unknown>[] {
  const file = join(home.path, 'simulators', `${simulator}.journal`)
  const journal = new Journal({ file, now: () => 0, timeScale: 1 })
  const found = journal.book<Record<string, unknown>>({ name, most: 1_000 }).values()
  journal.stop()
  return found
}
