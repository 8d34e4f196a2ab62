// SPDX-License-Identifier: Apache-2.0
// Under which names and to which countries a customer may send: what customers register, operators decide, and every way
// of sending obeys.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it, test } from 'node:test'
import { dayMs, hourMs } from '../../src/kernel/time.ts'
import { Client } from '../client.ts'
import { priceLiveTexts } from '../texting.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World

before(async () => {
  world = await startWorld()
  // Live messages need a route; that nobody answers at its end is of no consequence here.
  const bind = { name: 'silent', host: '127.0.0.1', port: 9, system_id: 'none', password: 'none' }
  await world.operator.post('/v1/operator/sms/binds', bind)
  await world.operator.post('/v1/operator/sms/routes', { tiers: [[{ bind: bind.name }]] })
  await eventually(async () => {
    const { body } = await world.operator.get('/v1/operator/sms/routes')
    return body.data.every(({ in_force }: { in_force: boolean }) => in_force)
  }, 'the route to be in force')
  await priceLiveTexts(world)
})
after(() => world.stop())

const sample = { purpose: 'Order updates', sample: 'Your order 77 is on its way.' }
const kenya = '+254711000001'
const rwanda = '+250788000001'
const lesotho = '+26658000001'

test('a short link of a live text leads where the long one led', async () => {
  const { live } = await liveAccount()
  const text = { to: lesotho, from: 'ANY', message: 'Bona https://duka.example/4512', shorten_urls: true }
  const { status, body, text: said } = await live.post('/v1/sms/send', text)
  assert.equal(status, 200, said)
  const [link] = (await live.get(`/v1/sms/${body.message_id}`)).body.links
  const opened = await world.stranger.get(new URL(link.short_url).pathname)
  assert.deepEqual([opened.status, opened.headers.location], [302, 'https://duka.example/4512'])
})

describe('a sender id', () => {
  it('of a live key waits for the operator, and sends once it is approved', async () => {
    const { live } = await liveAccount()
    const refused = await live.post('/v1/sms/send', { to: kenya, from: 'DUKA', message: 'Habari' })
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'SENDER_NOT_ALLOWED'])
    const made = await live.post('/v1/sms/sender-ids', { sender: 'DUKA', countries: ['KE'], ...sample })
    assert.deepEqual([made.status, made.body.status, made.body.decided_at], [201, 'pending', null], made.text)
    assert.equal((await live.post('/v1/sms/send', { to: kenya, from: 'DUKA', message: 'Habari' })).status, 403)
    const waiting = await world.operator.get('/v1/operator/sms/sender-ids?status=pending')
    assert.ok(waiting.body.data.some(({ id }: { id: string }) => id === made.body.id))
    const approved = await world.operator.post(`/v1/operator/sms/sender-ids/${made.body.id}/approve`)
    assert.deepEqual([approved.status, approved.body.status], [200, 'approved'], approved.text)
    assert.equal((await live.post('/v1/sms/send', { to: kenya, from: 'DUKA', message: 'Habari' })).status, 200)
    const elsewhere = await live.post('/v1/sms/send', { to: rwanda, from: 'DUKA', message: 'Muraho' })
    assert.equal(elsewhere.body.error.code, 'SENDER_NOT_ALLOWED', 'only where it is registered')
    assert.equal((await live.post('/v1/sms/send', { to: lesotho, from: 'ANY', message: 'Lumela' })).status, 200)
  })

  it('that is rejected says why, and may be asked for again', async () => {
    const { live } = await liveAccount()
    const { body: made } = await live.post('/v1/sms/sender-ids', { sender: 'BANKI', ...sample })
    assert.equal(made.countries, null)
    const twice = await live.post('/v1/sms/sender-ids', { sender: 'BANKI', ...sample })
    assert.deepEqual([twice.status, twice.body.error.code], [409, 'CONFLICT'])
    assert.match(twice.body.error.details, /^BANKI is registered for these countries already/)
    const path = `/v1/operator/sms/sender-ids/${made.id}`
    assert.equal((await world.operator.post(`${path}/reject`, {})).status, 422)
    assert.equal((await world.operator.post(`${path}/reject`, { reason: 'The name of a bank' })).status, 200)
    const { body: read } = await live.get(`/v1/sms/sender-ids/${made.id}`)
    assert.deepEqual([read.status, read.reason], ['rejected', 'The name of a bank'])
    assert.equal((await world.operator.post(`${path}/approve`)).body.error.current_status, 'rejected')
    assert.equal((await live.post('/v1/sms/sender-ids', { sender: 'BANKI', ...sample })).status, 201)
  })

  it('whose approval is taken back, or that is deleted, sends no more', async () => {
    const { live } = await liveAccount()
    const send = async () => (await live.post('/v1/sms/send', { to: kenya, from: 'SOKO', message: 'Habari' })).status
    for (const end of ['reject', 'delete']) {
      const { body: made } = await live.post('/v1/sms/sender-ids', { sender: 'SOKO', ...sample })
      await world.operator.post(`/v1/operator/sms/sender-ids/${made.id}/approve`)
      assert.equal(await send(), 200)
      const over =
        end === 'delete'
          ? await live.delete(`/v1/sms/sender-ids/${made.id}`)
          : await world.operator.post(`/v1/operator/sms/sender-ids/${made.id}/reject`, { reason: 'Complaints' })
      assert.equal(over.status, 200, over.text)
      assert.equal(await send(), 403)
    }
  })

  const bad: [string, object][] = [
    ['too short a name', { sender: 'AB' }],
    ['a name with a space', { sender: 'MY SHOP' }],
    ['no purpose', { purpose: '' }],
    ['a country that is none', { countries: ['XX'] }],
    ['no country at all', { countries: [] }],
  ]
  for (const [name, change] of bad)
    it(`with ${name} is refused`, async () => {
      const { client } = await world.account()
      const reply = await client.post('/v1/sms/sender-ids', { sender: 'DUKA', ...sample, ...change })
      assert.deepEqual([reply.status, reply.body.error.code], [422, 'VALIDATION_ERROR'], reply.text)
      assert.deepEqual((await client.get('/v1/sms/sender-ids')).body.data, [])
    })
})

