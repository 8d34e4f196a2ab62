// SPDX-License-Identifier: Apache-2.0
// Other apps of a handset in the sandbox: calls that ring until somebody answers, and the chat.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { refusal } from '../client.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World
let ada: Account
before(async () => {
  // A machine that does other things too is late, and takes calls all the same.
  world = await startWorld()
  ada = await world.account({ balance: 1_000 })
})
after(() => world.stop())

const ringing = '+254711000004'
const callsOf = async (phone: string) =>
  (await ada.client.get(`/v1/sandbox/voice/calls?phone=${encodeURIComponent(phone)}`)).body.data

test('a phone rings until it is answered, and its calls are listed', async () => {
  const wanted = { from: '+254700000000', to: ringing, actions: [{ action: 'wait', timeout: 7_000 }] }
  const { status, body, text } = await ada.client.post('/v1/voice/calls', wanted)
  assert.equal(status, 201, text)
  const path = `/v1/sandbox/voice/${body.call_id}`
  await eventually(async () => (await callsOf(ringing))[0]?.status === 'ringing', 'the phone to ring')
  assert.equal((await ada.client.post(`${path}/answer`, {})).status, 200)
  await eventually(async () => (await callsOf(ringing))[0]?.status === 'answered', 'the call to be answered')
  assert.deepEqual(await refusal(ada.client.post(`${path}/answer`, {})), [409, 'CALL_NOT_ACTIVE'])
  assert.equal((await ada.client.post(`${path}/hangup`, {})).status, 200)
  await eventually(async () => (await callsOf(ringing))[0]?.ended_at !== null, 'the call to end')
  assert.deepEqual(await callsOf('+254711000005'), [])
  const other = await world.account()
  assert.deepEqual((await other.client.get('/v1/sandbox/voice/calls?phone=+254711000004')).body.data, [])
  assert.deepEqual(await refusal(ada.client.get('/v1/sandbox/voice/calls?phone=ada')), [400, 'INVALID_REQUEST'])
})

test('a handset has the chat that it wrote and got', async () => {
  const phone = '+254711000073'
  const chat = async (): Promise<string[]> =>
    (await ada.client.get(`/v1/sandbox/messenger/handset?phone=${encodeURIComponent(phone)}`)).body.data.map(
      ({ direction, text }: { direction: string; text: { body: string } }) => `${direction} ${text.body}`,
    )
  const inbound = { from: phone, type: 'text', text: { body: 'Habari' } }
  assert.equal((await ada.client.post('/v1/sandbox/messenger/inbound', inbound)).status, 201)
  assert.deepEqual(await chat(), ['inbound Habari'])
  const answer = await ada.client.post('/v1/messenger/send', { to: phone, type: 'text', text: { body: 'Nzuri' } })
  assert.ok(answer.status < 300, answer.text)
  await eventually(async () => (await chat()).includes('outbound Nzuri'), 'the answer on the handset')
  assert.deepEqual(await chat(), ['outbound Nzuri', 'inbound Habari'])
})
