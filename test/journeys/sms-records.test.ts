// SPDX-License-Identifier: Apache-2.0
// What a customer reads of messages afterwards: what they cost in the end, what the network said too late, whose notes
// they carry, and for how long their text is kept.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { forgetTexts } from '../../src/areas/sms/retention.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { dayMs } from '../../src/kernel/time.ts'
import { newShortMessage } from '../../src/protocols/smpp/pdu.ts'
import { encodeReceipt, type ReceiptState } from '../../src/protocols/smpp/receipts.ts'
import { Smsc } from '../../src/protocols/smpp/session.ts'
import { lookInto } from '../looking.ts'
import { ended, send, statusOf } from '../texting.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World

before(async () => {
  world = await startWorld()
})
after(() => world.stop())

test('a message that was paid back cost nothing, alone and in its batch; one that failed later cost its price', async () => {
  const ada = await world.account({ balance: 10 })
  const { body: sent } = await ada.client.post('/v1/sms/send', {
    to: ['+254711000003', '+254711000002'],
    from: 'PAMOJA',
    message: 'Habari',
  })
  const batch = await eventually(async () => {
    const { body } = await ada.client.get(`/v1/sms/bulk/${sent.message_id}?messages=true`)
    return body.counts.failed === 2 && body
  }, 'both to fail')
  assert.deepEqual(
    batch.messages.map(({ error_code, cost }: { error_code: string; cost: number }) => [error_code, cost]),
    [
      ['REJECTED', 0],
      ['UNDELIVERABLE', 0.8],
    ],
  )
  const { body: refused } = await ada.client.get(`/v1/sms/${sent.messages[0].message_id}`)
  assert.deepEqual([refused.status, refused.cost, refused.price_per_segment], ['failed', 0, 0.8])
})

test('a message is found on the day it shows, whatever the account’s clock says', async () => {
  const ada = await world.account({ balance: 10 })
  const early = await send(ada, '+254711000001')
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 40 * 86_400 })
  const late = await send(ada, '+254711000001')
  const dayOf = async (id: string) => (await ada.client.get(`/v1/sms/${id}`)).body.created_at.slice(0, 10)
  const [first, second] = [await dayOf(early), await dayOf(late)]
  assert.equal(Date.parse(second) - Date.parse(first), 40 * dayMs)
  const found = async (query: string) =>
    (await ada.client.get(`/v1/sms?${query}`)).body.data.map((row: { message_id: string }) => row.message_id)
  assert.deepEqual(await found(`from_date=${second}`), [late])
  assert.deepEqual(await found(`from_date=${second}&to_date=${second}`), [late])
  assert.deepEqual(await found(`from_date=${first}&to_date=${first}`), [early])
  assert.deepEqual(await found(`from_date=${first}`), [late, early])
  const figures = async (query: string) => (await ada.client.get(`/v1/sms/analytics${query}`)).body
  const { to_date, messages } = await figures('')
  assert.deepEqual([to_date, messages], [second, 1], 'the last 30 days of the account')
  assert.equal((await figures(`?from_date=${first}&to_date=${first}`)).messages, 1)
  for (const id of [early, late]) assert.equal((await ended(ada, id)).status, 'delivered')
  const { messages: both, networks } = await figures(`?from_date=${first}&to_date=${second}`)
  assert.equal(both, 2)
  const days = Array.from({ length: 41 }, (_, day) => (day === 0 || day === 40 ? 1 : null))
  assert.deepEqual(networks[0].daily_delivery_rates, days)
})

test('the figures count what the list has, answers to STOP and HELP too', async () => {
  const ada = await world.account({ balance: 10 })
  await send(ada, '+254711000001')
  await ada.client.post('/v1/sandbox/sms/inbound', { from: '+254711000041', to: 'PAMOJA', message: 'HELP' })
  const { body: list } = await ada.client.get('/v1/sms?direction=outbound')
  const { body: figures } = await ada.client.get('/v1/sms/analytics')
  assert.deepEqual([list.data.length, figures.messages, figures.cost], [2, 2, 0.8])
})

test('how long messages took is told in seconds, to the millisecond', async () => {
  const ada = await world.account({ balance: 10 })
  const ids = await Promise.all(['+254711000001', '+254711000009', '+254733000001'].map((to) => send(ada, to)))
  for (const id of ids) assert.equal((await ended(ada, id)).status, 'delivered')
  const { body } = await ada.client.get('/v1/sms/analytics')
  for (const seconds of Object.values(body.latency_seconds)) assert.match(String(seconds), /^\d+(\.\d{1,3})?$/)
})