test('tests may use any sender, until the operator demands registration; then one is approved at once', async () => {
  const ada = await world.account({ balance: 10 })
  const message = { from: 'MTIHANI', message: 'Oli otya' }
  const uganda = '+256772000001'
  assert.equal((await ada.client.post('/v1/sms/send', { ...message, to: uganda })).status, 200)
  await country('UG', { sender_registration: 'required' })
  const refused = await ada.client.post('/v1/sms/send', { ...message, to: uganda })
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'SENDER_NOT_ALLOWED'])
  const made = await ada.client.post('/v1/sms/sender-ids', { sender: 'MTIHANI', countries: ['UG'], ...sample })
  assert.deepEqual([made.status, made.body.status], [201, 'approved'])
  assert.equal((await ada.client.post('/v1/sms/send', { ...message, to: uganda })).status, 200)
  await country('UG', { sender_registration: null })
})

test('a country that the operator disables takes nothing: alone, in a list, in a bulk and in an estimate', async () => {
  const { client } = await world.account({ balance: 10 })
  const text = { from: 'DUKA', message: 'Sannu' }
  const nigeria = '+2348030000001'
  await country('NG', { enabled: false })
  for (const path of ['/v1/sms/send', '/v1/sms/estimate']) {
    const alone = await client.post(path, { ...text, to: nigeria })
    assert.deepEqual([alone.status, alone.body.error.code], [403, 'COUNTRY_NOT_ENABLED'], path)
  }
  const many = await client.post('/v1/sms/send', { ...text, to: [nigeria, kenya] })
  assert.deepEqual([many.status, many.body.accepted, many.body.cost], [200, 1, 0.8], many.text)
  assert.equal(many.body.messages[0].error_code, 'COUNTRY_NOT_ENABLED')
  const messages = [
    { to: nigeria, message: 'Sannu' },
    { to: kenya, message: 'Habari' },
  ]
  const bulk = await client.post('/v1/sms/bulk', { from: 'DUKA', messages })
  assert.deepEqual([bulk.status, bulk.body.accepted], [200, 1], bulk.text)
  assert.equal(bulk.body.messages[0].error_code, 'COUNTRY_NOT_ENABLED')
  const none = await client.post('/v1/sms/bulk', { from: 'DUKA', messages: messages.slice(0, 1) })
  assert.deepEqual([none.status, none.body.error.code], [403, 'COUNTRY_NOT_ENABLED'])
  const estimate = await client.post('/v1/sms/estimate', { ...text, to: [nigeria, kenya] })
  assert.deepEqual([estimate.body.recipients, estimate.body.cost], [1, 0.8])
  assert.equal((await client.get('/v1/sms/balance')).body.balance, 8.4, 'only what was accepted is paid')
  await country('NG', { enabled: null })
  assert.equal((await client.post('/v1/sms/send', { ...text, to: nigeria })).status, 200)
})

