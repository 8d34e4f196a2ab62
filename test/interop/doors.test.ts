// SPDX-License-Identifier: Apache-2.0
// Doors, with the clients that other providers publish, unmodified but for the address and the key. All in one world.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { get } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { eventually } from '../eventually.ts'
import { root } from '../program.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { type Account, startWorld, type World } from '../world.ts'

const require = createRequire(import.meta.url)

let world: World
let receiver: Receiver

before(async () => {
  world = await startWorld({ PAMOJA_ALLOW_HTTP: 'loopback', PAMOJA_DOOR_HOSTS: 'sms.shop.example=kannel' })
  receiver = await startReceiver()
})
after(async () => {
  await receiver?.stop()
  await world?.stop()
})

/** Address of a door, over plain HTTP on this machine: the clients do not know the installation's authority. */
const doorAt = (name: string): string => `http://127.0.0.1:${world.node.port}/compat/${name}`

/** Fields of the next form that is posted to a path of the customer's server. */
async function nextForm(path: string): Promise<{ fields: URLSearchParams; headers: Record<string, unknown> }> {
  const { body, headers } = await receiver.next(path)
  return { fields: new URLSearchParams(body), headers }
}

/** Answers the documents of paths, and `ok` elsewhere. */
function documents(pages: Readonly<Record<string, string>>): void {
  receiver.answer((request, response) => {
    const page = pages[request.url.split('?', 1)[0] ?? '']
    if (page !== undefined) response.setHeader('content-type', 'text/xml')
    response.end(page ?? 'ok')
  })
}

/** What a program of examples/doors prints. */
async function printed(name: string, settings: Record<string, string>, ...words: string[]): Promise<string> {
  const env = { ...process.env, PAMOJA_URL: `http://127.0.0.1:${world.node.port}`, ...settings }
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'examples/doors', name), ...words], {
    env,
  })
  return stdout
}

async function logged(account: Account, path: string) {
  return eventually(async () => {
    const { body } = await account.client.get('/v1/logs')
    return body.data.find((line: { path: string }) => line.path === path)
  }, `a line of ${path} in the request log`)
}

