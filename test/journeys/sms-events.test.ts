// SPDX-License-Identifier: Apache-2.0
// A change of a text has two names, sms.status and its own, and one row. Whoever reads events finds both of them, each once:
// in the list and its pages, by their ids, in the stream, and at the endpoint that takes only one.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { twinOf } from '../../src/kernel/ids.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { openStream } from '../stream.ts'
import { ended, send } from '../texting.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World
let receiver: Receiver
let sql: pg.Client

before(async () => {
  world = await startWorld()
  receiver = await startReceiver()
  sql = new pg.Client({ connectionString: world.databaseUrl })
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
async function paged(account: Account, text: string, order: string): Promise<Told[]> {
  const all: Told[] = []
  for (let cursor = ''; ; ) {
    const page = await listed(account, `resource_id=${text}&limit=1&order=${order}${cursor && `&cursor=${cursor}`}`)
    all.push(...page.data)
    if (page.next_cursor === null) return all
    cursor = page.next_cursor
  }
}

test('both names of a change are listed, paged, found and filtered, each once', async () => {
  const ada = await world.account({ balance: 100 })
  const text = await send(ada, '+254711000001')
  await ended(ada, text)
  const { data } = await listed(ada, `resource_id=${text}&order=asc`)
  assert.deepEqual(data.map(({ event }) => event).sort(), ['sms.delivered', 'sms.sent', 'sms.status', 'sms.status'])
  for (const { id, event, resource_id, payload } of data) {
    assert.deepEqual([payload.event, payload.event_id, payload.message_id, resource_id], [event, id, text, text])
    const { status, body } = await ada.client.get(`/v1/events/${id}`)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual([body.event, body.payload], [event, payload])
  }
  const ids = data.map(({ id }) => id)
  assert.deepEqual(ids, [...ids].sort(), 'in the order of their ids')
  assert.deepEqual(
    (await paged(ada, text, 'asc')).map(({ id }) => id),
    ids,
  )
  assert.deepEqual(
    (await paged(ada, text, 'desc')).map(({ id }) => id),
    ids.toReversed(),
  )
  for (const [i, id] of ids.entries())
    assert.deepEqual(
      (await listed(ada, `resource_id=${text}&after=${id}`)).data.map((one) => one.id),
      ids.slice(i + 1),
    )
  const named = await listed(ada, `resource_id=${text}&event=sms.delivered`)
  assert.deepEqual(
    named.data.map(({ event, payload }) => [event, payload.status]),
    [['sms.delivered', 'delivered']],
  )
  const { rows } = await sql.query('select count(*)::int as stored from events.events where resource_id = $1', [text])
  assert.equal(rows[0].stored, 2, 'a row for each change')
})

test('an endpoint that takes one of the names, and the stream, hear it under the id that it is found by', async (t) => {
  const ada = await world.account({ balance: 100 })
  await ada.client.post('/v1/webhooks', { url: receiver.url('/delivered'), events: ['sms.delivered'] })
  const ca = world.node.caFile ? readFileSync(world.node.caFile, 'utf8') : null
  const stream = await openStream(`${world.node.url}/v1/events/stream`, { key: ada.key, ca })
  t.after(() => stream.close())
  const text = await send(ada, '+254711000001')
  const heard = await receiver.next('/delivered')
  const told = JSON.parse(heard.body)
  assert.deepEqual([told.event, told.status, told.message_id], ['sms.delivered', 'delivered', text])
  assert.equal(heard.headers['x-service-event-id'], told.event_id)
  const { body } = await ada.client.get(`/v1/events/${told.event_id}`)
  assert.deepEqual([body.event, body.payload], ['sms.delivered', told])
  const { data } = await listed(ada, `resource_id=${text}`)
  for (const { id } of data) await stream.has(id)
  assert.deepEqual(stream.messages.flatMap(({ data: said }) => (said ? [JSON.parse(said).event] : [])).sort(), [
    'sms.delivered',
    'sms.sent',
    'sms.status',
    'sms.status',
  ])
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
