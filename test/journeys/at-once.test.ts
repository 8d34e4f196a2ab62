// SPDX-License-Identifier: Apache-2.0
// The same thing wanted many times at the same moment: one gets it, the others are told so, and nobody meets a failure.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { atOnce, statusesOf } from '../at-once.ts'
import { startWorld } from '../world.ts'

const world = await startWorld()
after(() => world.stop())

const routes = [
  { path: '/v1/notes', id: 'note_id', made: 200, body: { text: 'Habari' } },
  {
    path: '/v1/sms/send',
    id: 'message_id',
    made: 200,
    body: { to: '+254711000001', from: 'ACME', message: 'Habari' },
  },
  {
    path: '/v1/payments',
    id: 'payment_id',
    made: 201,
    body: { amount: 100, currency: 'KES', phone: '+254711000001', method: 'mobile_money' },
  },
]

for (const { path, id, made, body } of routes) {
  test(`of twenty requests at once to ${path} with one reference, one is carried out`, async () => {
    const { client } = await world.account({ balance: 1_000 })
    const answers = await atOnce(20, () => client.post(path, { ...body, reference: 'order-1' }))
    assert.deepEqual(statusesOf(answers), { [made]: 1, 409: 19 })
    const first = answers.find(({ status }) => status === made)?.body
    for (const { status, body: refused } of answers)
      if (status === 409) {
        assert.equal(refused.error.code, 'DUPLICATE_REFERENCE')
        assert.equal(refused.error.existing_id, first[id])
      }
  })

  test(`of twenty requests at once to ${path} with one key, all get the first answer or are told to wait`, async () => {
    const { client } = await world.account({ balance: 1_000 })
    const answers = await atOnce(20, () => client.post(path, body, { headers: { 'idempotency-key': 'key-1' } }))
    const done = answers.filter(({ status }) => status === made)
    assert.ok(done.length > 0)
    assert.equal(new Set(done.map(({ body: answer }) => answer[id])).size, 1)
    for (const { status, body: refused } of answers)
      if (status !== made) assert.equal(refused.error.code, 'REQUEST_IN_PROGRESS')
  })
}

test('of twenty notes at once that cost more than the wallet holds together, those are written that it covers', async () => {
  const { client } = await world.account({ balance: 4 })
  const answers = await atOnce(20, () => client.post('/v1/notes', { text: 'Habari' }))
  assert.deepEqual(statusesOf(answers), { 200: 5, 402: 15 })
})
