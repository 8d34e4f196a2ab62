// SPDX-License-Identifier: Apache-2.0
// What a wait does to a message: who opts out meanwhile is not written to, what is called for at once goes at once however
// old it is, and what nobody ever reported on can be found. And what STOP and START are about.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { lookInto } from '../looking.ts'
import { type Account, eventually, startWorld, tenantOf, type World } from '../world.ts'

let world: World

before(async () => {
  world = await startWorld()
})
after(() => world.stop())

const message = { to: '+254711000001', from: 'PAMOJA', message: 'Habari' }
const hourSeconds = 3_600

test('who opts out while a message waits does not get it, and its price comes back', async () => {
  const ada = await world.account({ balance: 10 })
  const id = await scheduled(ada, hourSeconds)
  const other = await scheduled(ada, hourSeconds, { from: 'OTHER' })
  await ada.client.post('/v1/sms/opt-outs', { phone: message.to, from: 'PAMOJA' })
  await advance(ada, hourSeconds)
  const { status, error_code, cost, attempts } = await ended(ada, id)
  assert.deepEqual([status, error_code, cost], ['failed', 'OPTED_OUT', 0], `after ${attempts} attempts`)
  assert.equal((await ended(ada, other)).status, 'delivered', 'another sender')
  assert.equal((await ada.client.get('/v1/sms/balance')).body.balance, 9.2)
})

test('a message that is called for at once goes out, although its validity since it was sent in is over', async () => {
  const ada = await world.account({ balance: 10 })
  const id = await scheduled(ada, hourSeconds, { validity: 60 })
  const now = await advance(ada, 61)
  const moved = await ada.client.patch(`/v1/sms/${id}`, { scheduled_at: now })
  assert.equal(moved.status, 200, moved.text)
  const record = await ended(ada, id)
  assert.deepEqual([record.status, record.error_code], ['delivered', null])
})

test('a message of which nothing was heard for its validity and a day is found by what it lacks', async () => {
  const ada = await world.account({ balance: 10 })
  const { body: sent } = await ada.client.post('/v1/sms/send', {
    ...message,
    to: ['+254711000005', '+254733000005'],
    validity: 60,
  })
  const counts = async () => (await ada.client.get(`/v1/sms/bulk/${sent.message_id}?messages=true`)).body
  await eventually(async () => (await counts()).counts.sent === 2, 'both to be sent')
  const found = async () => (await ada.client.get('/v1/sms?error_code=DLR_TIMEOUT')).body.data
  await advance(ada, 86_400)
  assert.equal((await found()).length, 0, 'its validity is not over')
  await advance(ada, 61)
  assert.deepEqual(
    (await found()).map((one: { status: string; error_code: string }) => [one.status, one.error_code]),
    [
      ['sent', 'DLR_TIMEOUT'],
      ['sent', 'DLR_TIMEOUT'],
    ],
  )
  assert.deepEqual(
    (await counts()).messages.map((one: { error_code: string }) => one.error_code),
    ['DLR_TIMEOUT', 'DLR_TIMEOUT'],
  )
})

test('STOPALL is about every sender, and START takes back no more than what stands in its way', async () => {
  const ada = await world.account({ balance: 10 })
  const handset = '+254711000021'
  const writes = async (to: string, text: string) => {
    const reply = await ada.client.post('/v1/sandbox/sms/inbound', { from: handset, to, message: text })
    assert.equal(reply.status, 201, reply.text)
  }
  const refusing = async () => {
    const { body } = await ada.client.get(`/v1/sms/opt-outs?phone=${encodeURIComponent(handset)}`)
    return body.data.map((one: { from: string }) => one.from).sort()
  }
  await writes('CLINIC', 'stop')
  await writes('SHOP', 'StopAll')
  assert.deepEqual(await refusing(), ['*', 'CLINIC'])
  const refused = await ada.client.post('/v1/sms/send', { ...message, to: handset, from: 'BANK' })
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'OPTED_OUT'])
  await writes('SHOP', 'START')
  assert.deepEqual(await refusing(), ['CLINIC'], 'which nobody took back')
  const { body } = await ada.client.get('/v1/events?event=sms.opted_in')
  assert.deepEqual(
    body.data.map((one: { payload: { from: string } }) => one.payload.from),
    ['*'],
  )
})

