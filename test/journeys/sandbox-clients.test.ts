// SPDX-License-Identifier: Apache-2.0
// Clients that customers have already, for the Cloud API, Daraja and MoMo, in the form in which they speak: pointed at the
// simulators with the keys that a test account is shown.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { serverIdentity } from '../../src/platform/http/certificates.ts'
import { passwordOf } from '../../src/protocols/daraja.ts'
import { securityCredential } from '../../src/protocols/daraja-outgoing.ts'
import { graphSignature } from '../../src/protocols/graph.ts'
import { MessengerSimulator } from '../../src/simulators/messenger.ts'
import { eventually, startWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

interface Call {
  method?: string
  headers?: Record<string, string>
  body?: unknown
}

async function call(url: string, { method = 'GET', headers = {}, body }: Call = {}) {
  const sent = body === undefined ? {} : body instanceof FormData ? { body } : { body: JSON.stringify(body) }
  const json = body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }
  const response = await fetch(url, { method, headers: { ...json, ...headers }, ...sent })
  const text = await response.text()
  return { status: response.status, text, body: /^[[{]/.test(text) ? JSON.parse(text) : {} }
}

test('a client of the Cloud API is refused what the Cloud API refuses, and finds the routes that it calls', async () => {
  const { client } = await world.account()
  const { body: keys } = await client.get('/v1/sandbox/messenger/provider')
  const headers = { authorization: `Bearer ${keys.access_token}` }
  const at = (path: string, more: Call = {}) =>
    call(`${keys.base_url}/${keys.api_version}/${path}`, { ...more, headers })
  const [phone, business] = [keys.phone_number_id, keys.business_account_id]
  const message = (more: object) =>
    at(`${phone}/messages`, { method: 'POST', body: { messaging_product: 'whatsapp', to: '+254711000011', ...more } })

  const sent = await message({ type: 'text', text: { body: 'Habari' } })
  assert.deepEqual([sent.status, sent.body.contacts[0]], [200, { input: '+254711000011', wa_id: '254711000011' }])
  const template = { name: 'welcome', language: { code: 'sw' } }
  for (const [wrong, code] of [
    [{ type: 'text', text: {} }, 100],
    [{ type: 'zzz', zzz: { a: 1 } }, 100],
    [{ type: 'image', image: {} }, 100],
    [{ type: 'image', image: { id: '1' } }, 131053],
    [{ type: 'template', template }, 132001],
  ] as const) {
    const refused = await message(wrong)
    assert.deepEqual([refused.status, refused.body.error?.code], [400, code], JSON.stringify(wrong))
  }
  const made = await at(`${business}/message_templates`, {
    method: 'POST',
    body: { name: 'welcome', language: 'sw', category: 'UTILITY', components: [{ type: 'BODY', text: 'Karibu' }] },
  })
  assert.equal((await message({ type: 'template', template })).status, 200)
  assert.equal((await at(made.body.id)).body.name, 'welcome')
  assert.equal((await at(`${business}/message_templates?name=welcome`, { method: 'DELETE' })).body.success, true)
  assert.equal((await at(made.body.id)).status, 404)

  const form = new FormData()
  form.append('messaging_product', 'whatsapp')
  form.append('file', new Blob(['8 bytes!'], { type: 'image/png' }), 'a.png')
  form.append('type', 'image/png')
  const { body: media } = await at(`${phone}/media`, { method: 'POST', body: form })
  const { body: about } = await at(media.id)
  const sha256 = createHash('sha256').update('8 bytes!').digest('hex')
  assert.deepEqual([about.file_size, about.sha256, about.mime_type], [8, sha256, 'image/png'])
  assert.equal((await call(about.url, { headers })).text, '8 bytes!')
  assert.equal((await at(media.id, { method: 'DELETE' })).body.success, true)
  assert.equal((await at(media.id)).status, 404)

  assert.equal((await at(phone)).body.id, phone)
  assert.equal((await at(`${business}/phone_numbers`)).body.data[0].id, phone)
  assert.deepEqual((await at(`${business}/subscribed_apps`)).body.data, [])
  const profile = { messaging_product: 'whatsapp', about: 'Duka' }
  assert.equal((await at(`${phone}/whatsapp_business_profile`, { method: 'POST', body: profile })).status, 200)
  assert.equal((await at(`${phone}/whatsapp_business_profile`)).body.data[0].about, 'Duka')

  const { body: others } = await (await world.account()).client.get('/v1/sandbox/messenger/provider')
  assert.notEqual(others.access_token, keys.access_token)
  assert.equal((await at(`${others.phone_number_id}/messages`, { method: 'POST', body: profile })).status, 400)
})

test('statuses tell the conversation and its price, signed with the secret of the client', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-clients-'))
  const { key, cert, caFile } = await serverIdentity({ dir, now: new Date() })
  const heard: { body: string; signature: unknown }[] = []
  const server = createServer({ key, cert }, (request, response) => {
    const url = new URL(request.url ?? '', 'https://localhost')
    let body = ''
    request.on('data', (piece: Buffer) => {
      body += piece.toString()
    })
    request.on('end', () => {
      if (request.method === 'POST') heard.push({ body, signature: request.headers['x-hub-signature-256'] })
      response.end(url.searchParams.get('hub.challenge') ?? 'ok')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const simulator = await MessengerSimulator.start({
    ...{ host: '127.0.0.1', token: 't', appSecret: 's', timeScale: 0.01, now: () => Date.now() },
    ca: () => (caFile ? readFileSync(caFile, 'utf8') : undefined),
  })
  after(async () => {
    await simulator.stop()
    server.closeAllConnections()
    server.close()
    await rm(dir, { recursive: true, force: true })
  })
  const own = simulator.own('ada')
  const headers = { authorization: `Bearer ${own.token}` }
  const hook = { override_callback_uri: `https://localhost:${port}/hook`, verify_token: 'v' }
  const at = `${simulator.url}/v23.0`
  const subscribed = await call(`${at}/${own.businessId}/subscribed_apps`, { method: 'POST', headers, body: hook })
  assert.equal(subscribed.status, 200, subscribed.text)
  const text = { messaging_product: 'whatsapp', to: '254711000011', type: 'text', text: { body: 'Habari' } }
  await call(`${at}/${own.phoneNumberId}/messages`, { method: 'POST', headers, body: text })
  await eventually(async () => heard.length === 3, 'three statuses')
  for (const { body, signature } of heard) {
    assert.equal(signature, graphSignature(own.appSecret, body))
    const [status] = JSON.parse(body).entry[0].changes[0].value.statuses
    assert.deepEqual([status.conversation.origin.type, status.pricing.category], ['service', 'service'])
  }
})

async function paymentKeys() {
  const { client } = await world.account()
  const { body } = await client.get('/v1/sandbox/payments/providers')
  const of = (name: string) => {
    const found = body.providers.find(({ provider }: { provider: string }) => provider === name)
    return { base: String(found.base_url), keys: found.credentials }
  }
  assert.ok(!body.providers.some(({ provider }: { provider: string }) => provider === 'payers'))
  return of
}

test('a client of Daraja pushes, pays out by the first version, registers, simulates, and asks for its balance', async () => {
  const { base, keys } = (await paymentKeys())('mpesa')
  const basic = Buffer.from(`${keys.consumer_key}:${keys.consumer_secret}`).toString('base64')
  const token = await call(`${base}/oauth/v1/generate?grant_type=client_credentials`, {
    headers: { authorization: `Basic ${basic}` },
  })
  const headers = { authorization: `Bearer ${token.body.access_token}` }
  const post = (path: string, body: object) => call(`${base}/mpesa/${path}`, { method: 'POST', headers, body })
  const url = 'https://localhost:9/told'
  const Timestamp = '20261118101500'
  const pushed = await post('stkpush/v1/processrequest', {
    ...{ BusinessShortCode: Number(keys.shortcode), Timestamp, Amount: 10, PhoneNumber: '254711000001' },
    ...{ Password: passwordOf(keys.shortcode, keys.passkey, Timestamp), CallBackURL: url, PartyB: keys.shortcode },
    ...{ TransactionType: 'CustomerPayBillOnline', AccountReference: 'order', TransactionDesc: 'Lipa na mpesa online' },
  })
  assert.equal(pushed.body.ResponseCode, '0', pushed.text)
  const initiator = {
    SecurityCredential: securityCredential(keys.initiator_password, keys.certificate),
    ...{ ResultURL: url, QueueTimeOutURL: url, PartyA: keys.payout_shortcode, Remarks: 'Pay' },
  }
  const asked: readonly (readonly [path: string, body: object])[] = [
    [
      'b2c/v1/paymentrequest',
      {
        ...initiator,
        ...{ InitiatorName: keys.initiator_name, CommandID: 'SalaryPayment', Amount: 10, PartyB: '254711000001' },
      },
    ],
    [
      'b2b/v1/paymentrequest',
      { ...initiator, Initiator: keys.initiator_name, CommandID: 'BusinessPayBill', Amount: 10, PartyB: '600001' },
    ],
    [
      'accountbalance/v1/query',
      { ...initiator, Initiator: keys.initiator_name, CommandID: 'AccountBalance', IdentifierType: '4' },
    ],
    [
      'c2b/v1/registerurl',
      { ShortCode: '600000', ResponseType: 'Completed', ConfirmationURL: url, ValidationURL: url },
    ],
    [
      'c2b/v1/simulate',
      {
        ShortCode: '600000',
        CommandID: 'CustomerPayBillOnline',
        Amount: 10,
        Msisdn: '254711000001',
        BillRefNumber: 'a',
      },
    ],
  ]
  for (const [path, body] of asked) {
    const answer = await post(path, body)
    assert.deepEqual([answer.status, answer.body.ResponseCode], [200, '0'], `${path} ${answer.text}`)
    assert.equal((await post(path, { ...body, CommandID: 'Nonsense', ResponseType: 'x' })).status, 400, path)
  }
})

test('a client of MoMo makes a user, and asks for a balance and an account holder', async () => {
  const { base, keys } = (await paymentKeys())('mtn_momo')
  const subscription = { 'ocp-apim-subscription-key': keys.subscription_key }
  const id = '3fa85f64-5717-4562-b3fc-2c963f66afa6'
  const made = await call(`${base}/v1_0/apiuser`, {
    method: 'POST',
    headers: { ...subscription, 'x-reference-id': id },
    body: { providerCallbackHost: 'shop.example' },
  })
  assert.equal(made.status, 201)
  const { body: key } = await call(`${base}/v1_0/apiuser/${id}/apikey`, { method: 'POST', headers: subscription })
  assert.equal(
    (await call(`${base}/v1_0/apiuser/${id}`, { headers: subscription })).body.targetEnvironment,
    'simulator',
  )
  const authorization = `Basic ${Buffer.from(`${id}:${key.apiKey}`).toString('base64')}`
  const token = await call(`${base}/collection/token/`, { method: 'POST', headers: { ...subscription, authorization } })
  const headers = {
    ...subscription,
    authorization: `Bearer ${token.body.access_token}`,
    'x-target-environment': keys.target_environment,
  }
  const get = (path: string) => call(`${base}/collection/v1_0/${path}`, { headers })
  assert.equal((await get('account/balance')).body.availableBalance, '100000')
  assert.deepEqual((await get('accountholder/msisdn/256771000001/active')).body, { result: true })
  assert.deepEqual((await get('accountholder/msisdn/7/active')).body, { result: false })
  assert.equal((await get('accountholder/msisdn/256771000001/basicuserinfo')).body.sub, '256771000001')
})
