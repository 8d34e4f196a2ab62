// SPDX-License-Identifier: Apache-2.0
// A payer of the sandbox who answers by hand: the prompt waits on the handset until somebody types a PIN, refuses it, or lets
// it go. Payers of other accounts go on deciding by their numbers.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { refusal } from '../client.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World
let account: Account
before(async () => {
  world = await startWorld()
  account = await world.account({ balance: 1_000 })
  const listed = await account.client.patch('/v1/sandbox/payments/behaviour', { by_hand: phones })
  assert.deepEqual(listed.body.by_hand, phones)
})
after(() => world.stop())

const phone = '+254711000061'
const phones = [phone, '+256772000061', '+254733000061']
const behaviour = '/v1/sandbox/payments/behaviour'

const promptsOf = async (number = phone) =>
  (await account.client.get(`/v1/sandbox/payments/prompts?phone=${encodeURIComponent(number)}`)).body.data

async function asked(body: object = {}): Promise<string> {
  const wanted = { amount: 150, currency: 'KES', phone, provider: 'mpesa', ...body }
  const { status, body: made, text } = await account.client.post('/v1/payments/mobile/initiate', wanted)
  assert.ok(status < 300, text)
  return made.payment_id
}

const answer = (id: string, body: object) => account.client.post(`/v1/sandbox/payments/${id}/answer`, body)
const became = (id: string, status: string) =>
  eventually(async () => (await account.client.get(`/v1/payments/${id}`)).body.status === status, `${id} ${status}`)

test('a prompt waits for the PIN, and the right one pays', async () => {
  const id = await asked({ reference: 'INV-61', description: 'Oda 61' })
  const [prompt] = await promptsOf()
  assert.deepEqual(
    [prompt.payment_id, prompt.status, prompt.amount, prompt.currency, prompt.reference, prompt.description],
    [id, 'waiting', 150, 'KES', 'INV-61', 'Oda 61'],
  )
  const leftMs = new Date(prompt.expires_at).getTime() - new Date(prompt.asked_at).getTime()
  assert.equal(leftMs, 120_000)
  assert.equal((await answer(id, { decision: 'approve', pin: '1234' })).status, 200)
  await became(id, 'completed')
  assert.equal((await promptsOf())[0].status, 'approved')
  assert.deepEqual(await refusal(answer(id, { decision: 'refuse' })), [409, 'INVALID_STATE'])
})

test('a payer refuses, or mistypes the PIN', async () => {
  const refused = await asked()
  await answer(refused, { decision: 'refuse' })
  await became(refused, 'cancelled')
  assert.equal((await promptsOf())[0].status, 'refused')
  const mistyped = await asked()
  await answer(mistyped, { decision: 'approve', pin: '0000' })
  await became(mistyped, 'failed')
  const { body } = await account.client.get(`/v1/payments/${mistyped}`)
  assert.equal(body.failure_reason, 'WRONG_PIN')
  assert.equal((await promptsOf())[0].status, 'over')
})

test('every provider waits alike', async () => {
  const ways = [
    { phone: '+256772000061', currency: 'UGX', amount: 5_000, provider: 'mtn_momo' },
    { phone: '+254733000061', currency: 'KES', amount: 90, provider: 'airtel_money' },
  ]
  for (const way of ways) {
    const id = await asked(way)
    assert.equal((await promptsOf(way.phone))[0].status, 'waiting', way.provider)
    assert.equal((await answer(id, { decision: 'approve', pin: '4812' })).status, 200, way.provider)
    await became(id, 'completed')
  }
})

test('what cannot be answered is refused, and changes nothing', async () => {
  const id = await asked()
  assert.deepEqual(await refusal(answer(id, { decision: 'approve' })), [422, 'VALIDATION_ERROR'])
  assert.deepEqual(await refusal(answer(id, { decision: 'approve', pin: 'abcd' })), [422, 'VALIDATION_ERROR'])
  assert.deepEqual(await refusal(answer(id, { decision: 'perhaps' })), [422, 'VALIDATION_ERROR'])
  assert.deepEqual(await refusal(answer('pay_none', { decision: 'refuse' })), [404, 'NOT_FOUND'])
  const other = await world.account()
  assert.deepEqual(await refusal(other.client.post(`/v1/sandbox/payments/${id}/answer`, { decision: 'refuse' })), [
    404,
    'NOT_FOUND',
  ])
  assert.equal((await promptsOf())[0].status, 'waiting')
  assert.deepEqual(await refusal(account.client.patch(behaviour, { by_hand: ['ada'] })), [422, 'VALIDATION_ERROR'])
  assert.deepEqual((await other.client.get(behaviour)).body.by_hand, [])
})

test('a payer who decides by the number takes no PIN', async () => {
  const id = await asked({ phone: '+254711000003' })
  assert.deepEqual(await refusal(answer(id, { decision: 'approve', pin: '1234' })), [409, 'INVALID_STATE'])
})