test('an opt-out is about its sender in every way of writing it, wherever it is asked for', async () => {
  const ada = await world.account({ balance: 10 })
  const [handset, other] = ['+254711000024', '+254711000025']
  const optOut = (phone: string, from: string) => ada.client.post('/v1/sms/opt-outs', { phone, from })
  const says = (to: string, text: string) =>
    ada.client.post('/v1/sandbox/sms/inbound', { from: handset, to, message: text })
  const send = (from: string) => ada.client.post('/v1/sms/send', { ...message, to: handset, from })
  const senders = async () => {
    const { body } = await ada.client.get(`/v1/sms/opt-outs?phone=${encodeURIComponent(handset)}`)
    return body.data.map((one: { from: string }) => one.from)
  }
  for (const [from, written, strange] of [
    ['Acme', 'ACME', 'acme'],
    ['27831000001', '27831000001', '+27831000001'],
  ] as const) {
    const waiting = await scheduled(ada, hourSeconds, { to: handset, from: written })
    const made = await optOut(handset, from)
    assert.deepEqual([made.status, made.body.from], [201, from], made.text)
    assert.equal((await optOut(handset, strange)).body.from, from, 'the first one stands')
    assert.deepEqual(await senders(), [from])
    const refused = await send(written)
    assert.deepEqual([refused.status, refused.body.error?.code], [403, 'OPTED_OUT'], refused.text)
    const messages = [handset, other].map((to) => ({ to, message: 'Habari' }))
    const { body: bulk } = await ada.client.post('/v1/sms/bulk', { from: written, messages })
    assert.deepEqual(
      bulk.messages.map((one: { error_code: string | null }) => one.error_code),
      ['OPTED_OUT', null],
    )
    await advance(ada, hourSeconds)
    assert.equal((await ended(ada, waiting)).error_code, 'OPTED_OUT', 'what was accepted before')
    assert.equal((await says(strange, 'START')).status, 201)
    assert.deepEqual(await senders(), [])
    assert.equal((await send(written)).status, 200)
    await says(strange, 'STOP')
    assert.deepEqual(await senders(), [strange.replace('+', '')])
    assert.equal((await send(written)).status, 403)
    assert.equal((await ada.client.delete(`/v1/sms/opt-outs/${handset}`)).body.removed, 1)
  }
})

test('a handset that answers STOP to a long number has its answer heard', async () => {
  const ada = await world.account({ balance: 10 })
  const [number, handset] = ['27831000001', '+254711000013']
  await ada.client.post('/v1/sms/numbers', { number: `+${number}` })
  const send = () => ada.client.post('/v1/sms/send', { ...message, to: handset, from: number })
  const sent = await send()
  assert.equal(sent.status, 200, sent.text)
  const [told] = await eventually(async () => {
    const { body } = await ada.client.get('/v1/events?event=sms.received')
    return body.data.length > 0 && body.data
  }, 'the answer')
  assert.deepEqual([told.payload.message, told.payload.in_reply_to], ['STOP', sent.body.message_id])
  const refused = await send()
  assert.deepEqual([refused.status, refused.body.error?.code], [403, 'OPTED_OUT'], refused.text)
})

