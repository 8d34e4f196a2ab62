// SPDX-License-Identifier: Apache-2.0
// M-Pesa says how much was paid in its callback, and not when it is asked. Whichever of the two is heard first, a payment of
// another amount than was asked for is kept apart; and one whose callback never comes is completed all the same.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { stkCallbackBody } from '../../src/protocols/daraja.ts'
import { lookInto } from '../looking.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

const asked = 1_000
const other = 999
/** The first poll comes at once. The callback is waited for as long as ever: what makes it late is not the sandbox's time. */
const timeScale = 0.005
const phone = '+254711000001'
const waitMs = 120_000

let world: World
let sql: pg.Client
let server: Server
let account: Account
/** Reference of the merchant -> where the callback goes, and whether the provider says yet that it was paid. */
const pushed = new Map<string, { checkoutId: string; path: string; isPaid: boolean }>()

before(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {}
    response.setHeader('content-type', 'application/json')
    if (request.url?.startsWith('/oauth')) return void response.end('{"access_token":"t"}')
    if (request.url?.includes('/processrequest')) {
      const checkoutId = `ws_CO_${pushed.size}`
      pushed.set(body.AccountReference, { checkoutId, path: new URL(body.CallBackURL).pathname, isPaid: false })
      return void response.end(JSON.stringify({ CheckoutRequestID: checkoutId, ResponseCode: '0' }))
    }
    const known = [...pushed.values()].find(({ checkoutId }) => checkoutId === body.CheckoutRequestID)
    if (known?.isPaid) return void response.end(JSON.stringify({ ResponseCode: '0', ResultCode: '0' }))
    response.writeHead(500).end(JSON.stringify({ errorCode: '500.001.1001', errorMessage: 'being processed' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  world = await startWorld({ PAMOJA_SANDBOX_TIME_SCALE: timeScale })
  sql = lookInto(world)
  await sql.connect()
  account = await world.account()
  const entered = await world.operator.post('/v1/operator/payments/providers', {
    ...{ provider: 'mpesa', country: 'KE', environment: 'test', base_url: `http://127.0.0.1:${port}` },
    ...{ shortcode: '600000', passkey: 'passkey', consumer_key: 'key', consumer_secret: 'secret' },
  })
  assert.equal(entered.status, 201, entered.text)
})
after(async () => {
  await sql.end()
  await world.stop()
  server.closeAllConnections()
  server.close()
})

test('the callback is heard first, and cannot be confirmed yet: what it said counts when it is', async () => {
  const id = await collect('first')
  assert.equal(await callBack('first', other), 200)
  assert.equal((await read(id)).status, 'processing', 'nothing is believed before it is confirmed')
  setPaid('first')
  await assertKeptApart(id)
})

test('the provider is asked first: the callback, which says how much, is waited for', async () => {
  const id = await collect('second')
  setPaid('second')
  await eventually(async () => (await noted('second'))?.said_paid_at, 'the provider to be asked', waitMs)
  assert.equal((await read(id)).status, 'processing')
  assert.equal(await callBack('second', other), 200)
  await assertKeptApart(id)
})

test('a callback that never comes is not waited for longer than that, nor is the payment lost', async () => {
  const id = await collect('third')
  setPaid('third')
  const paid = await eventually(
    async () => {
      const found = await read(id)
      return found.status === 'completed' && found
    },
    'the payment to be completed',
    waitMs,
  )
  assert.deepEqual([paid.amount, paid.late, paid.provider_reference], [asked, false, null])
  const saidMs = (await noted('third'))?.said_paid_at?.getTime() ?? assert.fail('the provider was not asked')
  assert.ok(Date.parse(paid.completed_at) - saidMs > 9_900, 'waited for as in earnest, however fast the time passes')
  assert.equal(await callBack('third', asked), 200)
  const receipt = await eventually(async () => (await read(id)).provider_reference, 'the receipt', waitMs)
  assert.equal(receipt, 'third')
})

test('an amount that cannot be read is not taken for the one asked for, and the operator sees it once', async () => {
  const listed = async (id: string) => {
    const { data } = (await world.operator.get('/v1/operator/payments/discrepancies?limit=200')).body
    return data.filter(({ payment_id }: { payment_id: string }) => payment_id === id)
  }
  for (const isAskedFirst of [false, true]) {
    const reference = isAskedFirst ? 'fifth' : 'fourth'
    const id = await collect(reference)
    if (isAskedFirst) {
      setPaid(reference)
      await eventually(async () => (await noted(reference))?.said_paid_at, 'the provider to be asked', waitMs)
    }
    assert.equal(await callBack(reference, '1,000'), 200)
    setPaid(reference)
    const [row] = await eventually(
      async () => {
        const rows = await listed(id)
        return rows.length > 0 && rows
      },
      'the operator’s list',
      waitMs,
    )
    assert.deepEqual([row.asked_amount, row.told_amount, row.told_words], [asked, null, '1,000'])
    assert.equal((await read(id)).status, 'processing', 'its time runs on')
    assert.equal(await callBack(reference, '1,000'), 200)
    assert.deepEqual([(await listed(id)).length, (await read(id)).status], [1, 'processing'])
  }
})

test('an amount comes in the place of one that cannot be read, though neither can be confirmed yet', async () => {
  const id = await collect('sixth')
  assert.equal(await callBack('sixth', '1,000'), 200)
  assert.equal(await callBack('sixth', other), 200)
  assert.equal(await callBack('sixth', '1,000'), 200)
  setPaid('sixth')
  await assertKeptApart(id)
})

async function collect(reference: string): Promise<string> {
  const body = { amount: asked, currency: 'KES', phone, reference, expires_in: 86_400 }
  const made = await account.client.post('/v1/payments', body)
  assert.equal(made.status, 201, made.text)
  assert.equal(made.body.status, 'processing')
  return made.body.payment_id
}

function setPaid(reference: string): void {
  const known = pushed.get(reference)
  assert.ok(known)
  known.isPaid = true
}

/** Calls back with an amount as given: a text is sent as it stands, also one that our own side never writes. */
async function callBack(reference: string, amount: number | string): Promise<number> {
  const known = pushed.get(reference)
  assert.ok(known)
  const { checkoutId, path } = known
  const about = { merchantRequestId: '1', description: 'done', phone, at: new Date() }
  const told = stkCallbackBody({ checkoutId, resultCode: '0', amount: String(other), receipt: reference }, about)
  const body = JSON.parse(JSON.stringify(told).replace(`"Value":${other}`, `"Value":${JSON.stringify(amount)}`))
  return (await world.stranger.request('POST', path, { body })).status
}

async function read(id: string) {
  return (await account.client.get(`/v1/payments/${id}`)).body
}

async function noted(reference: string): Promise<{ said_paid_at: Date | null } | undefined> {
  const { rows } = await sql.query<{ said_paid_at: Date | null }>(
    `select a.said_paid_at from payments.attempts a join payments.payments p on p.id = a.payment_id where p.reference = $1`,
    [reference],
  )
  return rows[0]
}

async function assertKeptApart(id: string): Promise<void> {
  const over = await eventually(
    async () => {
      const found = await read(id)
      return found.status !== 'processing' && found
    },
    'the payment to be over',
    waitMs,
  )
  assert.deepEqual([over.status, over.failure_reason], ['failed', 'AMOUNT_MISMATCH'])
  const { rows } = await sql.query(
    `select t.credit, t.amount from ledger.transfers t join payments.payments p on p.id = t.source_id
      where p.provider_reference = $1`,
    [over.provider_reference],
  )
  assert.deepEqual(rows, [{ credit: 'suspense:mpesa', amount: String(other * 1_000_000) }])
}
