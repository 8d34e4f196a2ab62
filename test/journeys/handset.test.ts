// SPDX-License-Identifier: Apache-2.0
// A handset of the sandbox shows what arrived on it and what was written on it, and nothing else.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { refusal } from '../client.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World
let account: Account
before(async () => {
  world = await startWorld()
  account = await world.account({ balance: 1_000 })
})
after(() => world.stop())

const phone = '+254711000051'
const path = `/v1/sandbox/sms/handset?phone=${encodeURIComponent(phone)}`
const texts = async (query = ''): Promise<string[]> =>
  (await account.client.get(path + query)).body.data.map(
    ({ direction, message }: { direction: string; message: string }) => `${direction} ${message}`,
  )
const send = (to: string, message: string) => account.client.post('/v1/sms/send', { to, from: 'PAMOJA', message })

test('what arrives is on the handset, and so is its answer; what is out of coverage or failed is not', async () => {
  await account.client.patch('/v1/sandbox/sms/behaviour', { out_of_coverage: [phone] })
  await send(phone, 'Moja')
  await account.client.patch('/v1/sandbox/sms/behaviour', { out_of_coverage: [] })
  await eventually(async () => (await texts()).includes('received Moja'), 'the text on the handset')
  await account.client.patch('/v1/sandbox/sms/behaviour', { out_of_coverage: [phone] })
  assert.equal((await send(phone, 'Mbili')).status, 200)
  const reply = { from: phone, to: 'PAMOJA', message: 'Tatu' }
  assert.equal((await account.client.post('/v1/sandbox/sms/inbound', reply)).status, 201)
  assert.deepEqual(await texts(), ['written Tatu', 'received Moja'])
  assert.deepEqual(await texts('&order=asc'), ['received Moja', 'written Tatu'])
})

test('a handset is read page by page', async () => {
  const first = await account.client.get(`${path}&limit=1`)
  assert.equal(first.body.has_more, true)
  assert.deepEqual(await texts(`&limit=1&cursor=${first.body.next_cursor}`), ['received Moja'])
})

test('an account sees its own texts only, and a number has to be one', async () => {
  const other = await world.account()
  assert.deepEqual((await other.client.get(path)).body.data, [])
  assert.deepEqual((await account.client.get('/v1/sandbox/sms/handset?phone=+254711000051')).body.data.length, 2)
  for (const query of ['', '?phone=ada', '?phone=0711000051'])
    assert.deepEqual(await refusal(account.client.get(`/v1/sandbox/sms/handset${query}`)), [400, 'INVALID_REQUEST'])
})
