// SPDX-License-Identifier: Apache-2.0
// A change of a text has two names, sms.status and its own, and one row. Whoever reads events hears of it once, as a webhook
// would: in the wider name, or in its own where only that is asked for. Both are found by their ids.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { twinOf } from '../../src/kernel/ids.ts'
import { lookInto } from '../looking.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { openStream, type StreamReader } from '../stream.ts'
import { ended, send } from '../texting.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World
let receiver: Receiver
let sql: pg.Client

before(async () => {
  world = await startWorld()
  receiver = await startReceiver()
  sql = lookInto(world)
  await sql.connect()
})
after(async () => {
  await sql.end()
  await receiver.stop()
  await world.stop()
})

interface Told {
  id: string
  event: string
  resource_id: string
  payload: { event: string; event_id: string; status: string; message_id: string }
}

async function listed({ client }: Account, query: string): Promise<{ data: Told[]; next_cursor: string | null }> {
  const { status, body } = await client.get(`/v1/events?${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

/** All events of a text, page by page. */
async function paged(account: Account, text: string, order: string, event: string): Promise<Told[]> {
  const all: Told[] = []
  for (let cursor = ''; ; ) {
    const query = `resource_id=${text}&limit=1&order=${order}${event && `&event=${event}`}${cursor && `&cursor=${cursor}`}`
    const page = await listed(account, query)
    all.push(...page.data)
    if (page.next_cursor === null) return all
    cursor = page.next_cursor
  }
}

test('a change is listed once, in the name in which a webhook with the same words hears of it', async () => {
  const ada = await world.account({ balance: 100 })
  const text = await send(ada, '+254711000001')
  await ended(ada, text)
  const wide = ['sms.status sent', 'sms.status delivered']
  const rows: [event: string, told: string[]][] = [
    ['', wide],
    ['*', wide],
    ['sms.*', wide],
    ['sms.status', wide],
    ['sms.sent', ['sms.sent sent']],
    ['sms.delivered', ['sms.delivered delivered']],
    ['sms.failed', []],
  ]
  for (const [name, told] of rows) {
    const { data } = await listed(ada, `resource_id=${text}&order=asc${name && `&event=${name}`}`)
    assert.deepEqual(
      data.map(({ event, payload }) => `${event} ${payload.status}`),
      told,
      name,
    )
    for (const { id, event, resource_id, payload } of data) {
      assert.deepEqual([payload.event, payload.event_id, payload.message_id, resource_id], [event, id, text, text])
      const { status, body } = await ada.client.get(`/v1/events/${id}`)
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual([body.event, body.payload], [event, payload])
    }
    const ids = data.map(({ id }) => id)
    const forwards = await paged(ada, text, 'asc', name)
    const backwards = await paged(ada, text, 'desc', name)
    assert.deepEqual([forwards.map(({ id }) => id), backwards.map(({ id }) => id)], [ids, ids.toReversed()])
    for (const [i, id] of ids.entries()) {
      const { data: rest } = await listed(ada, `resource_id=${text}&after=${id}${name && `&event=${name}`}`)
      assert.deepEqual(
        rest.map((one) => one.id),
        ids.slice(i + 1),
      )
    }
  }
  const { rows: stored } = await sql.query('select id from events.events where resource_id = $1', [text])
  assert.equal(stored.length, 2, 'a row for each change')
})

test('an endpoint, the stream and who listens hear of a change in the same name, once', async (t) => {
  const ada = await world.account({ balance: 100 })
  await ada.client.post('/v1/webhooks', { url: receiver.url('/delivered'), events: ['sms.delivered'] })
  await ada.client.post('/v1/webhooks', { url: receiver.url('/all'), events: ['*'] })
  const ca = world.node.caFile ? readFileSync(world.node.caFile, 'utf8') : null
  const open = async (path: string): Promise<StreamReader> => {
    const stream = await openStream(`${world.node.url}${path}`, { key: ada.key, ca })
    t.after(() => stream.close())
    return stream
  }
  const all = [await open('/v1/events/stream'), await open('/v1/webhooks/listen')]
  const named = [
    await open('/v1/events/stream?events=sms.delivered'),
    await open('/v1/webhooks/listen?events=sms.delivered'),
  ]
  const text = await send(ada, '+254711000001')
  const { body } = await receiver.next('/delivered')
  const told = JSON.parse(body)
  assert.deepEqual([told.event, told.status, told.message_id], ['sms.delivered', 'delivered', text])
  assert.deepEqual((await ada.client.get(`/v1/events/${told.event_id}`)).body.payload, told)
  for (const stream of named) {
    await stream.has(told.event_id)
    assert.deepEqual(
      stream.messages.map(({ event }) => event),
      ['sms.delivered'],
    )
  }
  const heard = [await receiver.next('/all'), await receiver.next('/all')].map((one) => JSON.parse(one.body).event_id)
  for (const stream of all) {
    for (const id of heard) await stream.has(id)
    assert.deepEqual(stream.ids.toSorted(), heard.toSorted(), 'what a webhook for everything hears, and no more')
    assert.ok(stream.messages.every(({ event }) => event === 'sms.status'))
  }
})

test('a narrower event whose endpoint was away is told again with its own words', async () => {
  const ada = await world.account({ balance: 100 })
  const { body: hook } = await ada.client.post('/v1/webhooks', { url: receiver.url('/later'), events: ['sms.sent'] })
  await send(ada, '+254711000001')
  const first = await receiver.next('/later')
  const { body: log } = await eventually(async () => {
    const reply = await ada.client.get(`/v1/webhooks/${hook.id}/deliveries`)
    return reply.body.data[0]?.status === 'delivered' && reply
  }, 'the delivery to be noted')
  const again = await ada.client.post(`/v1/webhooks/${hook.id}/deliveries/${log.data[0].id}/retry`)
  assert.ok(again.status < 300, again.text)
  assert.equal((await receiver.next('/later')).body, first.body)
})

test('PostgreSQL and this program mean the same twin', async () => {
  const { rows } = await sql.query<{ id: string; twin: string; back: string }>(
    `select id::text, events.twin_of(id)::text as twin, events.twin_of(events.twin_of(id))::text as back
       from (select gen_random_uuid() as id from generate_series(1, 200)) made`,
  )
  for (const { id, twin, back } of rows) {
    assert.equal(twin, twinOf(id))
    assert.equal(back, id)
  }
})