test('what was scheduled before its country was disabled does not go out, and its price comes back', async () => {
  const { client } = await world.account({ balance: 10 })
  const { body: clock } = await client.get('/v1/sandbox/clock')
  const scheduled_at = new Date(Date.parse(clock.now) + 3_600_000).toISOString()
  const ghana = { to: '+233240000001', from: 'DUKA', message: 'Akwaaba', scheduled_at }
  const { body: sent } = await client.post('/v1/sms/send', ghana)
  await country('GH', { enabled: false })
  await client.post('/v1/sandbox/clock', { advance_seconds: 3_600 })
  const record = await eventually(async () => {
    const { body } = await client.get(`/v1/sms/${sent.message_id}`)
    return body.status !== 'queued' && body
  }, 'the end of it')
  assert.deepEqual([record.status, record.error_code, record.cost], ['failed', 'COUNTRY_NOT_ENABLED', 0])
  assert.match(record.error, /^Messages to the country were not enabled/)
  assert.equal((await client.get('/v1/sms/balance')).body.balance, 10)
  await country('GH', { enabled: null })
})

test('an account that the operator limits sends to its countries only', async () => {
  const ada = await world.account({ balance: 10 })
  const send = async (to: string) =>
    (await ada.client.post('/v1/sms/send', { to, from: 'DUKA', message: 'Habari' })).body.error?.code
  assert.equal(await send(rwanda), undefined)
  const path = `/v1/operator/sms/accounts/${ada.id}`
  const limited = await world.operator.patch(path, { countries: ['KE', 'TZ', 'KE'] })
  assert.deepEqual([limited.status, limited.body.countries], [200, ['KE', 'TZ']], limited.text)
  assert.deepEqual([await send(kenya), await send(rwanda)], [undefined, 'COUNTRY_NOT_ENABLED'])
  assert.deepEqual((await world.operator.get(path)).body.countries, ['KE', 'TZ'])
  assert.equal((await world.operator.patch(path, { countries: ['KEN'] })).status, 422)
  await world.operator.patch(path, { countries: null })
  assert.equal(await send(rwanda), undefined)
})

test('what one node hears from the operator holds on the others', async () => {
  const ada = await world.account({ balance: 10 })
  const other = await world.another({ PAMOJA_ROLES: ['api'] })
  const elsewhere = new Client(other.url, other.caFile && readFileSync(other.caFile, 'utf8'), ada.key)
  const refusal = async () =>
    (await elsewhere.post('/v1/sms/send', { to: rwanda, from: 'DUKA', message: 'Muraho' })).body.error?.code ?? 'none'
  try {
    assert.equal(await refusal(), 'none')
    await world.operator.patch(`/v1/operator/sms/accounts/${ada.id}`, { countries: ['KE'] })
    await eventually(async () => (await refusal()) === 'COUNTRY_NOT_ENABLED', 'the limit to be heard of', 10_000)
    await world.operator.patch(`/v1/operator/sms/accounts/${ada.id}`, { countries: null })
    await country('RW', { enabled: false })
    await eventually(async () => (await refusal()) === 'COUNTRY_NOT_ENABLED', 'the country', 10_000)
    await country('RW', { enabled: null })
    await eventually(async () => (await refusal()) === 'none', 'the end of it', 10_000)
  } finally {
    elsewhere.close()
    await other.stop()
  }
})

