// SPDX-License-Identifier: Apache-2.0
// One-time codes as a customer meets them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { lookInto } from '../looking.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World
let ada: Account

before(async () => {
  world = await startWorld()
  ada = await world.account({ balance: 1000 })
})
after(() => world.stop())

const send = (body: object) => ada.client.post('/v1/identity/phone/send-otp', body)
const verify = (body: object) => ada.client.post('/v1/identity/phone/verify-otp', body)
const advance = (seconds: number) => ada.client.post('/v1/sandbox/clock', { advance_seconds: seconds })

test('a code is sent by text, verified once, and audited', async () => {
  const phone = '+254711000101'
  const sent = await send({ phone, purpose: 'login' })
  assert.equal(sent.status, 200, JSON.stringify(sent.body))
  assert.equal(sent.body.sandbox_code, '123456')
  assert.equal(sent.body.sends_remaining, 4)
  const text = await ada.client.get(`/v1/sms/${sent.body.message_id}`)
  assert.equal(text.body.to, phone)
  const { otp_id } = sent.body
  const logged = await eventually(async () => {
    const found = await ada.client.get(`/v1/logs/${sent.headers['x-request-id']}`)
    return found.status === 200 && found
  }, 'the request in the log')
  assert.match(logged.text, /sandbox_code/)
  assert.ok(!logged.text.includes('123456'), 'no code stands in the log of requests')
  const verified = await verify({ phone, purpose: 'login', code: '123456' })
  assert.equal(verified.status, 200)
  assert.deepEqual([verified.body.otp_id, verified.body.verified, verified.body.phone], [otp_id, true, phone])
  const again = await verify({ otp_id, code: '123456' })
  assert.deepEqual([again.status, again.body.error.code], [409, 'OTP_ALREADY_USED'])
})

test('five wrong codes kill it, however many come at once', async () => {
  const { body } = await send({ phone: '+254711000102' })
  const first = await verify({ otp_id: body.otp_id, code: '000000' })
  assert.deepEqual([first.status, first.body.error.code, first.body.error.attempts_remaining], [422, 'OTP_INVALID', 4])
  const many = await Promise.all(Array.from({ length: 9 }, () => verify({ otp_id: body.otp_id, code: '999999' })))
  const judged = many.filter(({ status }) => status === 422)
  assert.ok(judged.length <= 3, `${judged.length} more guesses were judged`)
  const right = await verify({ otp_id: body.otp_id, code: '123456' })
  assert.deepEqual([right.status, right.body.error.code], [429, 'OTP_ATTEMPTS_EXCEEDED'])
})

test('a resend is the same code, after a wait that grows, at most five times', async () => {
  const phone = '+254711000103'
  const { body: first } = await send({ phone, expires_in: 900 })
  const soon = await send({ phone })
  assert.deepEqual([soon.status, soon.body.error.code], [429, 'OTP_COOLDOWN'])
  assert.ok(Number(soon.headers['retry-after']) > 0)
  for (const seconds of [31, 61, 121, 241]) {
    await advance(seconds)
    const resent = await send({ phone })
    assert.equal(resent.status, 200, JSON.stringify(resent.body))
    assert.equal(resent.body.otp_id, first.otp_id)
    assert.equal(resent.body.expires_at, first.expires_at)
  }
  await advance(300)
  const sixth = await send({ phone })
  assert.deepEqual([sixth.status, sixth.body.error.code], [429, 'OTP_SEND_LIMIT'])
})

test('a code past its time is refused, and a new one can be sent', async () => {
  const phone = '+254711000104'
  const { body: first } = await send({ phone, expires_in: 60 })
  await advance(61)
  const late = await verify({ phone, code: '123456' })
  assert.deepEqual([late.status, late.body.error.code], [422, 'OTP_EXPIRED'])
  const { body: second } = await send({ phone })
  assert.notEqual(second.otp_id, first.otp_id)
  const atOnce = await send({ phone: '+254700000003' })
  const expired = await verify({ otp_id: atOnce.body.otp_id, code: '123456' })
  assert.equal(expired.body.error.code, 'OTP_EXPIRED')
})

test('the guard stops pumping before anything is sent or paid', async () => {
  const bea = await world.account({ balance: 100 })
  const costly = await bea.client.post('/v1/identity/phone/send-otp', { phone: '+254700000002' })
  assert.deepEqual(
    [costly.status, costly.body.error.code, costly.body.error.reason],
    [403, 'OTP_BLOCKED', 'pumping_suspected'],
  )
  for (const dear of ['+8816123456789', '+870773123456', '+979123456789', '+19005551234', '+254900123456']) {
    const refused = await bea.client.post('/v1/identity/phone/send-otp', { phone: dear })
    assert.deepEqual([refused.status, refused.body.error.reason], [403, 'number_type'], dear)
  }
  const phone = '+254711000105'
  for (let i = 0; i < 3; i++) {
    const { status } = await bea.client.post('/v1/identity/phone/send-otp', { phone, purpose: `p${i}` })
    assert.equal(status, 200)
  }
  const before = (await bea.client.get('/v1/wallet/balance')).body
  const fourth = await bea.client.post('/v1/identity/phone/send-otp', { phone, purpose: 'p4' })
  assert.deepEqual([fourth.status, fourth.body.error.reason], [403, 'phone_hourly_limit'])
  assert.deepEqual((await bea.client.get('/v1/wallet/balance')).body.balances, before.balances)
})

