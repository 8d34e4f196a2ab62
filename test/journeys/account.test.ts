// SPDX-License-Identifier: Apache-2.0
// What an account is set to, what its keys are, and what it used: as its owner changes and reads them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { trafficChore, trafficUpto } from '../../src/platform/operator/tallies.ts'
import { doChores, eventually, startWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

test('settings are changed one by one, unset with null, and nothing else is kept', async () => {
  const { client } = await world.account()
  const set = async (settings: object) => client.patch('/v1/account', { settings })
  const none = {
    address: null,
    brand_color: null,
    brand_logo: null,
    callback_events: null,
    campaign_four_eyes: null,
    default_sender: null,
    email_webhook_url: null,
    invoice_number_pattern: null,
    invoice_overpayment: null,
    low_balance_threshold: null,
    dunning_days: null,
    dunning_end: null,
    require_totp: null,
    sms_text_days: null,
    sms_words: null,
    tax_number: null,
  }
  assert.deepEqual((await client.get('/v1/account')).body.settings, none, 'one who never set any sees what there is')
  assert.deepEqual((await set({ default_sender: 'ACME', sms_text_days: 30 })).body.settings, {
    ...none,
    default_sender: 'ACME',
    sms_text_days: 30,
  })
  assert.deepEqual((await set({ dunning_days: [1, 2] })).body.settings.default_sender, 'ACME')
  const strange = await set({ default_sendr: 'ACME', nested: { x: 'y'.repeat(10_000) } })
  assert.equal(strange.status, 200)
  assert.match(strange.headers['pamoja-warning'] ?? '', /settings\.default_sendr.*did you mean "default_sender"/)
  assert.deepEqual(strange.body.settings, { ...none, default_sender: 'ACME', dunning_days: [1, 2], sms_text_days: 30 })
  const unset = await set({ default_sender: null, sms_text_days: null, low_balance_threshold: null })
  assert.deepEqual(unset.body.settings, { ...none, dunning_days: [1, 2] })
  assert.deepEqual((await client.get('/v1/account')).body.settings, { ...none, dunning_days: [1, 2] })
  const words = { sms_words: { stop: ['TSAYA'], help: [] }, low_balance_threshold: '50.5' }
  assert.deepEqual((await set(words)).body.settings, { ...none, dunning_days: [1, 2], ...words })
  const wrong = await set({ low_balance_threshold: 0 })
  assert.deepEqual(wrong.body.error.fields, [
    { field: 'settings.low_balance_threshold', code: 'VALIDATION_ERROR', message: 'must be more than 0' },
  ])
})

test('the address for email tracking is one that could be called', async () => {
  const { client } = await world.account()
  const bad = ['https://', 'https://a b', 'https://user:secret@example.com/', 'ftp://example.com', '']
  // The setting is that of both environments, so that a test key may not give plain http either.
  for (const url of [...bad, 'http://127.0.0.1:9000/mail', 'http://localhost:9000/mail', 'http://example.com/mail']) {
    const refused = await client.patch('/v1/account', { settings: { email_webhook_url: url } })
    assert.deepEqual([refused.status, refused.body.error?.code], [400, 'INVALID_URL'], url)
  }
  const taken = await client.patch('/v1/account', { settings: { email_webhook_url: 'https://127.0.0.1:9443/mail' } })
  assert.equal(taken.body.settings.email_webhook_url, 'https://127.0.0.1:9443/mail', taken.text)
})

test('a key can be given an end, and have it taken away', async () => {
  const { client } = await world.account()
  const { body: key } = await client.post('/v1/api-keys', { name: 'Guest', expires_at: '2100-01-01T00:00:00Z' })
  const renamed = await client.patch(`/v1/api-keys/${key.id}`, { name: 'Staff' })
  assert.equal(renamed.body.expires_at, '2100-01-01T00:00:00.000Z', 'what is not named stays')
  const kept = await client.patch(`/v1/api-keys/${key.id}`, { expires_at: null })
  assert.deepEqual([kept.body.expires_at, kept.body.status], [null, 'active'])
})

test('a rule that a key breaks names its field', async () => {
  const { client } = await world.account()
  const rows: [object, string, RegExp][] = [
    [{ scopes: ['sms:fly'] }, 'scopes', /not "sms:fly"/],
    [{ allowed_ips: ['10.0.0.0/33'] }, 'allowed_ips', /not "10\.0\.0\.0\/33"/],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at', /in the future/],
  ]
  for (const [fields, field, message] of rows) {
    const { status, body } = await client.post('/v1/api-keys', { name: 'Wrong', ...fields })
    assert.deepEqual([status, body.error.fields?.[0].field], [422, field])
    assert.match(body.error.fields[0].message, message)
    assert.equal(body.error.details, `${field} ${body.error.fields[0].message}`)
  }
})

test('a list is filtered by what was asked, also where there is nothing to see', async () => {
  const { client } = await world.account()
  const { body: live } = await client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  const environments = async (key: string, query: string) => {
    const { body } = await world.stranger.as(key).get(`/v1/api-keys${query}`)
    return body.data.map((one: { environment: string }) => one.environment)
  }
  const { body: test } = await client.post('/v1/api-keys', { name: 'Test' })
  assert.deepEqual(await environments(test.key, '?environment=live'), [])
  assert.deepEqual(await environments(test.key, ''), ['test', 'test'])
  assert.deepEqual(await environments(live.key, '?environment=live'), ['live'])
  assert.deepEqual((await environments(live.key, '')).sort(), ['live', 'test', 'test'])
})

test('usage is of the 30 days that end where it is asked to end', async () => {
  const { client } = await world.account()
  const { status, body } = await client.get('/v1/usage?end_date=2026-03-31')
  assert.deepEqual([status, body.start_date, body.end_date], [200, '2026-03-02', '2026-03-31'])
  const { policy, limit, window } = body.limits[0]
  assert.deepEqual([policy, limit, window], ['key', 100, 1], 'what is left of the limits stands beside it')
})

test('one search finds what a number and a reference have, of this account alone, and what the key may read', async () => {
  const [{ client }, other] = await Promise.all([world.account({ balance: 1_000 }), world.account()])
  const phone = '+254711000077'
  const sent = await client.post('/v1/sms/send', { to: phone, from: 'PAMOJA', message: 'Habari', reference: 'order-7' })
  assert.equal(sent.status, 200, sent.text)
  const paid = await client.post('/v1/payments/mobile/initiate', {
    ...{ amount: 100, currency: 'KES', phone, provider: 'mpesa', reference: 'order-8' },
  })
  assert.ok(paid.status < 300, paid.text)
  const found = async (q: string, by = client): Promise<string[]> => {
    const { status, body, text } = await by.get(`/v1/account/search?q=${encodeURIComponent(q)}`)
    assert.equal(status, 200, text)
    // The customer of the number may be known already, or not yet.
    const records = body.data.filter(({ kind }: { kind: string }) => kind !== 'customer')
    return records.map(({ kind, id }: { kind: string; id: string }) => `${kind} ${id}`).sort()
  }
  const message = `message ${sent.body.message_id}`
  const payment = `payment ${paid.body.payment_id}`
  assert.deepEqual(await found(phone), [message, payment])
  assert.deepEqual(await found('order-7'), [message])
  assert.deepEqual(await found('order-8'), [payment])
  assert.deepEqual(await found(sent.body.message_id), [message])
  assert.deepEqual(await found(phone, other.client), [])
  const { body } = await client.post('/v1/api-keys', { name: 'Money', scopes: ['account:read', 'payments:read'] })
  const ofMoney = world.stranger.as(body.key)
  assert.deepEqual(await found(phone, ofMoney), [payment])

  const { body: known } = await client.post('/v1/customers', { name: 'Zawadi Achieng', phones: ['+254711000078'] })
  const rows = async (q: string, by = client) =>
    (await by.get(`/v1/account/search?q=${encodeURIComponent(q)}`)).body.data
  const [byName, ...others] = await rows('achieng zaw')
  assert.deepEqual([byName.id, byName.label, byName.status, others], [known.id, 'Zawadi Achieng', null, []])
  assert.deepEqual(await rows('achieng', ofMoney), [])
  assert.deepEqual(await rows('achieng', other.client), [])
  const told = (await rows(phone)).map(({ kind, label, amount, currency }: Record<string, unknown>) => [
    ...[kind, label, amount, currency],
  ])
  assert.deepEqual(
    told.filter(([kind]: unknown[]) => kind !== 'customer'),
    [
      ['payment', 'mpesa', 100, 'KES'],
      ['message', 'Habari', null, null],
    ],
    'rows of one number tell themselves apart',
  )
})

test('records of all accounts are counted once for the operator, by channel and by connection', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const traffic = async (): Promise<[sms: number, mpesa: number]> => {
    const { body } = await world.operator.get('/v1/operator/traffic?environment=test&range=week')
    assert.equal(body.channels.length, 7)
    const named = (name: string, all: { name: string; values: number[] }[]): number =>
      all.filter((one) => one.name === name).reduce((sum, one) => sum + (one.values.at(-1) ?? 0), 0)
    return [named('sms', body.channels), named('mpesa', body.connections)]
  }
  // Records are counted when they are a minute old.
  const count = (laterMs: number): Promise<void> => {
    const clock = { nowMs: () => world.app.clock.nowMs() + laterMs }
    return doChores({ ...world.app, clock }, [trafficChore])
  }
  // A round ends where the node's own has counted meanwhile.
  const sinceMs = world.app.clock.nowMs()
  await eventually(async () => {
    await count(60_000)
    return ((await trafficUpto(world.app.db))?.getTime() ?? 0) >= sinceMs
  }, 'the time before to be counted')
  const [sms, mpesa] = await traffic()
  await client.post('/v1/sms/send', { to: '+254711000001', from: 'PAMOJA', message: 'Habari' })
  const charge = { amount: 100, currency: 'KES', phone: '+254711000001', provider: 'mpesa' }
  assert.equal((await client.post('/v1/payments/mobile/initiate', charge)).status, 201)
  await eventually(async () => {
    await Promise.all([count(61_000), count(61_000)])
    const now = await traffic()
    return now[0] > sms && now[1] > mpesa
  }, 'the text and the payment to be counted')
  await count(61_000)
  assert.deepEqual(await traffic(), [sms + 1, mpesa + 1])
  assert.equal((await client.get('/v1/operator/traffic')).status, 403)
})

