// SPDX-License-Identifier: Apache-2.0
// Events on demand: whoever writes a receiver need not wait until something happens.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type Receiver, startReceiver } from '../receiver.ts'
import { eventually, startWorld, type World } from '../world.ts'

let world: World
let receiver: Receiver
before(async () => {
  world = await startWorld()
  receiver = await startReceiver()
})
after(async () => {
  await receiver.stop()
  await world.stop()
})

test('a sample reaches whoever subscribes to its event, signed, with the values that were asked for', async () => {
  const { client } = await world.account()
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/paid'), events: ['payment.*'] })
  const override = { amount: 77.5, metadata: { order: '12' }, customer: { name: 'Asha' } }
  const made = await client.post('/v1/events/trigger', { event: 'payment.completed', override })
  assert.equal(made.status, 201, made.text)
  const { body, headers } = await receiver.next('/paid')
  assert.equal(headers['x-service-signature'], createHmac('sha256', hook.secret).update(body).digest('hex'))
  assert.deepEqual(JSON.parse(body), made.body.payload)
  const { event, event_id, amount, metadata, customer, status, test: isTest } = JSON.parse(body)
  assert.deepEqual([event, event_id, status, isTest], ['payment.completed', made.body.id, 'completed', true])
  assert.deepEqual({ amount, metadata, customer }, override)
  assert.equal(made.headers.location, `/api/v1/events/${made.body.id}`)
  assert.deepEqual((await client.get(`/v1/events/${made.body.id}`)).body.payload, made.body.payload)
})

test('a sample that has a broader name too reaches each subscriber in the name that a real one has there', async () => {
  const { client } = await world.account()
  const hooks: [path: string, events: string[], name: string][] = [
    ['/all', ['*'], 'sms.status'],
    ['/texts', ['sms.*'], 'sms.status'],
    ['/changes', ['sms.status'], 'sms.status'],
    ['/failures', ['sms.failed', 'sms.sent'], 'sms.failed'],
  ]
  for (const [path, events] of hooks) await client.post('/v1/webhooks', { url: receiver.url(path), events })
  const made = await client.post('/v1/events/trigger', { event: 'sms.failed', override: { to: '+254711000009' } })
  assert.deepEqual([made.status, made.body.event], [201, 'sms.failed'], made.text)
  for (const [path, , name] of hooks) {
    const { event, event_id, ...rest } = JSON.parse((await receiver.next(path)).body)
    assert.deepEqual([event, event_id === made.body.id], [name, name === 'sms.failed'], path)
    assert.deepEqual([rest.status, rest.to, rest.test], ['failed', '+254711000009', true])
    const { body } = await client.get(`/v1/events/${event_id}`)
    assert.deepEqual(
      [body.event, body.payload, body.deliveries.length],
      [name, { event, event_id, ...rest }, name === 'sms.failed' ? 1 : 3],
    )
  }
})

test('an event is dated, found and told again by the clock of the account', async () => {
  const { client } = await world.account()
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/dated'), events: ['*'] })
  await client.post('/v1/events/trigger', { event: 'payment.failed' })
  await receiver.next('/dated')
  await client.post('/v1/sandbox/clock', { advance_seconds: 5 * 86_400 })
  for (const event of ['payment.completed', 'sms.sent']) {
    const { body: made } = await client.post('/v1/events/trigger', { event })
    const { headers } = await receiver.next('/dated')
    const { body: found } = await client.get(`/v1/events/${made.id}`)
    assert.deepEqual([found.created_at, found.payload.timestamp], [made.created_at, made.created_at])
    const path = `/v1/events?event=${event}`
    const day = found.created_at.slice(0, 10)
    const { body: that } = await client.get(`${path}&start_date=${day}&end_date=${day}`)
    assert.deepEqual(
      that.data.map(({ id, created_at }: { id: string; created_at: string }) => [id, created_at]),
      [[made.id, made.created_at]],
    )
    assert.equal((await client.get(`${path}&start_date=${found.created_at}`)).body.data.length, 1)
    const before = new Date(Date.parse(found.created_at) - 1).toISOString()
    assert.equal((await client.get(`${path}&end_date=${before}`)).body.data.length, 0)
    await eventually(async () => {
      const { body } = await client.get(`/v1/webhooks/${hook.id}/deliveries?status=delivered&limit=1`)
      return body.data[0]?.id === headers['x-service-delivery-id']
    }, 'the delivery to be noted')
    const window = { from: found.created_at, to: new Date(Date.parse(found.created_at) + 1).toISOString() }
    assert.equal((await client.post(`/v1/webhooks/${hook.id}/replay`, { ...window, status: 'all' })).body.count, 1)
    await receiver.next('/dated')
  }
  const { body: first } = await client.get(`/v1/events?end_date=${new Date().toISOString()}`)
  assert.deepEqual(
    first.data.map(({ event }: { event: string }) => event),
    ['payment.failed'],
  )
})

test('every event of the catalogue can be had', async () => {
  const { client } = await world.account()
  const { data } = (await client.get('/v1/webhooks/events')).body
  for (const { name } of data) {
    const made = await client.post('/v1/events/trigger', { event: name })
    assert.deepEqual([made.status, made.body.event], [201, name], made.text)
  }
  assert.ok(data.length > 50)
})

test('what is no event, no field of it, or of another type is refused, and a live key too', async () => {
  const { client } = await world.account()
  const rows: [body: object, status: number, code: string][] = [
    [{}, 422, 'VALIDATION_ERROR'],
    [{ event: 'payment.*' }, 400, 'INVALID_EVENT'],
    [{ event: '*' }, 400, 'INVALID_EVENT'],
    [{ event: 'payment.lost' }, 400, 'INVALID_EVENT'],
    [{ event: 'payment.completed', override: [] }, 422, 'VALIDATION_ERROR'],
    [{ event: 'payment.completed', override: { colour: 'red' } }, 422, 'VALIDATION_ERROR'],
    [{ event: 'payment.completed', override: { amount: 'much' } }, 422, 'VALIDATION_ERROR'],
    [{ event: 'payment.completed', override: { customer: [] } }, 422, 'VALIDATION_ERROR'],
    [{ event: 'payment.completed', override: { event_id: 'evt_1' } }, 422, 'VALIDATION_ERROR'],
  ]
  for (const [body, status, code] of rows) {
    const refused = await client.post('/v1/events/trigger', body)
    assert.deepEqual([refused.status, refused.body.error?.code], [status, code], JSON.stringify(body))
    assert.equal(refused.body.error.fields !== undefined, code === 'VALIDATION_ERROR', 'the field is named')
  }
  assert.equal((await client.get('/v1/events')).body.data.length, 0)
  const { body: key } = await client.post('/v1/api-keys', { name: 'live', environment: 'live' })
  const live = await client.as(key.key).post('/v1/events/trigger', { event: 'payment.completed' })
  assert.equal(live.status, 403)
})
