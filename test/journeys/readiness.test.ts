// SPDX-License-Identifier: Apache-2.0
// Whether a node can do its work, as a load balancer and an operator ask it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { paymentWaits } from '../../src/areas/payments/collect/waiting.ts'
import { lookInto } from '../looking.ts'
import { eventually, startWorld } from '../world.ts'

test('a carrier that cannot be reached degrades a node, which takes requests all the same', async (t) => {
  const world = await startWorld({ PAMOJA_STATUS_PAGE: true })
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

  const status = await eventually(async () => {
    const { body } = await world.stranger.get('/status', { headers: { accept: 'application/json' } })
    return body.status === 'slow' && body
  }, 'the status page to show it')
  assert.deepEqual(status.parts, { api: 'works', texts: 'slow', background: 'works' })
  const page = await world.stranger.get('/status?lang=sw')
  assert.equal(page.status, 200)
  for (const part of ['<html lang="sw"', 'Baadhi ya sehemu zina tatizo', 'SMS kwenda mitandaoni', 'Polepole'])
    assert.ok(page.text.includes(part), part)
  assert.doesNotMatch(page.text, /nowhere/)

  assert.equal((await world.operator.delete('/v1/operator/sms/binds/nowhere')).status, 200)
  await eventually(async () => (await ready()).status === 'ok', 'the node to be ready again')
})

test('a node whose database takes no writes is not ready until it does again, and one whose jobs are late says so', async (t) => {
  const world = await startWorld()
  const sql = lookInto(world)
  await sql.connect()
  t.after(() => sql.end().then(() => world.stop()))
  await sql.query(`create function notes.full_disk() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`)
  await sql.query('create trigger full_disk before insert on notes.notes execute function notes.full_disk()')
  const { client } = await world.account({ balance: 10 })
  const refused = await client.post('/v1/notes', { text: 'Habari' })
  assert.deepEqual([refused.status, refused.body.error.code], [503, 'SERVICE_UNAVAILABLE'], refused.text)
  const { status, body } = await world.stranger.get('/readyz')
  assert.deepEqual([status, body.status, body.checks.writes], [503, 'unavailable', 'refused by the database'])
  assert.equal((await world.stranger.get('/status')).status, 404, 'nobody has made it public')
  await sql.query('drop trigger full_disk on notes.notes')
  assert.equal((await client.post('/v1/notes', { text: 'Habari' })).status, 200)
  await eventually(async () => (await world.stranger.get('/readyz')).status === 200, 'the node to be ready again')

  const lateJob = (lane: string, runAt: string) =>
    sql.query(
      `insert into work.jobs (bucket, id, lane, run_at, attempt, failures, payload)
       values (0, gen_random_uuid(), $1, ${runAt}, 0, 0, '{}')`,
      [lane],
    )
  const queue = async () => (await world.stranger.get('/readyz')).body.checks.queue
  // Lanes that no node runs. A job that waits for a person, and one that is not due, are not late.
  await lateJob('a.failed', `'infinity'`)
  await lateJob('z.later', `now() + interval '1 hour'`)
  assert.equal(await queue(), 'ok')
  await lateJob('m.late', `now() - interval '2 minutes'`)
  await lateJob('y.late', `now() - interval '90 seconds'`)
  assert.match(await queue(), /^the oldest job waits 1[2-9]\d s$/)
  await sql.query(`delete from work.jobs where bucket = 0 and lane in ('m.late', 'y.late')`)
  assert.equal(await queue(), 'ok')
})

test('a node that stops answers those who wait for a payment, with the payment as it is', async (t) => {
  const world = await startWorld()
  t.after(() => world.stop())
  const { client } = await world.account()
  const wanted = { amount: 100, currency: 'KES', phone: '+254700000003' }
  const { body: payment } = await client.post('/v1/payments', wanted)
  const waiting = client.get(`/v1/payments/${payment.payment_id}?wait=30`)
  await eventually(async () => paymentWaits.of(world.app).count === 1, 'the request to wait')
  await world.node.stop()
  const { status, body } = await waiting
  assert.deepEqual([status, body.status], [200, 'processing'])
})
