// SPDX-License-Identifier: Apache-2.0
// Many payouts at once: what is accepted of them, the one hold that they share, and how the batch ends.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spreadJob } from '../../src/areas/payments/payouts/bulk.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import type { Client } from '../client.ts'
import { lookInto } from '../looking.ts'
import { startMarket } from '../market.ts'
import { wallet } from '../paying.ts'
import { runs } from '../properties.ts'
import { eventually, startWorld, tenantOf } from '../world.ts'

const path = '/v1/payments/payout/bulk'

const { world } = await startMarket(0.01)

test('those that can be paid are, the others come back failed, and the batch tells its end', async () => {
  const { client } = await world.account({ balance: 5_000 })
  const asked = await client.post(path, {
    currency: 'KES',
    reference: 'may',
    description: 'May',
    metadata: { month: 5 },
    items: [
      { amount: 2_000, phone: '+254700000001', reference: 'a' },
      { amount: 1_000, phone: '+254700000004', reference: 'b' },
      { amount: 1_000, phone: 'nobody' },
      { amount: 1_000, phone: '+254700000001', reference: 'a' },
      { phone: '+254700000001' },
      { amount: 100, currency: 'UGX', phone: '+254700000001' },
      { amount: 500, currency: 'kes', phone: '+254700000020', recipient: { name: 'Asha' } },
    ],
  })
  assert.equal(asked.status, 201, asked.text)
  const { batch_id, payouts, ...batch } = asked.body
  assert.deepEqual(
    [batch.status, batch.total_count, batch.accepted_count, batch.failed_count, batch.completed_count],
    ['processing', 7, 3, 4, 0],
  )
  assert.deepEqual([batch.total_amount, batch.total_fee, batch.currency], [3_500, 17.5, 'KES'])
  assert.deepEqual(
    payouts.map((item: { index: number; status: string; error?: { code: string } }) => [
      item.index,
      item.status,
      item.error?.code ?? null,
    ]),
    [
      [0, 'processing', null],
      [1, 'processing', null],
      [2, 'failed', 'INVALID_PHONE'],
      [3, 'failed', 'DUPLICATE_REFERENCE'],
      [4, 'failed', 'VALIDATION_ERROR'],
      [5, 'failed', 'VALIDATION_ERROR'],
      [6, 'processing', null],
    ],
  )
  assert.equal(payouts[2].payout_id, null)
  const ended = await over(client, batch_id)
  assert.deepEqual([ended.status, ended.completed_count, ended.failed_count], ['completed', 2, 5])
  assert.deepEqual(await wallet(client), { balance: 2_487.5, held: 0 })
  assert.equal(ended.payouts[1].failure_reason, 'RECIPIENT_NOT_FOUND')
  assert.equal((await client.get(`/v1/payouts/${payouts[0].payout_id}`)).body.batch_id, batch_id)
  const told = (await client.get('/v1/events?limit=20')).body.data
  const names = told.map(({ event }: { event: string }) => event).sort()
  assert.deepEqual(names, ['payout.batch_completed', 'payout.completed', 'payout.completed', 'payout.failed'])
  const end = told.find(({ event }: { event: string }) => event === 'payout.batch_completed')
  assert.ok(JSON.stringify(end).includes(batch_id))
  const rows = (await client.get('/v1/wallet/transactions?type=payout')).body.data
  assert.deepEqual(rows.map(({ source }: { source: { id: string } }) => source.id).sort(), [
    payouts[0].payout_id,
    payouts[6].payout_id,
  ])
  const others = await client.post(path, { currency: 'KES', items: [good()] })
  assert.equal(others.status, 201, others.text)
  const listed = async (id: string): Promise<string[]> =>
    (await client.get(`/v1/payouts?batch_id=${id}&order=asc`)).body.data.map(
      ({ payout_id }: { payout_id: string }) => payout_id,
    )
  assert.deepEqual(
    await listed(batch_id),
    [0, 1, 6].map((i) => payouts[i].payout_id),
  )
  assert.deepEqual(await listed('pob_nothing'), [])
  const again = await client.post(path, { currency: 'KES', reference: 'may', items: [good()] })
  assert.deepEqual([again.status, again.body.error.original_id], [409, batch_id])
})