test('a message that arrives after it had expired stays failed, and its timeline says so', async () => {
  const ada = await world.account({ balance: 10 })
  const smsc = await contradictorySmsc(['EXPIRED', 'DELIVRD', 'DELIVRD'])
  const bind = { name: 'late', host: '127.0.0.1', port: smsc.port, system_id: 'late', password: 'one' }
  await world.operator.post('/v1/operator/sms/binds', { ...bind, response_timeout_seconds: 60 })
  const { body: route } = await world.operator.post('/v1/operator/sms/routes', {
    environment: 'test',
    account_id: ada.id,
    tiers: [[{ bind: 'late' }]],
  })
  await eventually(async () => {
    const { body } = await world.operator.get('/v1/operator/sms/routes')
    return body.data.find(({ id, in_force }: { id: string; in_force: boolean }) => id === route.id && in_force)
  }, 'the route')
  const { body: sent } = await ada.client.post('/v1/sms/send', {
    to: '+254722000001',
    from: 'PAMOJA',
    message: 'Habari',
  })
  const record = await eventually(async () => {
    const { body } = await ada.client.get(`/v1/sms/${sent.message_id}`)
    return body.timeline.length === 4 && body
  }, 'the late receipt')
  assert.deepEqual([record.status, record.error_code, record.delivered_at], ['failed', 'EXPIRED', null])
  assert.deepEqual(
    record.timeline.map(({ status }: { status: string }) => status),
    ['queued', 'sent', 'failed', 'delivered'],
  )
  const { body: told } = await ada.client.get(`/v1/events?event=sms.status&resource_id=${sent.message_id}`)
  assert.equal(told.data.length, 2, 'sent and failed, and nothing more')
  await world.operator.delete(`/v1/operator/sms/routes/${route.id}`)
  await world.operator.delete('/v1/operator/sms/binds/late')
  await smsc.close()
})

test('over which bind a message went is told to operators, and to nobody else', async () => {
  const ada = await world.account({ balance: 10 })
  const record = await ended(ada, await send(ada, '+254711000012'))
  assert.equal('route' in record, false)
  const wanted = { name: 'Operator in test', environment: 'test', scopes: ['*', 'operator'] }
  const operator = world.stranger.as((await world.operator.post('/v1/api-keys', wanted)).body.key)
  const { body: sent } = await operator.post('/v1/sms/send', {
    to: '+254711000012',
    from: 'PAMOJA',
    message: 'Habari',
  })
  const { route } = await eventually(async () => {
    const { body } = await operator.get(`/v1/sms/${sent.message_id}`)
    return body.status === 'delivered' && body
  }, 'the delivery')
  assert.equal(route, 'sandbox-2')
  const [listed] = (await operator.get('/v1/sms?limit=1')).body.data
  assert.equal(listed.route, 'sandbox-2')
})

