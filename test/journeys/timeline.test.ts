// SPDX-License-Identifier: Apache-2.0
// A message and a payment are followed from the request to the webhook that told of them, down to the octets.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { refusal } from '../client.ts'
import { type Account, eventually, startWorld, tenantOf, type World } from '../world.ts'

let world: World
let account: Account
before(async () => {
  world = await startWorld()
  account = await world.account({ balance: 1_000 })
  const hook = await account.client.post('/v1/sandbox/hooks', {})
  await account.client.post('/v1/webhooks', { url: hook.body.url, events: ['sms.status', 'payment.*'] })
})
after(() => world.stop())

interface Frame {
  kind: string
  direction: string | null
  title: string
  status: string | null
  request: string | null
  pdus: { command: string; hex: string; fields: { name: string; start: number; length: number; value: string }[] }[]
}

async function framesOf(path: string): Promise<Frame[]> {
  const { status, body, text } = await account.client.get(`${path}/timeline`)
  assert.equal(status, 200, text)
  return body.frames
}

const told = (path: string, kinds: readonly string[]): Promise<Frame[]> =>
  eventually(async () => {
    const frames = await framesOf(path)
    return kinds.every((kind) => frames.some((frame) => `${frame.kind} ${frame.title}`.startsWith(kind))) && frames
  }, `the frames ${kinds}`)

test('a message is followed from the request over both PDUs to the webhook', async () => {
  const text = { to: '+254711000071', from: 'PAMOJA', message: 'Habari Ada' }
  const { body } = await account.client.post('/v1/sms/send', text)
  const kinds = ['request POST', 'state queued', 'smpp submit_sm', 'smpp deliver_sm', 'state delivered', 'webhook sms.']
  const frames = await told(`/v1/sms/${body.message_id}`, kinds)
  assert.equal(frames[0]?.title, 'POST /v1/sms/send')
  const submit = frames.find(({ title }) => title === 'submit_sm')
  assert.equal(submit?.status, 'ESME_ROK')
  assert.deepEqual(
    submit?.pdus.map(({ command }) => command),
    ['submit_sm', 'submit_sm_resp'],
  )
  const [pdu] = submit?.pdus ?? []
  const field = pdu?.fields.find(({ name }) => name === 'short_message')
  assert.equal(field?.value, 'Habari Ada')
  const octets = Buffer.from(pdu?.hex ?? '', 'hex').subarray(field?.start, (field?.start ?? 0) + (field?.length ?? 0))
  assert.equal(octets.toString(), 'Habari Ada')
  assert.equal(frames.find(({ kind }) => kind === 'webhook')?.status, '200')
})

test('the words of a one-time password are in no frame', async () => {
  const text = { to: '+254711000072', from: 'PAMOJA', message: 'Code 481216', type: 'otp' }
  const { body } = await account.client.post('/v1/sms/send', text)
  const frames = await told(`/v1/sms/${body.message_id}`, ['smpp submit_sm', 'smpp deliver_sm'])
  const wire = JSON.stringify(frames.filter(({ kind }) => kind === 'smpp'))
  assert.ok(!wire.includes('481216') && !wire.includes(Buffer.from('481216').toString('hex')))
})

test('the request has the time of the account, as all that follows it', async () => {
  const { client } = await world.account({ balance: 1_000 })
  await client.post('/v1/sandbox/clock', { advance_seconds: 86_400 })
  const text = { to: '+254711000073', from: 'PAMOJA', message: 'Habari' }
  const sent = await client.post('/v1/sms/send', text)
  const paid = await client.post('/v1/payments', { amount: 150, currency: 'KES', phone: '+254711000001' })
  for (const path of [`/v1/sms/${sent.body.message_id}`, `/v1/payments/${paid.body.payment_id}`]) {
    const frames: { at: string; kind: string }[] = await eventually(async () => {
      const { body } = await client.get(`${path}/timeline`)
      return body.frames?.[0]?.kind === 'request' && body.frames
    }, `the request of ${path}`)
    const [request, state] = frames
    const apartMs = Date.parse(state?.at ?? '') - Date.parse(request?.at ?? '')
    assert.ok(apartMs >= 0 && apartMs < 60_000, `${apartMs} ms between ${JSON.stringify(frames.slice(0, 2))}`)
  }
})

test('a payment is followed over the push and the callback, without secrets', async () => {
  const wanted = { amount: 150, currency: 'KES', phone: '+254711000001', provider: 'mpesa' }
  const { body } = await account.client.post('/v1/payments/mobile/initiate', wanted)
  const kinds = [
    ...['request POST', 'provider POST /mpesa/stkpush/v1/processrequest', 'callback', 'state completed'],
    'webhook payment.',
  ]
  const frames = await told(`/v1/payments/${body.payment_id}`, kinds)
  const push = frames.find(({ title }) => title.endsWith('/processrequest'))
  const said = JSON.parse(push?.request ?? '{}')
  assert.equal(said.Password, '[redacted]')
  assert.equal(said.Amount, '150')
  const callback = frames.find(({ kind }) => kind === 'callback')
  assert.match(callback?.request ?? '', /MpesaReceiptNumber/)
})