test('batches that name the same references at once are both accepted, and each reference is paid once', async () => {
  const { client } = await world.account({ balance: 5_000 })
  const rounds = runs(8)
  for (let round = 0; round < rounds; round++) {
    const references = Array.from({ length: 20 }, (_, i) => `crossed-${round}-${i}`)
    const ask = (order: readonly string[]) =>
      client.post(path, {
        currency: 'KES',
        items: order.map((reference) => ({ amount: 10, phone: '+254700000001', reference })),
      })
    const replies = await Promise.all([ask(references), ask(references.toReversed()), ask(references.toSorted())])
    const items = replies.flatMap(({ status, body, text }) => {
      assert.equal(status, 201, text)
      return body.payouts
    })
    const paid = items.filter(({ status }: { status: string }) => status === 'processing')
    assert.deepEqual(paid.map(({ reference }: { reference: string }) => reference).sort(), references.toSorted())
    const others = items.filter(({ status }: { status: string }) => status === 'failed')
    assert.equal(others.length, 40)
    for (const { error } of others) assert.equal(error.code, 'DUPLICATE_REFERENCE')
    await Promise.all(replies.map(({ body }) => over(client, body.batch_id)))
  }
  assert.deepEqual(await wallet(client), { balance: 5_000 - rounds * 20 * 10.05, held: 0 })
})

test('a batch of which nothing can be accepted is over at once, whatever its items are', async () => {
  const { client } = await world.account()
  const items = [{ amount: 1 }, null, 'x', ['x'], { amount: 10, phone: 'nobody' }]
  const { status, body, text } = await client.post(path, { currency: 'KES', items, reference: 'nothing' })
  assert.equal(status, 201, text)
  const { total_count, accepted_count, completed_count, failed_count, total_amount } = body
  assert.deepEqual([body.status, total_count, accepted_count, completed_count, failed_count], ['completed', 5, 0, 0, 5])
  assert.equal(total_amount, 0)
  const invalid = 'VALIDATION_ERROR'
  assert.deepEqual(
    body.payouts.map((item: { status: string; error: { code: string } }) => [item.status, item.error.code]),
    [invalid, invalid, invalid, invalid, 'INVALID_PHONE'].map((code) => ['failed', code]),
  )
  assert.deepEqual((await client.get(`${path}/${body.batch_id}`)).body, body)
  assert.equal((await client.post(`${path}/${body.batch_id}/cancel`)).body.error.code, 'INVALID_STATE')
  const told = (await client.get('/v1/events')).body.data
  assert.deepEqual(
    told.map(({ event }: { event: string }) => event),
    ['payout.batch_completed'],
  )
})

test('an item that names an address which may not be told stops no other', async () => {
  const { client } = await world.account({ balance: 100 })
  const items = [good({ callback_url: 'http://example.com/paid' }), good()]
  const { status, body, text } = await client.post(path, { currency: 'KES', items })
  assert.deepEqual([status, body.accepted_count, body.failed_count], [201, 1, 1], text)
  const [refused] = body.payouts
  assert.deepEqual([refused.payout_id, refused.error.code], [null, 'INVALID_URL'])
  await over(client, body.batch_id)
})

test('items are read a page at a time, in their order, whatever became of them', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const items = Array.from({ length: 7 }, (_, i) => (i % 3 === 1 ? { amount: 1 } : good()))
  const { body } = await client.post(path, { currency: 'KES', payouts: items })
  const seen: number[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { body: page } = await client.get(`${path}/${body.batch_id}?limit=2${cursor && `&cursor=${cursor}`}`)
    seen.push(...page.payouts.map(({ index }: { index: number }) => index))
    cursor = page.next_cursor
  }
  assert.deepEqual(seen, [0, 1, 2, 3, 4, 5, 6])
  assert.equal((await client.get(`${path}/${body.batch_id}?cursor=eHh4`)).status, 400)
  assert.equal((await client.get(`${path}/pob_nonsense`)).status, 404)
  await over(client, body.batch_id)
})

