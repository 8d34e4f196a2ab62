// SPDX-License-Identifier: Apache-2.0
// Whether a node can do its work, as a load balancer and an operator ask it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitingOf } from '../../src/areas/payments/waiting.ts'
import { eventually, startWorld } from '../world.ts'

test('a carrier that cannot be reached degrades a node, which takes requests all the same', async (t) => {
  const world = await startWorld()
  t.after(() => world.stop())
  const ready = async () => (await world.stranger.get('/readyz')).body
  await eventually(async () => (await ready()).status === 'ok', 'the node to be ready')
  assert.equal((await ready()).checks.sms, 'ok')

  const made = await world.operator.post('/v1/operator/sms/binds', {
    name: 'nowhere',
    host: '127.0.0.1',
    port: 1,
    system_id: 'pamoja',
    password: 'secret',
  })
  assert.equal(made.status, 201, made.text)
  const degraded = await eventually(async () => {
    const { status, body, text } = await world.stranger.get('/readyz')
    return body.status === 'degraded' && { status, body, text }
  }, 'the node to be degraded')
  assert.equal(degraded.status, 200)
  assert.equal(degraded.body.checks.sms, '1 of 1 carriers cannot be reached')
  assert.ok(!degraded.text.includes('nowhere'), 'anybody may ask, so that nobody is named')
  assert.equal((await world.demo.get('/v1/auth/whoami')).status, 200)

  assert.equal((await world.operator.delete('/v1/operator/sms/binds/nowhere')).status, 200)
  await eventually(async () => (await ready()).status === 'ok', 'the node to be ready again')
})

test('a node that stops answers those who wait for a payment, with the payment as it is', async (t) => {
  const world = await startWorld()
  t.after(() => world.stop())
  const { client } = await world.account()
  const wanted = { amount: 100, currency: 'KES', phone: '+254700000003' }
  const { body: payment } = await client.post('/v1/payments', wanted)
  const waiting = client.get(`/v1/payments/${payment.payment_id}?wait=30`)
  await eventually(async () => waitingOf(world.app).count === 1, 'the request to wait')
  await world.node.stop()
  const { status, body } = await waiting
  assert.deepEqual([status, body.status], [200, 'processing'])
})