test('an operator sees what every country of Africa demands', async () => {
  const { body } = await world.operator.get('/v1/operator/sms/countries')
  const rules = new Map(body.data.map((row: { country: string }) => [row.country, row]))
  assert.ok(rules.size >= 54)
  assert.deepEqual(rules.get('KE'), { country: 'KE', enabled: true, sender_registration: 'required', is_default: true })
  assert.deepEqual(rules.get('LS'), { country: 'LS', enabled: true, sender_registration: 'open', is_default: true })
  const unclear = await world.operator.patch('/v1/operator/sms/countries/KE', { enabled: 'maybe' })
  assert.equal(unclear.body.error.details, 'enabled must be true, false or null')
  const wrong = await world.operator.patch('/v1/operator/sms/countries/KE', { sender_registration: 'maybe' })
  assert.equal(wrong.status, 422)
})

test('advertising waits for the morning of its recipient, and nothing else does', async () => {
  const { client } = await world.account({ balance: 10 })
  const { nowMs } = await moveTo(client, 20 * hourMs) // 23:00 in Nairobi
  const morning = new Date(nowMs + 9 * hourMs).toISOString()
  const offer = { from: 'DUKA', message: 'Sukari nusu bei', type: 'promotional' }
  const waiting = await client.post('/v1/sms/send', { ...offer, to: kenya })
  assert.deepEqual([waiting.body.status, waiting.body.scheduled_at], ['queued', morning], waiting.text)
  const many = await client.post('/v1/sms/send', { ...offer, to: [kenya, '+254733000001'] })
  assert.equal(many.body.scheduled_at, morning)
  const soon = new Date(nowMs + hourMs).toISOString()
  const earlier = await client.patch(`/v1/sms/${waiting.body.message_id}`, { scheduled_at: soon })
  assert.equal(earlier.body.scheduled_at, morning, 'it cannot be put forward into the night')
  const order = await client.post('/v1/sms/send', { to: kenya, from: 'DUKA', message: 'Your order is here' })
  assert.equal(order.body.scheduled_at, null)
  const code = await client.post('/v1/sms/send', { to: kenya, from: 'DUKA', message: 'Code 7788', type: 'otp' })
  assert.equal(code.body.scheduled_at, null, 'a password is for now')
  await client.post('/v1/sandbox/clock', { advance_seconds: 10 * 3_600 })
  await eventually(async () => {
    const { body } = await client.get(`/v1/sms/${waiting.body.message_id}`)
    return body.status === 'delivered'
  }, 'the morning')
  const byDay = await client.post('/v1/sms/send', { ...offer, to: kenya })
  assert.equal(byDay.body.scheduled_at, null)
})