test('a payout is followed over the order and the result', async () => {
  const wanted = { amount: 10, currency: 'KES', phone: '+254711000001', provider: 'mpesa' }
  const { body, text } = await account.client.post('/v1/payouts', wanted)
  assert.ok(body.payout_id, text)
  const kinds = ['provider POST /mpesa/b2c/v3/paymentrequest', 'callback', 'state completed']
  const frames = await told(`/v1/payouts/${body.payout_id}`, kinds)
  const order = frames.find(({ title }) => title.endsWith('/paymentrequest'))
  assert.equal(JSON.parse(order?.request ?? '{}').SecurityCredential, '[redacted]')
})

test('no frame tells where providers call us: who knows that is believed to be one', async () => {
  const wanted = { amount: 150, currency: 'KES', phone: '+254711000001', provider: 'mpesa' }
  const { body: payment } = await account.client.post('/v1/payments/mobile/initiate', wanted)
  const { body: payout } = await account.client.post('/v1/payouts', { ...wanted, amount: 10 })
  const frames = [
    ...(await told(`/v1/payments/${payment.payment_id}`, ['provider POST', 'callback'])),
    ...(await told(`/v1/payouts/${payout.payout_id}`, ['provider POST', 'callback'])),
  ]
  const said = frames.filter(({ kind }) => kind === 'provider').map(({ request }) => request ?? '')
  assert.ok(said.some((text) => text.includes('CallBackURL')) && said.some((text) => text.includes('ResultURL')))
  for (const text of said) assert.doesNotMatch(text, /\/hooks\/p\/\w/)
})

test('a text from a handset is followed from its PDU', async () => {
  await account.client.post('/v1/sms/send', { to: '+254711000073', from: 'PAMOJA', message: 'Habari' })
  const back = { from: '+254711000073', to: 'PAMOJA', message: 'Asante sana' }
  const { body } = await account.client.post('/v1/sandbox/sms/inbound', back)
  const frames = await told(`/v1/sms/${body.message_id}`, ['smpp deliver_sm', 'state received'])
  const [pdu, answer] = frames.find(({ kind }) => kind === 'smpp')?.pdus ?? []
  assert.equal(pdu?.fields.find(({ name }) => name === 'short_message')?.value, 'Asante sana')
  assert.equal(answer?.command, 'deliver_sm_resp')
})

test('a card payment and its refund are followed at the acquirer, without anything of the card', async () => {
  const card = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '987' }
  const { body } = await account.client.post('/v1/payments', { amount: 100, currency: 'KES', method: 'card', card })
  const path = `/v1/payments/${body.payment_id}`
  await told(path, ['provider POST', 'state completed'])
  assert.equal((await account.client.post(`${path}/refund`, { amount: 40 })).status, 201)
  const frames = await eventually(async () => {
    const found = await framesOf(path)
    return found.some(({ kind, title }) => kind === 'provider' && title.includes('refund')) && found
  }, 'the frame of the refund')
  const text = JSON.stringify(frames.filter(({ kind }) => kind === 'provider'))
  assert.doesNotMatch(text, /4242424242424242|\b987\b|\/hooks\/p\/\w/)
})

test('a bank transfer is followed at the bank', async () => {
  const wanted = { amount: 2_500, currency: 'NGN', method: 'bank_transfer' }
  const { body } = await account.client.post('/v1/payments', wanted)
  await told(`/v1/payments/${body.payment_id}`, ['provider POST', 'state'])
})

test('of an account under load a sample is recorded, and what others do is recorded as before', async () => {
  const busy = tenantOf(await world.account())
  const notes = Array.from({ length: 1_000 }, (_, i) => world.app.timeline.of(busy, `pay_${i}`, 0))
  const recorded = notes.filter((note) => note !== null).length
  assert.ok(recorded >= 300 && recorded < 600, `${recorded} of 1,000 at once`)
  const text = { to: '+254711000074', from: 'PAMOJA', message: 'Habari' }
  const { body: other } = await account.client.post('/v1/sms/send', text)
  await told(`/v1/sms/${other.message_id}`, ['smpp submit_sm', 'smpp deliver_sm'])
})

test('only the owner reads a timeline, and only of what there is', async () => {
  const { body } = await account.client.get('/v1/sms?limit=1')
  const other = await world.account()
  for (const id of [body.data[0].message_id, 'sms_none', 'pay_none'])
    assert.deepEqual(await refusal(other.client.get(`/v1/sms/${id}/timeline`)), [404, 'NOT_FOUND'])
  assert.deepEqual(await refusal(other.client.get('/v1/payments/pay_none/timeline')), [404, 'NOT_FOUND'])
})

test('frames go with the texts of an account that keeps them for a shorter time', async () => {
  const { body } = await account.client.get('/v1/sms?limit=1')
  const path = `/v1/sms/${body.data[0].message_id}`
  const { bucket, account: id } = tenantOf(account)
  assert.ok((await framesOf(path)).some(({ kind }) => kind === 'smpp'))
  await world.app.timeline.forget({ bucket, account: id }, Date.now() + 1_000)
  assert.ok(!(await framesOf(path)).some(({ kind }) => kind === 'smpp'))
})