test('who asks for help is told how to stop and to start, free, and nothing changes for them', async () => {
  const ada = await world.account({ balance: 10 })
  const handset = '+254711000022'
  for (const word of ['Help', 'MSAADA']) {
    const reply = await ada.client.post('/v1/sandbox/sms/inbound', { from: handset, to: 'CLINIC', message: word })
    assert.equal(reply.status, 201, reply.text)
  }
  const { body } = await ada.client.get('/v1/sms?direction=outbound')
  assert.deepEqual(
    body.data.map((one: { to: string; from: string; cost: number }) => [one.to, one.from, one.cost]),
    [
      [handset, 'CLINIC', 0],
      [handset, 'CLINIC', 0],
    ],
  )
  const [swahili, english] = body.data.map((one: { message: string }) => one.message)
  assert.match(english, /^Messages from CLINIC\. Reply STOP/)
  assert.match(swahili, /^Ujumbe kutoka CLINIC\. Jibu ACHA/)
  assert.equal((await ada.client.get(`/v1/sms/opt-outs/${handset}`)).status, 404)
  assert.equal((await ada.client.get('/v1/sms/balance')).body.balance, 10)
  assert.equal((await ada.client.get('/v1/events?event=sms.received')).body.data.length, 2)
})

test('an account adds words of its own, which hold for nobody else', async () => {
  const [ada, eve] = [await world.account({ balance: 10 }), await world.account({ balance: 10 })]
  const handset = '+254711000023'
  const set = (sms_words: unknown) => ada.client.patch('/v1/account', { settings: { sms_words } })
  for (const bad of [{ stop: 'TSAYA' }, { stop: ['x'.repeat(31)] }, { stop: ['!'] }, { help: Array(21).fill('A') }, 5])
    assert.equal((await set(bad)).status, 422, JSON.stringify(bad))
  for (const [bad, details] of [
    [{ start: ['stop!'] }, 'settings.sms_words.start must not have STOP, which is for stop'],
    [{ stop: ['Tsaya'], help: ['tsaya'] }, 'settings.sms_words.help must not have TSAYA, which is for stop'],
  ] as const) {
    const refused = await set(bad)
    assert.deepEqual([refused.status, refused.body.error?.details], [422, details], refused.text)
  }
  assert.equal((await set({ stop: ['Tsaya', 'STOP'], start: ['Fara'] })).status, 200)
  const keywords = [{ keyword: 'tsaya', auto_reply: 'Karibu!' }]
  const taken = await ada.client.post('/v1/sms/numbers', { number: '22171', keywords })
  assert.equal(taken.status, 422, 'its reply would never be sent')
  assert.match(taken.body.error.details, /^keywords\[0\]\.keyword TSAYA is a word by which people opt out/)
  assert.equal((await eve.client.post('/v1/sms/numbers', { number: '22171', keywords })).status, 201)
  assert.equal((await ada.client.post('/v1/sms/numbers', { number: '22171' })).status, 201)
  assert.equal((await ada.client.patch('/v1/sms/numbers/22171', { keywords })).status, 422)
  const says = async ({ client }: Account, message: string) => {
    const reply = await client.post('/v1/sandbox/sms/inbound', { from: handset, to: 'CLINIC', message })
    assert.equal(reply.status, 201, reply.text)
    return (await client.get(`/v1/sms/opt-outs/${handset}`)).status
  }
  assert.deepEqual([await says(ada, 'tsaya.'), await says(eve, 'tsaya.')], [200, 404])
  const { body } = await ada.client.get('/v1/events?event=sms.opted_out')
  assert.deepEqual([body.data[0].payload.reason, body.data[0].payload.from], ['TSAYA', 'CLINIC'])
  assert.equal(await says(ada, 'FARA'), 404, 'it is taken back')
  assert.equal(await says(ada, 'stop'), 200, 'the usual words hold as well')
  await says(ada, 'START')
  assert.equal((await set(null)).status, 200)
  assert.equal(await says(ada, 'Tsaya'), 404)
})