test('an advertisement carries a link by which its recipient opts out, and looking at it changes nothing', async () => {
  const { client } = await world.account({ balance: 10 })
  await moveTo(client, 9 * hourMs) // noon in Nairobi
  const offer = { from: 'DUKA', message: 'Sukari nusu bei. Acha: {{optout}}', type: 'promotional' }
  const sent = await client.post('/v1/sms/send', { ...offer, to: kenya })
  assert.equal(sent.status, 200, sent.text)
  const { body: bulk } = await client.post('/v1/sms/bulk', {
    ...offer,
    messages: [kenya, '+254733000001'].map((to) => ({ to, message: offer.message })),
  })
  const link = async (id: string) => /\/o\/\w+$/.exec((await client.get(`/v1/sms/${id}`)).body.message)?.[0] ?? ''
  const path = await link(sent.body.message_id)
  assert.match(path, /^\/o\/\w{11}$/)
  assert.equal(await link(bulk.messages[0].message_id), path, 'one for each recipient and sender')
  assert.notEqual(await link(bulk.messages[1].message_id), path)
  const changed = new Date(world.app.clock.nowMs() + 10 * dayMs).toISOString()
  const later = await client.post('/v1/sms/send', { ...offer, to: kenya, scheduled_at: changed })
  const edited = await client.patch(`/v1/sms/${later.body.message_id}`, { message: 'Leo tu: {{optout}}' })
  assert.ok(edited.body.message.endsWith(path), edited.text)
  for (const type of ['transactional', 'otp']) {
    const plain = await client.post('/v1/sms/send', { ...offer, to: kenya, type })
    assert.equal((await client.get(`/v1/sms/${plain.body.message_id}`)).body.message, offer.message, type)
  }

  await client.patch('/v1/account', { settings: { brand_color: '#7a1fa2' } })
  const page = await world.stranger.get(path)
  assert.equal(page.status, 200)
  assert.match(page.text, /#7a1fa2.*<p class="from">.*Ada</s, 'it shows whose it is')
  assert.match(page.text, /No more messages from DUKA to …\u2060001\?/)
  assert.match((await world.stranger.get(`${path}?lang=sw`)).text, /<html lang="sw".*Usipokee tena ujumbe wa DUKA/s)
  assert.equal((await client.post('/v1/sms/send', { ...offer, to: kenya })).status, 200)
  for (const _ of ['once', 'twice'])
    assert.match((await world.stranger.post(path)).text, /no more messages to …\u2060001/)
  const refused = await client.post('/v1/sms/send', { ...offer, to: kenya })
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'OPTED_OUT'])
  assert.equal((await client.post('/v1/sms/send', { ...offer, to: kenya, from: 'SOKO' })).status, 200)
  const { body: told } = await client.get('/v1/events?event=sms.opted_out')
  assert.deepEqual(
    told.data.map(({ payload }: { payload: { phone: string; from: string } }) => [payload.phone, payload.from]),
    [[kenya, 'DUKA']],
  )
  for (const wrong of ['/o/00000000000', '/o/x', '/o/%00', `/o/${'%00'.repeat(11)}`])
    assert.equal((await world.stranger.get(wrong)).status, 404, wrong)
  const french = await world.stranger.get('/o/00000000000', { headers: { 'accept-language': 'fr' } })
  assert.match(french.text, /Ce lien n’existe pas/)
})

test('advertisements with links are changed at the same moment, however few connections there are', async () => {
  const small = await startWorld({ PAMOJA_DATABASE_POOL: 2 })
  try {
    const { client } = await small.account({ balance: 10 })
    const scheduled_at = new Date(small.app.clock.nowMs() + 10 * dayMs).toISOString()
    const sent = await client.post('/v1/sms/bulk', {
      ...{ from: 'DUKA', type: 'promotional', scheduled_at },
      messages: Array.from({ length: 10 }, (_, i) => ({ to: `+25473312345${i}`, message: 'Kesho' })),
    })
    assert.equal(sent.status, 200, sent.text)
    const ids: string[] = sent.body.messages.map(({ message_id }: { message_id: string }) => message_id)
    const change = { message: 'Leo tu: {{optout}}' }
    for (const changed of await Promise.all(ids.map((id) => client.patch(`/v1/sms/${id}`, change))))
      assert.match(String(changed.body.message), /\/o\/\w{11}$/, changed.text)
  } finally {
    await small.stop()
  }
})

/** Moves the clock of a test account to the next time that a UTC day is so old; gives that moment. */
async function moveTo(client: Client, ofDayMs: number): Promise<{ nowMs: number }> {
  const presentMs = world.app.clock.nowMs()
  const day = Math.floor(presentMs / dayMs) * dayMs
  const wantedMs = day + ofDayMs > presentMs ? day + ofDayMs : day + dayMs + ofDayMs
  // A whole second more, so that it is reached.
  const { body } = await client.post('/v1/sandbox/clock', {
    advance_seconds: Math.ceil((wantedMs - presentMs) / 1_000),
  })
  assert.ok(Date.parse(body.now) >= wantedMs)
  return { nowMs: wantedMs }
}

async function country(code: string, rule: object): Promise<void> {
  const { status, text } = await world.operator.patch(`/v1/operator/sms/countries/${code}`, rule)
  assert.equal(status, 200, text)
}

/** An account with ten shillings in its live wallet, and its live key. */
async function liveAccount(): Promise<Account & { live: Client }> {
  const ada = await world.account()
  const { body: key } = await ada.client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  const credit = { amount: 10, currency: 'KES', environment: 'live', reference: 'first' }
  await world.operator.post(`/v1/operator/accounts/${ada.id}/credit`, credit)
  return { ...ada, live: world.stranger.as(key.key) }
}