describe('Africa’s Talking', () => {
  let ada: Account

  /** Client of an account, switched as docs/doors.md says. */
  function clientOf(key: string) {
    const client = require('africastalking')({ apiKey: key, username: 'shop' })
    const addresses = require('africastalking/lib/common')
    const door = doorAt('africastalking')
    Object.assign(addresses, { SMS_URL: `${door}/version1/messaging`, VOICE_URL: door })
    Object.assign(addresses, { AUTH_TOKEN_URL: `${door}/auth-token/generate`, USER_URL: `${door}/version1/user` })
    return client
  }

  before(async () => {
    ada = await world.account({ balance: 100 })
  })

  test('a text is sent, charged and delivered, and the request log names the door and the operation', async () => {
    const { SMSMessageData: said } = await clientOf(ada.key).SMS.send({
      to: '+254711000001',
      message: 'Habari',
      from: 'SHOP',
    })
    const [one] = said.Recipients
    assert.equal(said.Message, `Sent to 1/1 Total Cost: ${one.cost}`)
    assert.match(one.cost, /^KES \d+\.\d{4}$/)
    assert.match(one.messageId, /^ATXid_[0-9a-f]{32}$/)
    assert.deepEqual([one.statusCode, one.status, one.number, one.messageParts], [101, 'Success', '+254711000001', 1])
    const line = await logged(ada, '/compat/africastalking/version1/messaging')
    assert.deepEqual([line.operation, line.status], ['sms.send', 200])
  })

  test('the program of examples/doors works as it is after the move', async () => {
    assert.match(await printed('africastalking-after.cjs', { PAMOJA_KEY: ada.key }), /^Sent to 1\/1 Total Cost: KES/)
  })

  test('each recipient has a verdict, and only those that can be paid for are sent', async () => {
    const poor = await world.account({ balance: 2 })
    const numbers = ['+254711000021', '+254711000022', '+254711000023', '+254711000024', '+254711000025']
    const sent = await clientOf(poor.key).SMS.send({ to: numbers, message: 'Habari', from: 'SHOP' })
    const codes = sent.SMSMessageData.Recipients.map((one: { statusCode: number }) => one.statusCode)
    assert.equal(codes.length, numbers.length)
    assert.deepEqual([codes[0], codes.at(-1)], [101, 405])
    assert.deepEqual([...codes].sort(), codes, 'the first ones go')
    const { body } = await poor.client.get('/v1/sms?direction=outbound')
    assert.equal(body.data.length, codes.filter((code: number) => code === 101).length)
  })

  test('a wrong key, premium texts and what the door does not have are refused in its own words', async () => {
    const { client } = ada
    const wrong = await client.as(null).post('/compat/africastalking/version1/messaging', undefined, {
      raw: 'username=shop&to=%2B254711000001&message=x',
      headers: { apikey: 'wrong', 'content-type': 'application/x-www-form-urlencoded' },
    })
    assert.deepEqual([wrong.status, wrong.text], [401, 'The supplied authentication is invalid'])
    await assert.rejects(clientOf('pmj_test_wrong').SMS.send({ to: '+254711000001', message: 'x', from: 'SHOP' }))
    const premium = await client.as(null).post('/compat/africastalking/version1/messaging', undefined, {
      raw: 'username=shop&to=%2B254711000001&message=x&bulkSMSMode=0',
      headers: { apikey: ada.key, 'content-type': 'application/x-www-form-urlencoded' },
    })
    assert.equal(premium.status, 400)
    assert.match(premium.body.SMSMessageData.Message, /not supported/)
    const airtime = await client
      .as(null)
      .post('/compat/africastalking/version1/airtime/send', {}, { headers: { apikey: ada.key } })
    assert.deepEqual([airtime.status, airtime.body.numSent], [400, 0])
    const upload = clientOf(ada.key).VOICE.uploadMediaFile({
      url: 'https://x.example/a.mp3',
      phoneNumber: '+254711000099',
    })
    await assert.rejects(upload, (error: { response?: { status: number; data: { errorMessage: string } } }) => {
      assert.equal(error.response?.status, 400)
      assert.match(error.response?.data.errorMessage ?? '', /not supported/)
      return true
    })
  })

  test('a call follows the actions of the number’s application, and its end is told', async () => {
    const { VOICE } = clientOf(ada.key)
    const wanted = { callFrom: '+254711000098', callTo: ['+254711000042'], clientRequestId: 'r-1' }
    const refused = await VOICE.call(wanted)
    assert.deepEqual(refused.entries, [])
    assert.match(refused.errorMessage, /^Invalid callerId/)
    const [flow, choice] = ['/at-flow', '/at-choice']
    documents({
      [flow]: `<Response><GetDigits numDigits="1" timeout="30" callbackUrl="${choice}"><Say>Tea & cake, 1 < 2?</Say></GetDigits></Response>`,
      [choice]: new VOICE.ActionBuilder().say('Asante').redirect(receiver.url('/at-last')).build(),
      '/at-last': '<Response><Reject/></Response>',
    })
    const application = { answer_url: receiver.url(flow), dialect: 'africastalking' }
    const assigned = await ada.client.post('/v1/voice/numbers/%2B254711000098/assign', { application })
    assert.equal(assigned.status, 200)
    const { errorMessage, entries } = await VOICE.call(wanted)
    const [{ phoneNumber, status, sessionId }] = entries
    assert.deepEqual([errorMessage, phoneNumber, status], ['None', '+254711000042', 'Queued'])
    const form = async (path: string) => Object.fromEntries((await nextForm(path)).fields)
    const call = {
      ...{ sessionId, direction: 'Outbound', callerNumber: '+254711000042', destinationNumber: '+254711000098' },
      callSessionState: 'Active',
    }
    const { callStartTime, ...asked } = await form(flow)
    assert.deepEqual(asked, { isActive: '1', ...call, clientRequestId: 'r-1' })
    assert.match(callStartTime ?? '', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    const { body: calls } = await ada.client.get('/v1/voice/calls')
    await eventually(async () => {
      const press = await ada.client.post(`/v1/sandbox/voice/${calls.data[0].call_id}/input`, { dtmf: '5' })
      return press.status === 200 && receiver.received.some(({ url }) => url === choice)
    }, 'the key is heard')
    assert.equal((await form(choice)).dtmfDigits?.[0], '5')
    assert.equal((await form('/at-last')).sessionId, sessionId)
    const end = await form(flow)
    const { callSessionState, hangupCause, currencyCode } = end
    assert.deepEqual(
      [end.isActive, callSessionState, hangupCause, currencyCode],
      ['0', 'Completed', 'NORMAL_CLEARING', 'KES'],
    )
    assert.match(end.amount ?? '', /^\d+(\.\d+)?$/)
    documents({})
  })

  test('an access token and the balance are asked for as ever', async () => {
    const token = await clientOf(ada.key).TOKEN.generateAuthToken()
    assert.match(token.token, /^ATTkn_/)
    const user = await world.stranger.get('/compat/africastalking/version1/user?username=shop', {
      headers: { authToken: token.token },
    })
    assert.match(user.body.UserData.balance, /^KES \d+\.\d{4}$/)
    assert.equal(user.headers['content-type'], 'application/json')
    const xml = await world.stranger.get('/compat/africastalking/version1/user?username=shop', {
      headers: { authToken: token.token, accept: 'application/xml' },
    })
    assert.match(xml.text, /^<AfricasTalkingResponse><UserData><balance>KES /)
  })

  test('delivery reports and incoming texts are posted as forms to an address of this dialect', async () => {
    const eve = await world.account({ balance: 100 })
    const { client } = eve
    const where = { url: receiver.url('/at'), dialect: 'africastalking' }
    assert.equal((await client.post('/v1/webhooks', { ...where, events: ['sms.status', 'sms.received'] })).status, 201)
    const wordless = await client.post('/v1/webhooks', { ...where, events: ['payment.completed'] })
    assert.equal(wordless.body.error.code, 'INVALID_EVENT')
    const sent = await clientOf(eve.key).SMS.send({ to: '+254711000001', message: 'Habari', from: 'SHOP' })
    const { messageId } = sent.SMSMessageData.Recipients[0]
    const reports = [await nextForm('/at'), await nextForm('/at')].map(({ fields }) => Object.fromEntries(fields))
    const common = { id: messageId, phoneNumber: '+254711000001', networkCode: '63902', retryCount: '0' }
    assert.deepEqual(
      reports.find(({ status }) => status === 'Success'),
      { ...common, status: 'Success' },
    )
    await client.post('/v1/sms/numbers', { number: '22999' })
    await client.post('/v1/sandbox/sms/inbound', { from: '+254711000014', to: '22999', message: 'JIUNGE leo' })
    const { fields } = await nextForm('/at')
    assert.deepEqual(
      [fields.get('text'), fields.get('to'), fields.get('networkCode')],
      ['JIUNGE leo', '22999', '63902'],
    )
    const fetched = await clientOf(eve.key).SMS.fetchMessages({ lastReceivedId: 0 })
    const [text] = fetched.SMSMessageData.Messages
    assert.deepEqual([text.text, text.from], ['JIUNGE leo', '+254711000014'])
    const later = await clientOf(eve.key).SMS.fetchMessages({ lastReceivedId: text.id })
    assert.deepEqual(later.SMSMessageData.Messages, [])
  })
})

describe('Twilio', () => {
  const twilio = require('twilio')
  let ada: Account
  let access: { account_sid: string; auth_token: string; base_url: string }

  /** Client of an account, switched as docs/doors.md says. */
  function clientOf(sid = access.account_sid, token = access.auth_token) {
    const client = twilio(sid, token)
    for (const domain of [client.api, client.verify, client.lookups]) domain.baseUrl = doorAt('twilio')
    return client
  }

  /** Fields of the next form at a path, whose signature the client's own check accepts. */
  async function nextSigned(path: string): Promise<Record<string, string>> {
    const { fields, headers } = await nextForm(path)
    const params = Object.fromEntries(fields)
    const signature = String(headers['x-twilio-signature'])
    assert.ok(twilio.validateRequest(access.auth_token, signature, receiver.url(path), params), `signature of ${path}`)
    return params
  }

  before(async () => {
    ada = await world.account({ balance: 1_000 })
    const { status, body } = await ada.client.post('/v1/api-keys', { name: 'Twilio programs', door: 'twilio' })
    assert.equal(status, 201)
    access = body.door_access
    assert.deepEqual([body.door, access.auth_token], ['twilio', body.key])
    assert.match(access.base_url, /\/compat\/twilio$/)
  })

  test('a message is sent from a number, and its signed status callbacks come in order', async () => {
    const sent = await clientOf().messages.create({
      to: '+254711000001',
      from: '+254711000099',
      body: 'Habari',
      statusCallback: receiver.url('/sms-status'),
    })
    assert.match(sent.sid, /^SM[0-9a-f]{32}$/)
    assert.deepEqual([sent.status, sent.from, sent.body, sent.numSegments], ['queued', '+254711000099', 'Habari', '1'])
    const reports = [await nextSigned('/sms-status'), await nextSigned('/sms-status')]
    assert.deepEqual(reports.map(({ MessageStatus }) => MessageStatus).sort(), ['delivered', 'sent'])
    assert.deepEqual([reports[0]?.MessageSid, reports[0]?.AccountSid], [sent.sid, access.account_sid])
    const read = await clientOf().messages(sent.sid).fetch()
    assert.deepEqual([read.status, read.direction, read.errorCode], ['delivered', 'outbound-api', null])
    assert.match(read.price, /^-\d+\.\d{5}$/)
  })

  test('the program of examples/doors works as it is after the move', async () => {
    const settings = { PAMOJA_ACCOUNT_SID: access.account_sid, PAMOJA_KEY: access.auth_token }
    assert.match(await printed('twilio-after.cjs', settings), /^SM[0-9a-f]{32} queued\n$/)
  })

  test('messages are listed page by page, and a scheduled one is cancelled', async () => {
    const client = clientOf()
    const sendAt = new Date(Date.now() + 3_600_000)
    const sends = ['a', 'b', 'c'].map((body) =>
      client.messages.create({
        to: '+254711000002',
        from: 'SHOP',
        body,
        sendAt,
        scheduleType: 'fixed',
        messagingServiceSid: 'MG1',
      }),
    )
    const sids = (await Promise.all(sends)).map(({ sid }) => sid)
    const listed = await client.messages.list({ to: '+254711000002', pageSize: 2 })
    assert.deepEqual(listed.map(({ sid }: { sid: string }) => sid).sort(), sids.sort())
    const [first] = listed
    assert.equal(first.status, 'scheduled')
    assert.equal((await client.messages(first.sid).update({ status: 'canceled' })).status, 'canceled')
    await assert.rejects(client.messages(first.sid).update({ status: 'canceled' }), { code: 30409, status: 400 })
  })

  test('a message to a whatsapp: address goes by the messenger, and its signed status callbacks come', async () => {
    const client = clientOf()
    const user = '+254711000032'
    const message = { to: `whatsapp:${user}`, from: 'whatsapp:+254709000001', body: 'Habari' }
    await assert.rejects(client.messages.create(message), { code: 63016, status: 400 })
    await ada.client.post('/v1/sandbox/messenger/inbound', { from: user, type: 'text', text: { body: 'Hujambo' } })
    const sent = await client.messages.create({ ...message, statusCallback: receiver.url('/chat-status') })
    assert.match(sent.sid, /^SM[0-9a-f]{32}$/)
    assert.deepEqual([sent.status, sent.to, sent.from, sent.body], ['queued', message.to, message.from, 'Habari'])
    const report = await nextSigned('/chat-status')
    assert.deepEqual([report.MessageSid, report.To, report.ChannelPrefix], [sent.sid, message.to, 'whatsapp'])
    assert.match(report.MessageStatus ?? '', /^(sent|delivered|read)$/)
    const read = await client.messages(sent.sid).fetch()
    assert.deepEqual([read.body, read.to, read.direction], ['Habari', message.to, 'outbound-api'])
  })

  test('refusals have Twilio’s codes', async () => {
    const client = clientOf()
    const message = { to: '+254711000001', from: 'SHOP', body: 'x' }
    await assert.rejects(client.messages.create({ ...message, to: '12' }), { code: 21211, status: 400 })
    await assert.rejects(client.messages.create({ ...message, from: undefined }), { code: 21603 })
    await assert.rejects(client.messages.create({ ...message, mediaUrl: ['https://x.example/a.png'] }), { code: 21620 })
    await assert.rejects(client.messages('SM00000000000000000000000000000000').fetch(), { code: 20404, status: 404 })
    await assert.rejects(clientOf('AC00000000000000000000000000000000').messages.create(message), {
      code: 20003,
      status: 401,
    })
    await assert.rejects(clientOf(access.account_sid, 'wrong').messages.create(message), { code: 20003, status: 401 })
    await assert.rejects(client.api.v2010.accounts(access.account_sid).queues.list(), { code: 20404 })
    const few = await ada.client.post('/v1/api-keys', { name: 'Reads', scopes: ['sms:read'], door: 'twilio' })
    const reader = clientOf(access.account_sid, few.body.key)
    await assert.rejects(reader.messages.create(message), { code: 20403, status: 403 })
    await ada.client.request('DELETE', `/v1/api-keys/${few.body.id}`)
  })

  test('a text that came in is posted signed, and the TwiML that answers it is sent back', async () => {
    documents({ '/sms': '<Response><Message>Asante &amp; karibu</Message></Response>' })
    const number = { number: '22888', default_webhook_url: receiver.url('/sms'), dialect: 'twilio' }
    assert.equal((await ada.client.post('/v1/sms/numbers', number)).status, 201)
    await ada.client.post('/v1/sandbox/sms/inbound', { from: '+254711000031', to: '22888', message: 'JIUNGE' })
    const params = await nextSigned('/sms')
    assert.deepEqual([params.Body, params.From, params.To], ['JIUNGE', '+254711000031', '22888'])
    const reply = await eventually(async () => {
      const { body } = await ada.client.get('/v1/sms?to=%2B254711000031')
      return body.data[0]
    }, 'the reply')
    assert.deepEqual([reply.message, reply.from], ['Asante & karibu', '22888'])
  })

  test('a call follows TwiML: a menu, the answer to a key, a new flow while it runs, and its status', async () => {
    const [menu, choice, other] = ['/menu', '/choice', '/other']
    documents({
      [menu]: `<Response><Gather numDigits="1" timeout="30" action="${choice}"><Say language="en-GB">Press a key</Say></Gather></Response>`,
      [choice]: '<Response><Pause length="600"/></Response>',
      [other]: '<?xml version="1.0"?><Response><Hangup/></Response>',
    })
    const client = clientOf()
    const call = await client.calls.create({
      ...{ to: '+254711000041', from: '+254711000099', url: receiver.url(menu) },
      ...{ statusCallback: receiver.url('/call-status'), statusCallbackEvent: ['initiated', 'answered', 'completed'] },
    })
    assert.match(call.sid, /^CA[0-9a-f]{32}$/)
    const asked = await nextSigned(menu)
    assert.deepEqual([asked.CallSid, asked.CallStatus, asked.Direction], [call.sid, 'in-progress', 'outbound-api'])
    const { body: calls } = await ada.client.get('/v1/voice/calls')
    await eventually(async () => {
      const press = await ada.client.post(`/v1/sandbox/voice/${calls.data[0].call_id}/input`, { dtmf: '5' })
      return press.status === 200 && receiver.received.some(({ url }) => url === choice)
    }, 'the key is heard')
    assert.equal((await nextSigned(choice)).Digits?.[0], '5')
    assert.equal((await client.calls(call.sid).fetch()).status, 'in-progress')
    await client.calls(call.sid).update({ url: receiver.url(other) })
    assert.equal((await nextSigned(other)).CallSid, call.sid)
    const told = [await nextSigned('/call-status'), await nextSigned('/call-status'), await nextSigned('/call-status')]
    assert.deepEqual(
      told.map(({ CallStatus }) => CallStatus),
      ['initiated', 'in-progress', 'completed'],
    )
    await assert.rejects(client.calls(call.sid).update({ status: 'completed' }), { code: 21220 })
    assert.equal((await client.calls.list({ limit: 1 }))[0].sid, call.sid)
    const broken = client.calls.create({ to: '+254711000041', from: '+254711000099', twiml: '<Response><Say>' })
    await assert.rejects(broken, { code: 12100 })
  })

  test('a code is sent and checked by Verify, and a number is looked up', async () => {
    const client = clientOf()
    const service = client.verify.v2.services(`VA${access.account_sid.slice(2)}`)
    const phone = '+254711000051'
    const started = await service.verifications.create({ to: phone, channel: 'sms' })
    assert.deepEqual([started.status, started.to], ['pending', phone])
    const wrong = await service.verificationChecks.create({ to: phone, code: '000' })
    assert.deepEqual([wrong.status, wrong.valid], ['pending', false])
    const { body } = await ada.client.get(`/v1/sms?to=${encodeURIComponent(phone)}`)
    const code = /\d{6}/.exec(body.data[0].message)?.[0] ?? ''
    const right = await service.verificationChecks.create({ to: phone, code })
    assert.deepEqual([right.status, right.valid], ['approved', true])
    const found = await client.lookups.v2.phoneNumbers(phone).fetch({ fields: 'line_type_intelligence' })
    assert.deepEqual(
      [found.countryCode, found.valid, found.lineTypeIntelligence.mobileCountryCode],
      ['KE', true, '639'],
    )
    assert.equal((await client.balance.fetch()).currency, 'KES')
    const other = clientOf('AC00000000000000000000000000000000').lookups.v2.phoneNumbers(phone)
    await assert.rejects(other.fetch(), { code: 20003, status: 401 })
  })
})

describe('WhatsApp Cloud API', () => {
  let ada: Account
  const user = '+254711000061'

  /** Client of an account, switched as docs/doors.md says. */
  async function clientOf(key = ada.key) {
    // By a name that is no literal: its types know messages of one kind only.
    const { Client } = await import(String('@great-detail/whatsapp'))
    return new Client({ prefixUrl: doorAt('cloud'), request: { headers: { Authorization: `Bearer ${key}` } } })
  }

  /** Status and error of a refused request. */
  async function refused(asked: Promise<unknown>): Promise<[number, number]> {
    const error = await asked.then(
      () => null,
      (thrown: { response: Response }) => thrown,
    )
    assert.ok(error, 'it was not refused')
    const said = JSON.parse(await error.response.text()).error
    return [error.response.status, said.code]
  }

  before(async () => {
    ada = await world.account({ balance: 1_000 })
  })

  test('messages go out and come in, with the ids and the webhooks of the Cloud API', async () => {
    const client = await clientOf()
    const where = { url: receiver.url('/cloud'), dialect: 'cloud' }
    const hook = await ada.client.post('/v1/webhooks', { ...where, events: ['messenger.message', 'messenger.status'] })
    assert.equal(hook.status, 201)
    const message = { phoneNumberID: '1', to: user.slice(1), type: 'text' as const, text: { body: 'Habari' } }
    assert.deepEqual(await refused(client.message.createMessage(message)), [400, 131047])
    await ada.client.post('/v1/sandbox/messenger/inbound', { from: user, type: 'text', text: { body: 'mmsg_hujambo' } })
    const inbound = await receiver.next('/cloud')
    const [entry] = JSON.parse(inbound.body).entry
    const [came] = entry.changes[0].value.messages
    assert.deepEqual([came.text.body, came.from], ['mmsg_hujambo', user.slice(1)], 'a text is no id')
    const signature = createHmac('sha256', hook.body.secret).update(inbound.body).digest('hex')
    assert.equal(inbound.headers['x-hub-signature-256'], `sha256=${signature}`)
    const sent = await client.message.createMessage({ ...message, context: { message_id: came.id } }).json()
    const [{ id }] = sent.messages
    assert.match(id, /^wamid\.[\w-]{22}$/)
    assert.deepEqual([sent.messaging_product, sent.contacts[0]?.wa_id], ['whatsapp', user.slice(1)])
    const status = JSON.parse((await receiver.next('/cloud')).body)
    assert.equal(status.object, 'whatsapp_business_account')
    assert.equal(status.entry[0].changes[0].value.statuses[0].id, id)
    const read = await client.message.createStatus({ phoneNumberID: '1', status: 'read', message_id: came.id }).json()
    assert.deepEqual(read, { success: true })
    assert.match(await printed('cloud-after.mjs', { PAMOJA_KEY: ada.key }, user), /^wamid\./)
  })

  test('a file is uploaded, described and deleted', async () => {
    const client = await clientOf()
    const file = new Blob([Buffer.from('%PDF-1.4\n%%EOF\n')], { type: 'application/pdf' })
    const kept = await client.media
      .upload({ phoneNumberID: '1', file, filename: 'a.pdf', mimeType: 'application/pdf' })
      .json()
    const at = `/compat/cloud/v22.0/${kept.id}`
    const { body: info } = await ada.client.get(at)
    assert.deepEqual([info.id, info.mime_type, info.file_size], [kept.id, 'application/pdf', 15])
    assert.deepEqual((await ada.client.request('DELETE', at)).body, { success: true })
    assert.deepEqual((await ada.client.get(at)).body.error.code, 100)
  })

  test('a template is made, read, changed and deleted by its id', async () => {
    const at = '/compat/cloud/v22.0'
    const components = [{ type: 'BODY', text: 'Habari' }]
    const template = { name: 'habari', language: 'sw', category: 'UTILITY', components }
    const { body: made } = await ada.client.post(`${at}/1/message_templates`, template)
    assert.match(made.id, /^\d+$/)
    const other = [{ type: 'BODY', text: 'Hujambo' }]
    assert.deepEqual((await ada.client.post(`${at}/${made.id}`, { components: other })).body, { success: true })
    const { body: read } = await ada.client.get(`${at}/${made.id}`)
    assert.deepEqual([read.name, read.components], ['habari', other])
    assert.deepEqual((await ada.client.post(`${at}/1/subscribed_apps`)).body, { success: true })
    assert.deepEqual((await ada.client.get(`${at}/1/subscribed_apps`)).body, { data: [] })
    assert.deepEqual((await ada.client.delete(`${at}/1/message_templates?name=habari`)).body, { success: true })
  })

  test('what the door does not have, and a wrong key, are refused in its errors', async () => {
    const message = { phoneNumberID: '1', to: user, type: 'text' as const, text: { body: 'x' } }
    assert.deepEqual(await refused((await clientOf('wrong')).message.createMessage(message)), [401, 190])
    const sticker = await ada.client.post('/compat/cloud/v22.0/1/messages', {
      to: user,
      type: 'sticker',
      sticker: { id: '1' },
    })
    assert.deepEqual([sticker.status, sticker.body.error.code], [400, 131051])
    const nothing = await ada.client.get('/compat/cloud/v22.0/99')
    assert.deepEqual([nothing.status, nothing.body.error.error_subcode], [400, 33])
    const flows = await ada.client.get('/compat/cloud/v22.0/1/flows')
    assert.deepEqual([flows.status, flows.body.error.error_subcode], [400, 33])
  })
})

describe('Kannel’s sendsms', () => {
  let ada: Account

  before(async () => {
    ada = await world.account({ balance: 100 })
  })

  const ask = (query: Record<string, string>, more: object = {}) => {
    const whole = { username: 'shop', password: ada.key, from: 'SHOP', to: '254711000071', text: 'Habari', ...query }
    return world.stranger.get(`/compat/kannel/cgi-bin/sendsms?${new URLSearchParams(whole)}`, more)
  }

  test('a text is taken, and each report that the mask asks for comes once, with its escapes filled in', async () => {
    const url = `${receiver.url('/dlr')}?d=%d&to=%p&from=%P&id=%I&user=%n&note=a%20b`
    const { status, text, headers } = await ask({ 'dlr-mask': '9', 'dlr-url': url })
    assert.deepEqual([status, text], [202, '0: Accepted for delivery'])
    assert.match(headers['content-type'] ?? '', /^text\/html/)
    const reports = [await receiver.next('/dlr'), await receiver.next('/dlr')]
    const told = reports.map((report) => new URL(report.url, receiver.origin).searchParams)
    assert.deepEqual(
      reports.map(({ method }) => method),
      ['GET', 'GET'],
    )
    assert.deepEqual(told.map((query) => query.get('d')).sort(), ['1', '8'])
    assert.deepEqual(
      ['to', 'from', 'user', 'note'].map((name) => told[0]?.get(name)),
      ['254711000071', 'SHOP', 'shop', 'a b'],
    )
    assert.match(told[0]?.get('id') ?? '', /^[0-9a-f-]{36}$/)
  })

  test('the program of examples/doors works as it is after the move', async () => {
    assert.equal(await printed('kannel-after.mjs', { PAMOJA_KEY: ada.key }), '202 0: Accepted for delivery\n')
  })

  test('a door that is at a host name of its own answers at its root', async () => {
    const query = new URLSearchParams({ username: 'x', password: ada.key, from: 'SHOP', to: '254711000076', text: 'x' })
    const at = { host: '127.0.0.1', port: world.node.port, headers: { host: 'sms.shop.example' } }
    const asked = get({ ...at, path: `/cgi-bin/sendsms?${query}` })
    const [answer] = await once(asked, 'response')
    answer.resume()
    assert.equal(answer.statusCode, 202)
  })

  test('UCS-2 bytes, a text as the body, several receivers and refusals are as Kannel has them', async () => {
    const bytes = [...Buffer.from('ቁም', 'utf16le').swap16()]
      .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
      .join('')
    const ucs2 = `username=x&password=${ada.key}&from=SHOP&to=254711000072&coding=2&text=${bytes}`
    assert.equal((await world.stranger.get(`/compat/kannel/cgi-bin/sendsms?${ucs2}`)).status, 202)
    const posted = await world.stranger.post('/compat/kannel/cgi-bin/sendsms', undefined, {
      raw: 'Kwa mwili',
      headers: {
        ...{ 'content-type': 'text/plain', 'x-kannel-username': 'x', 'x-kannel-password': ada.key },
        ...{ 'x-kannel-from': 'SHOP', 'x-kannel-to': '254711000072' },
      },
    })
    assert.equal(posted.status, 202)
    const { body } = await ada.client.get('/v1/sms?to=%2B254711000072')
    assert.deepEqual(body.data.map((one: { message: string }) => one.message).sort(), ['Kwa mwili', 'ቁም'].sort())
    assert.equal((await ask({ to: '254711000073 254711000074' })).status, 202)
    const refusals = [ask({ password: 'wrong' }), ask({ to: '' }), ask({ coding: '1' }), ask({ to: '254711000075 12' })]
    refusals.push(ask({ validity: 'soon' }), ask({ to: '254711000075 254711000076', validity: '5' }))
    assert.deepEqual(
      (await Promise.all(refusals)).map((one) => [one.status, one.text]),
      [
        [403, 'Authorization failed for sendsms'],
        [400, 'Missing receiver number, rejected'],
        [400, 'Coding field misformed, rejected'],
        [400, 'Number(s) has/have been denied by white- and/or black-lists.'],
        [400, 'Validity or deferral misformed, rejected'],
        [400, 'Validity or deferral misformed, rejected'],
      ],
    )
    assert.equal((await ada.client.get('/v1/sms?to=%2B254711000075')).body.data.length, 0)
  })
})