test('links are made short for each recipient, lead where the long ones led, and are counted', async () => {
  const ada = await world.account({ balance: 10 })
  const { client } = ada
  const urls = [`https://duka.example/orders/4512?note=${'x'.repeat(100)}`, 'https://dükan.example/čaj_(a)']
  const text = `Oda yako (${urls[0]}). Chai: ${urls[1]}! http://plain.example/ https:// {{optout}}`
  const body = { from: 'PAMOJA', message: text, shorten_urls: true }
  const handsets = ['+254711000001', '+254733000001']
  const estimate = await client.post('/v1/sms/estimate', { ...body, to: handsets })
  const { body: sent } = await client.post('/v1/sms/send', { ...body, to: handsets })
  assert.deepEqual([sent.accepted, sent.segments, sent.cost], [2, estimate.body.segments, estimate.body.cost])
  const read = async (id: string) => (await client.get(`/v1/sms/${id}`)).body
  const records = await Promise.all(sent.messages.map((one: { message_id: string }) => read(one.message_id)))
  const tokens = new Set<string>()
  for (const { message, links } of records) {
    const shape =
      /^Oda yako \((\S+\/l\/\w{11})\)\. Chai: (\S+\/l\/\w{11})! http:\/\/plain\.example\/ https:\/\/ \{\{optout\}\}$/
    const [, first = '', second = ''] = shape.exec(message) ?? []
    assert.deepEqual(
      links,
      [first, second].map((short_url, i) => ({
        ...{ url: urls[i], short_url, clicks: 0, first_clicked_at: null, last_clicked_at: null },
      })),
    )
    for (const link of [first, second]) tokens.add(link.slice(-11))
  }
  assert.equal(tokens.size, 4, 'nobody’s link is another’s')

  const [, tea] = records[0].links
  const path = new URL(tea.short_url).pathname
  assert.equal(
    (await world.stranger.request('HEAD', path)).status,
    200,
    'who only looks where it leads has not opened it',
  )
  for (const _ of ['once', 'twice']) {
    const opened = await world.stranger.get(path)
    assert.deepEqual([opened.status, opened.headers.location], [200, undefined], 'a test link leads nobody elsewhere')
    assert.ok(opened.text.includes('href="https://xn--dkan-0ra.example/%C4%8Daj_(a)"'), opened.text)
    assert.equal(opened.headers['cache-control'], 'no-store')
  }
  const [unopened, opened] = (await read(records[0].message_id)).links
  assert.deepEqual([unopened.clicks, opened.clicks], [0, 2])
  assert.ok(Date.parse(opened.last_clicked_at) >= Date.parse(opened.first_clicked_at))
  assert.equal((await read(records[1].message_id)).links[1].clicks, 0)
  for (const wrong of ['/l/00000000000', '/l/x', '/l/%00', `/l/${'%00'.repeat(11)}`])
    assert.equal((await world.stranger.get(wrong)).status, 404, wrong)

  const one = { ...body, to: '+254711000001', message: `Tazama ${urls[0]}` }
  const { body: alone } = await client.post('/v1/sms/send', one)
  assert.deepEqual([alone.segments, (await read(alone.message_id)).links.length], [1, 1])
  const { body: plain } = await client.post('/v1/sms/send', { ...one, shorten_urls: false })
  const untouched = await read(plain.message_id)
  assert.deepEqual([untouched.message, 'links' in untouched], [one.message, false])
  for (const [change, details] of [
    [{ shorten_urls: 'yes' }, /^shorten_urls must be true or false/],
    [{ message: 'https://a.example '.repeat(11) }, /^message has 11 links: shorten_urls takes at most 10/],
    [{ message: `https://a.example ${'x'.repeat(1_512)}` }, /^message must have 1 to 1530 characters/],
  ] as const) {
    const refused = await client.post('/v1/sms/send', { ...one, ...change })
    assert.deepEqual([refused.status, refused.body.error.code], [422, 'VALIDATION_ERROR'], refused.text)
    assert.match(refused.body.error.details, details)
  }
})

test('what ends a sentence or closes a bracket around a link is not part of it, in any script', async () => {
  const { client } = await world.account({ balance: 10 })
  const url = 'https://duka.example/o/3'
  for (const [message, led] of [
    [`${url}، شكرا`, url],
    [`${url}؟`, url],
    [`${url}።`, url],
    [`${url}।`, url],
    [`${url}。`, url],
    [`[${url}]`, url],
    [`{(${url}).}`, url],
    [`${url}?a[]=1&b=[2]`, `${url}?a[]=1&b=[2]`],
    [`${url}/#`, `${url}/#`],
  ] as const) {
    const text = { to: '+254711000001', from: 'PAMOJA', message, shorten_urls: true }
    const { body: sent } = await client.post('/v1/sms/send', text)
    const { body } = await client.get(`/v1/sms/${sent.message_id}`)
    assert.deepEqual([body.links[0].url, body.message], [led, message.replace(led, body.links[0].short_url)])
  }
})

test('messages are found by the notes on them', async () => {
  const { client } = await world.account({ balance: 10 })
  const send = async (metadata: object) => {
    const message = { to: '+254711000001', from: 'PAMOJA', message: 'Habari', metadata }
    return (await client.post('/v1/sms/send', message)).body.message_id
  }
  const first = await send({ order: '77', paid: true })
  const second = await send({ order: 77, paid: false })
  await send({ order: '78' })
  const found = async (query: string) => {
    const { status, body, text, headers } = await client.get(`/v1/sms?${query}`)
    assert.equal(status, 200, text)
    assert.equal(headers['pamoja-warning'], undefined)
    return body.data.map(({ message_id }: { message_id: string }) => message_id)
  }
  assert.deepEqual(await found('metadata[order]=77'), [second, first])
  assert.deepEqual(await found('metadata%5Border%5D=77&metadata[paid]=true'), [first])
  assert.deepEqual(await found('metadata[nothing]=77'), [])
  const many = Array.from({ length: 11 }, (_, i) => `metadata[k${i}]=1`).join('&')
  for (const bad of [many, 'metadata=77', `metadata[k]=${'x'.repeat(501)}`, 'metadata[k]=%00']) {
    const { status, body, text } = await client.get(`/v1/sms?${bad}`)
    assert.deepEqual([status, body.error?.code], [400, 'INVALID_REQUEST'], text)
  }
})