test('what cannot be a batch is refused whole, and nothing is held or stored', async () => {
  const { client } = await world.account({ balance: 100 })
  const many = Array.from({ length: 10_001 }, () => ({ amount: 1, phone: '+254700000001' }))
  const rows: [body: object, status: number, code: string][] = [
    [{ currency: 'KES', items: many }, 422, 'BATCH_TOO_LARGE'],
    [{ currency: 'KES', items: [] }, 422, 'VALIDATION_ERROR'],
    [{ currency: 'KES' }, 422, 'VALIDATION_ERROR'],
    [{ currency: 'KES', items: 'x' }, 422, 'VALIDATION_ERROR'],
    [{ items: [null] }, 422, 'VALIDATION_ERROR'],
    [{ items: [good()] }, 422, 'VALIDATION_ERROR'],
    [{ currency: 'XXX', items: [good()] }, 422, 'UNSUPPORTED_CURRENCY'],
    [{ currency: 'KES', items: [good(), { amount: 1 }], on_error: 'abort' }, 422, 'VALIDATION_ERROR'],
    [{ currency: 'KES', items: [good(), good({ amount: 95 })] }, 402, 'INSUFFICIENT_WALLET_BALANCE'],
    [{ currency: 'KES', items: [good()], callback_url: 'ftp://x' }, 400, 'INVALID_URL'],
    [
      { currency: 'KES', items: [good(), good({ callback_url: 'ftp://x' })], on_error: 'abort' },
      422,
      'VALIDATION_ERROR',
    ],
    [{ currency: 'KES', items: [good()], payouts: [good()] }, 422, 'VALIDATION_ERROR'],
    [{ currency: 'KES', items: [good(), good({ card: { number: '4242424242424242' } })] }, 422, 'VALIDATION_ERROR'],
  ]
  for (const [body, status, code] of rows) {
    const refused = await client.post(path, body)
    assert.deepEqual([refused.status, refused.body.error?.code], [status, code], refused.text.slice(0, 300))
  }
  const aborted = await client.post(path, { currency: 'KES', items: [good(), { amount: 1 }], on_error: 'abort' })
  const [problem] = aborted.body.error.errors
  assert.deepEqual([problem.index, problem.code], [1, 'VALIDATION_ERROR'])
  const poor = await client.post(path, { currency: 'KES', items: [good(), good({ amount: 95 })] })
  assert.deepEqual([poor.body.error.available, poor.body.error.required], [100, 105.53])
  assert.equal((await client.get('/v1/payouts')).body.data.length, 0)
  assert.deepEqual(await wallet(client), { balance: 100, held: 0 })
})

test('what is pending of a batch can be withdrawn, and its part of the hold is back', async () => {
  const { client } = await world.account({ balance: 100 })
  const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
  const items = [good(), good({ scheduled_at }), good({ scheduled_at })]
  const { body } = await client.post(path, { currency: 'KES', items })
  assert.deepEqual(
    body.payouts.map(({ status }: { status: string }) => status),
    ['processing', 'pending', 'pending'],
  )
  const one = await client.post(`/v1/payouts/${body.payouts[1].payout_id}/cancel`)
  assert.deepEqual([one.status, one.body.status], [200, 'cancelled'], one.text)
  await eventually(async () => (await client.get(`${path}/${body.batch_id}`)).body.completed_count === 1, 'the first')
  assert.deepEqual(await wallet(client), { balance: 89.95, held: 10.05 })
  const cancelled = await client.post(`${path}/${body.batch_id}/cancel`)
  assert.deepEqual([cancelled.status, cancelled.body.status], [200, 'completed'], cancelled.text)
  const { total_count, completed_count, failed_count, cancelled_count } = cancelled.body
  assert.deepEqual([total_count, completed_count, failed_count, cancelled_count], [3, 1, 0, 2])
  assert.deepEqual(
    cancelled.body.payouts.map(({ status }: { status: string }) => status),
    ['completed', 'cancelled', 'cancelled'],
  )
  assert.deepEqual(await wallet(client), { balance: 89.95, held: 0 })
  const again = await client.post(`${path}/${body.batch_id}/cancel`)
  assert.deepEqual([again.status, again.body.error.code], [409, 'INVALID_STATE'])
  const { body: other } = await client.post(path, { currency: 'KES', items: [good({ scheduled_at })] })
  assert.equal((await client.post(`${path}/${other.batch_id}/cancel`)).body.status, 'cancelled')
  const told = (await client.get('/v1/events?limit=20')).body.data
  const ends = told.filter(({ event }: { event: string }) => event === 'payout.batch_completed')
  assert.deepEqual(
    ends.map(({ payload }: { payload: { counts: object } }) => payload.counts),
    [
      { total: 1, accepted: 1, completed: 0, failed: 0, cancelled: 1 },
      { total: 3, accepted: 3, completed: 1, failed: 0, cancelled: 2 },
    ],
  )
})