test('a batch is over when its last message is, and says so once', async () => {
  const ada = await world.account({ balance: 10 })
  const { body: sent } = await ada.client.post('/v1/sms/bulk', {
    from: 'PAMOJA',
    metadata: { run: 'a' },
    messages: [
      { to: '+254711000001', message: 'Habari' },
      { to: '+254711000002', message: 'Habari' },
      { to: '+254711000003', message: 'Habari' },
      { to: '0712', message: 'Habari' },
    ],
  })
  const ended = await eventually(
    async () => (await ada.client.get(`/v1/sms/bulk/${sent.batch_id}`)).body.completed_at,
    'the end of its messages',
  )
  const [told] = await eventually(async () => {
    const { body } = await ada.client.get('/v1/events?event=sms.batch_completed')
    return body.data.length > 0 && body.data
  }, 'the end of the batch')
  const { event_id, timestamp, created_at, completed_at, ...payload } = told.payload
  assert.deepEqual(payload, {
    event: 'sms.batch_completed',
    batch_id: sent.batch_id,
    status: 'completed',
    total: 4,
    accepted: 3,
    rejected: 1,
    segments: 3,
    cost: 1.6,
    currency: 'KES',
    counts: { queued: 0, sent: 0, delivered: 1, failed: 2 },
    metadata: { run: 'a' },
  })
  const { body: list } = await ada.client.get(`/v1/sms?batch_id=${sent.batch_id}`)
  const ends = list.data.map((one: Record<string, string>) => one.delivered_at ?? one.failed_at).sort()
  assert.deepEqual([completed_at, ended], [ends.at(-1), ends.at(-1)], 'one moment, whoever is asked and when')
  const { body: batch } = await ada.client.get(`/v1/sms/bulk/${sent.batch_id}`)
  assert.deepEqual([batch.status, batch.completed_at, batch.counts], ['completed', completed_at, payload.counts])
  assert.equal((await ada.client.get('/v1/sms/balance')).body.balance, 8.4)
  assert.equal((await ada.client.get('/v1/events?event=sms.batch_completed')).body.data.length, 1)
})

test('a batch that was looked at often before it was due tells soon of its end', async () => {
  const ada = await world.account({ balance: 10 })
  await ada.client.patch('/v1/sandbox/sms/behaviour', { delay_ms: 3_000 })
  const { body: clock } = await ada.client.get('/v1/sandbox/clock')
  const { body: sent } = await ada.client.post('/v1/sms/bulk', {
    from: 'PAMOJA',
    scheduled_at: new Date(Date.parse(clock.now) + 24 * hourSeconds * 1_000).toISOString(),
    messages: [{ to: '+254711123456', message: 'Habari' }],
  })
  const sql = lookInto(world)
  await sql.connect()
  try {
    const job = `lane = 'sms.batch' and owner is null and account_id = '${tenantOf(ada).account}'`
    const looked = (attempt: number) =>
      eventually(
        async () => (await sql.query(`select from work.jobs where ${job} and attempt = ${attempt}`)).rowCount,
        'a look at the batch',
      )
    await looked(1)
    await sql.query(`update work.jobs set attempt = 20 where ${job}`)
    await advance(ada, 23 * hourSeconds)
    await looked(21)
  } finally {
    await sql.end()
  }
  await advance(ada, hourSeconds)
  const told = await eventually(async () => {
    const { body } = await ada.client.get('/v1/events?event=sms.batch_completed')
    return body.data[0]
  }, 'the end of the batch')
  assert.deepEqual([told.payload.batch_id, told.payload.counts.delivered], [sent.batch_id, 1])
})

async function scheduled(ada: Account, inSeconds: number, more: object = {}): Promise<string> {
  const { body: clock } = await ada.client.get('/v1/sandbox/clock')
  const scheduled_at = new Date(Date.parse(clock.now) + inSeconds * 1_000).toISOString()
  const { status, body, text } = await ada.client.post('/v1/sms/send', { ...message, scheduled_at, ...more })
  assert.equal(status, 200, text)
  return body.message_id
}

async function advance(ada: Account, seconds: number): Promise<string> {
  const { status, text } = await ada.client.post('/v1/sandbox/clock', { advance_seconds: seconds })
  assert.equal(status, 200, text)
  return (await ada.client.get('/v1/sandbox/clock')).body.now
}

function ended(ada: Account, id: string) {
  return eventually(async () => {
    const { body } = await ada.client.get(`/v1/sms/${id}`)
    return ['delivered', 'failed'].includes(body.status) && body
  }, `${id} to end`)
}