test('the guard counts requests that come at once', async () => {
  const dee = await world.account({ balance: 1000 })
  const ask = (body: object) => dee.client.post('/v1/identity/phone/send-otp', body)
  const phone = '+254711000106'
  const toOne = await Promise.all(Array.from({ length: 12 }, (_, i) => ask({ phone, purpose: `p${i}` })))
  assert.equal(toOne.filter(({ status }) => status === 200).length, 3)
  const ofOne = await Promise.all(
    Array.from({ length: 20 }, (_, i) => ask({ phone: `+25471${1_200_000 + i * 10_000}`, ip: '203.0.113.9' })),
  )
  assert.equal(ofOne.filter(({ status }) => status === 200).length, 10)
  const { body } = await dee.client.get('/v1/sms?limit=100')
  assert.equal(body.data.length, 13)
})

test('a code goes by mail, and by the messenger in a template of the account', async () => {
  const cyd = await world.account({ balance: 100 })
  const sendOne = (body: object) => cyd.client.post('/v1/identity/phone/send-otp', body)
  const mailed = await sendOne({ phone: '+254711000111', channel: 'email', email: 'cyd@inbox.test', language: 'fr' })
  assert.deepEqual([mailed.status, mailed.body.channel], [200, 'email'], mailed.text)
  const mail = await cyd.client.get(`/v1/email/${mailed.body.message_id}`)
  assert.equal(mail.body.subject, 'Votre code de vérification', mail.text)
  const proved = await cyd.client.post('/v1/identity/phone/verify-otp', { otp_id: mailed.body.otp_id, code: '123456' })
  assert.deepEqual([proved.status, proved.body.channel], [200, 'email'])
  const passedOver = await sendOne({ phone: '+254711000112', channel: ['messenger', 'sms'] })
  assert.deepEqual([passedOver.status, passedOver.body.channel], [200, 'sms'], passedOver.text)
  const unreached = await sendOne({ phone: '+254700000001', channel: ['sms', 'email'], email: 'cyd@inbox.test' })
  assert.deepEqual([unreached.status, unreached.body.channel], [200, 'email'], unreached.text)
  const template = await cyd.client.post('/v1/messenger/templates', {
    name: 'login_code',
    language: 'en',
    category: 'AUTHENTICATION',
    components: [{ type: 'BODY', text: 'Your code is {{1}}, for you alone.' }],
  })
  assert.equal(template.status, 201, template.text)
  const messaged = await eventually(async () => {
    const sent = await sendOne({ phone: '+254711000113', channel: 'messenger' })
    return sent.status === 200 ? sent : null
  }, 'the template is approved')
  assert.equal(messaged.body.channel, 'messenger')
  const message = await cyd.client.get(`/v1/messenger/${messaged.body.message_id}`)
  assert.deepEqual([message.status, message.body.type], [200, 'template'], message.text)
})

test('a code is spoken by a call, which knows no more than its id', async () => {
  const dan = await world.account({ balance: 100 })
  const called = await dan.client.post('/v1/identity/phone/send-otp', {
    ...{ phone: '+254711000121', channel: 'voice', language: 'sw', code_length: 8 },
  })
  assert.deepEqual([called.status, called.body.channel], [200, 'voice'], called.text)
  assert.match(called.body.message_id, /^call_/)
  const call = await eventually(async () => {
    const { body } = await dan.client.get(`/v1/voice/${called.body.message_id}`)
    return body.ended_at && body
  }, 'the call to end')
  assert.deepEqual([call.to, call.status], ['+254711000121', 'completed'], JSON.stringify(call))
  assert.ok(call.duration > 0, 'it was spoken')
  const db = lookInto(world)
  await db.connect()
  const { rows } = await db.query('select c::text as text from voice.calls c')
  await db.end()
  assert.equal(rows.length, 1)
  assert.equal(/12345678|1, 2, 3/.test(rows[0].text), false)
})

test('bad requests are refused by name and leave nothing', async () => {
  const cases: [object, number, string][] = [
    [{ phone: '0711' }, 422, 'INVALID_PHONE'],
    [{ phone: '+254711000106', code_length: 3 }, 422, 'VALIDATION_ERROR'],
    [{ phone: '+254711000106', message: 'no place for it' }, 422, 'VALIDATION_ERROR'],
    [{ phone: '+254711000106', channel: 'pigeon' }, 422, 'VALIDATION_ERROR'],
    [{ phone: '+254711000106', verification_id: 'ver_nothing' }, 422, 'VALIDATION_ERROR'],
    [{ phone: '+254711000106', web_origin: 'shop.example\n@evil.example #000000' }, 422, 'VALIDATION_ERROR'],
    [{ phone: '+254711000106', channel: 'email' }, 422, 'VALIDATION_ERROR'],
    [{ phone: '+254700000001' }, 503, 'PROVIDER_UNAVAILABLE'],
    [{ phone: '+254711000106', channel: 'messenger' }, 503, 'PROVIDER_UNAVAILABLE'],
  ]
  for (const [body, status, code] of cases) {
    const answer = await send(body)
    assert.deepEqual([answer.status, answer.body.error.code], [status, code], JSON.stringify(body))
  }
  const { status } = await verify({ phone: '+254711000106', code: '123456' })
  assert.equal(status, 404)
  const nobody = await world.account()
  const poor = await nobody.client.post('/v1/identity/phone/send-otp', { phone: '+254711000107' })
  assert.equal(poor.body.error.code, 'INSUFFICIENT_BALANCE')
  const unsent = await nobody.client.post('/v1/identity/phone/verify-otp', { phone: '+254711000107', code: '123456' })
  assert.equal(unsent.status, 404)
})