test('ten thousand are accepted in one request, and withdrawn in one', async () => {
  const { client } = await world.account({ balance: 20_000 })
  const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
  const items = Array.from({ length: 10_000 }, () => ({ amount: 1, phone: '+254700000001', scheduled_at }))
  const headers = { 'Idempotency-Key': 'many' }
  const asked = await client.post(path, { currency: 'KES', items }, { headers })
  assert.deepEqual([asked.status, asked.body.accepted_count, asked.body.payouts.length], [201, 10_000, 10_000])
  const again = await client.post(path, { currency: 'KES', items }, { headers })
  assert.deepEqual([again.status, again.body.batch_id], [201, asked.body.batch_id])
  const { held } = await wallet(client)
  assert.equal(held, 10_000 + asked.body.total_fee)
  const cancelled = await client.post(`${path}/${asked.body.batch_id}/cancel`)
  assert.deepEqual([cancelled.status, cancelled.body.status], [200, 'cancelled'], cancelled.text)
  assert.deepEqual(await wallet(client), { balance: 20_000, held: 0 })
})

test('more than are handed on at a time are all paid, each once', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const items = Array.from({ length: 101 }, () => ({ amount: 1, phone: '+254733000001' }))
  const { body } = await client.post(path, { currency: 'KES', items })
  const ended = await over(client, body.batch_id, 240_000)
  assert.deepEqual([ended.completed_count, ended.failed_count], [101, 0])
  assert.deepEqual(await wallet(client), { balance: 1_000 - 101 - body.total_fee, held: 0 })
})

test('a payout that somebody holds while the batch is handed on is waited for', async () => {
  const alone = await startWorld({ PAMOJA_ROLES: ['api'] })
  const holder = lookInto(alone)
  await holder.connect()
  try {
    const { client, id } = await alone.account({ balance: 1_000 })
    const { body } = await client.post(path, { currency: 'KES', items: [good(), good(), good()] })
    const [, second] = body.payouts
    await holder.query('begin')
    await holder.query('select from payments.payouts where id = $1 for update', [uuidOf('payout', second.payout_id)])
    const batch = uuidOf('payoutBatch', body.batch_id) ?? ''
    const run = { id: batch, bucket: 0, tenant: tenantOf({ id }), key: null, place: null, attempt: 1, failures: 0 }
    let isOver = false
    const handed = spreadJob.handle(alone.app, { ...run, payload: { batch } }).finally(() => {
      isOver = true
    })
    const waiting = 'select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))'
    await eventually(
      async () => isOver || (await holder.query(waiting)).rows.length > 0,
      'somebody to wait for the payout',
    )
    await holder.query('rollback')
    assert.deepEqual(await handed, { kind: 'done' })
    const left = await holder.query('select from payments.payouts where batch_id = $1 and not queued', [batch])
    assert.equal(left.rowCount, 0, 'each has somebody who looks after it')
  } finally {
    await holder.end()
    await alone.stop()
  }
})

test('payouts that the provider does not take are tried again, and keep no other of the batch from its end', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const endings = ['0001', '0012', '0010', '0016', '0011']
  const items = endings.map((ending) => ({ amount: 10, phone: `+25470000${ending}` }))
  const { body } = await client.post(path, { currency: 'KES', items })
  const ended = await over(client, body.batch_id, 240_000)
  assert.deepEqual(
    ended.payouts.map(({ status, failure_reason }: { status: string; failure_reason: string | null }) => [
      status,
      failure_reason,
    ]),
    [
      ['completed', null],
      ['failed', 'PROVIDER_UNAVAILABLE'],
      ['completed', null],
      ['completed', null],
      ['completed', null],
    ],
  )
  assert.deepEqual(await wallet(client), { balance: 1_000 - 4 * 10.05, held: 0 })
})

function good(more: object = {}): object {
  return { amount: 10, phone: '+254700000001', ...more }
}

function over(client: Client, id: string, withinMs = 60_000) {
  return eventually(
    async () => {
      const { status, body } = await client.get(`${path}/${id}`)
      return status === 200 && body.status !== 'processing' && body
    },
    `batch ${id} to be over`,
    withinMs,
  )
}