test('what waits is counted in one answer, with the clock; traffic is told by channel; the clock goes back', async () => {
  const { client } = await world.account({ balance: 1_000 })
  await client.post('/v1/sms/send', { to: '+254711000001', from: 'PAMOJA', message: 'Habari' })
  const traffic = (await client.get('/v1/account/traffic?range=week')).body
  const sms = traffic.channels.find(({ name }: { name: string }) => name === 'sms')
  assert.deepEqual([sms.total, sms.values.length, sms.values.at(-1), sms.before], [1, 28, 1, 0])
  assert.equal((await client.post('/v1/sandbox/clock', { advance_seconds: 86_400 })).status, 200)
  const { body } = await client.get('/v1/account/waiting')
  assert.equal(body.clock_offset_seconds, 86_400)
  const { body: dayLater } = await client.get('/v1/account/traffic?range=day')
  const [before] = dayLater.channels.filter(({ name }: { name: string }) => name === 'sms')
  assert.deepEqual([before.total, before.before], [0, 1], 'the text was sent in the day before')
  assert.deepEqual([body.counts.payouts_to_approve, body.counts.webhooks_failing], [0, 0])
  assert.equal((await client.delete('/v1/sandbox/clock')).body.offset_seconds, 0)
  assert.equal((await client.get('/v1/account/waiting')).body.clock_offset_seconds, 0)
  assert.ok((await world.operator.get('/v1/operator/waiting')).body.counts.jobs_failed >= 0)
  assert.deepEqual((await client.get('/v1/voice/calls?number=%2B254711000001')).body.data, [])
})