test('an account decides for how long the texts of its messages are kept', async () => {
  const [ada, eve] = [await world.account({ balance: 10 }), await world.account({ balance: 10 })]
  const keep = (account: Account, days: number) =>
    account.client.patch('/v1/account', { settings: { sms_text_days: days } })
  for (const days of [-1, 401, 1.5]) assert.equal((await keep(ada, days)).status, 422)
  assert.equal((await keep(ada, 10)).status, 200)
  assert.equal((await keep(eve, 400)).status, 200)
  const [hers, other] = [await delivered(ada), await delivered(eve)]
  const nowMs = world.app.clock.nowMs()
  await forgetTexts(world.app, nowMs + 9 * dayMs)
  assert.equal(await textOf(ada, hers), 'Habari')
  await forgetTexts(world.app, nowMs + 11 * dayMs)
  assert.equal(await textOf(ada, hers), null)
  await forgetTexts(world.app, nowMs + 399 * dayMs)
  assert.equal(await textOf(eve, other), 'Habari')
  await keep(eve, 0)
  await forgetTexts(world.app, nowMs + 1_000)
  assert.equal(await textOf(eve, other), null)
})

test('the text of a message that waited long is kept while it may have to be sent another way', async () => {
  const ada = await world.account({ balance: 10 })
  const nowMs = world.app.clock.nowMs()
  const scheduled_at = new Date(nowMs + 90 * dayMs).toISOString()
  // No receipt ever comes for this number.
  const message = { to: '+254711000005', from: 'PAMOJA', message: 'Habari', scheduled_at }
  const [sent, blank] = [await ada.client.post('/v1/sms/send', message), await ada.client.post('/v1/sms/send', message)]
  const database = lookInto(world)
  await database.connect()
  await database.query(`update sms.messages set body = null where id = '${uuidOf('sms', blank.body.message_id)}'`)
  await database.end()
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: (90 * dayMs) / 1_000 })
  const { message_id: id } = sent.body
  await eventually(async () => (await statusOf(ada, id)) === 'sent', 'it to be sent')
  await forgetTexts(world.app, nowMs + 92 * dayMs)
  assert.equal(await textOf(ada, id), 'Habari')
  await forgetTexts(world.app, nowMs + 94 * dayMs)
  assert.equal(await textOf(ada, id), null)
  const empty = await ended(ada, blank.body.message_id)
  assert.deepEqual([empty.status, empty.cost], ['failed', 0], 'nobody is sent a text that is gone')
})

/** A message centre that takes everything and says one thing after the other of it. */
async function contradictorySmsc(states: readonly ReceiptState[]): Promise<Smsc> {
  let messages = 0
  return Smsc.listen({
    host: '127.0.0.1',
    port: 0,
    systemId: 'LATE',
    responseTimeoutMs: 10_000,
    authenticate: () => 0,
    onSubmit: async (session, message) => {
      const messageId = `late-${messages++}`
      setImmediate(async () => {
        for (const state of states) {
          const content = encodeReceipt({
            id: messageId,
            state,
            error: null,
            submitDate: null,
            doneDate: null,
            text: '',
          })
          const [source, destination] = [message.destination, message.source]
          await session.deliver(newShortMessage({ source, destination, ...content }))
        }
      })
      return { status: 0, messageId }
    },
  })
}

async function delivered({ client }: Account): Promise<string> {
  const { body } = await client.post('/v1/sms/send', { to: '+254711000001', from: 'PAMOJA', message: 'Habari' })
  await eventually(
    async () => (await client.get(`/v1/sms/${body.message_id}`)).body.status === 'delivered',
    'the delivery',
  )
  return body.message_id
}

async function textOf({ client }: Account, id: string): Promise<string | null> {
  return (await client.get(`/v1/sms/${id}`)).body.message
}
