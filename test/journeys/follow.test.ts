// SPDX-License-Identifier: Apache-2.0
// Verbs that go on after their commit: whatever fails then, what was committed is not done again under the same key.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Type } from 'typebox'
import { AppError } from '../../src/kernel/errors.ts'
import { write } from '../../src/platform/api/route.ts'
import type { Area } from '../../src/platform/area.ts'
import { startWorld, type World } from '../world.ts'

const failures: Readonly<Record<string, Error>> = {
  away: new AppError('SERVICE_UNAVAILABLE', 'the database is away', { retryAfterSeconds: 1 }),
  broken: new Error('something that nobody thought of'),
  unasked: new AppError('PROVIDER_UNAVAILABLE', 'nobody was asked', { retryAfterSeconds: 1 }),
}

const done: string[] = []
const errand = write({
  method: 'POST',
  path: '/v1/errands/:failure',
  operation: 'errands.run',
  summary: 'Run an errand that fails on its way',
  scope: 'account:write',
  params: Type.Object({ failure: Type.String() }),
  reply: { status: 201, schema: Type.Object({ times: Type.Integer() }, { title: 'Errand' }) },
  handle: async (_app, _tx, { params }) => {
    done.push(params.failure)
    return { times: done.filter((one) => one === params.failure).length }
  },
  follow: async (_app, { params }, _caller, reply) => {
    if (reply.times > 1) return reply
    throw failures[params.failure] ?? new Error('there is no such failure')
  },
})
const errands: Area = { name: 'errands', routes: [errand] }

let world: World
before(async () => {
  world = await startWorld({}, [errands])
})
after(() => world.stop())

test('a request that failed after its commit is answered with what was committed', async () => {
  const { client } = await world.account()
  for (const [failure, status] of [
    ['away', 503],
    ['broken', 500],
  ] as const) {
    const headers = { 'idempotency-key': `errand-${failure}` }
    assert.equal((await client.post(`/v1/errands/${failure}`, {}, { headers })).status, status)
    const again = await client.post(`/v1/errands/${failure}`, {}, { headers })
    assert.deepEqual([again.status, again.body.times, again.headers['idempotent-replayed']], [201, 1, 'true'], failure)
  }
})

test('one that nobody could be asked for may be tried again with the same key', async () => {
  const { client } = await world.account()
  const headers = { 'idempotency-key': 'errand-unasked' }
  assert.equal((await client.post('/v1/errands/unasked', {}, { headers })).status, 503)
  const again = await client.post('/v1/errands/unasked', {}, { headers })
  assert.deepEqual([again.status, again.body.times, again.headers['idempotent-replayed']], [201, 2, undefined])
})
