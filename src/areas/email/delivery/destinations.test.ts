// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { eventually } from '../../../../test/eventually.ts'
import { startMailServer } from '../../../../test/mail-server.ts'
import { Destination } from './destinations.ts'

/** Messages that the server has been given and not answered. */
const held: (() => void)[] = []
let most = 0
const server = await startMailServer(null, () => {
  return new Promise<void>((resolve) => {
    held.push(resolve)
    most = Math.max(most, held.length)
  })
})
after(() => server.stop())

const place = {
  host: '127.0.0.1',
  port: server.port,
  hello: 'mail.example',
  tls: 'none' as const,
  level: 'plain' as const,
}
const content = Buffer.from('Subject: Hello\r\n\r\nHello\r\n')
const mail = { from: 'a@mail.example', to: 'b@shop.example', content, isUtf8: false, isEightBit: false }

const answer = (count: number): void => {
  for (const resolve of held.splice(0, count)) resolve()
}

test('a destination that throttles gets fewer messages at once, also of those that wait already', async () => {
  const destination = new Destination()
  after(() => destination.close())
  for (let n = 0; n < 6; n++) destination.learn(false, 0)
  let done = 0
  const sent = Array.from({ length: 12 }, () => destination.send([place], mail).then(() => done++))
  await eventually(async () => held.length === 8, 'eight to be under way')
  destination.learn(true, 0)
  answer(4)
  await eventually(async () => done === 4, 'four to be sent')
  most = 0
  // Time in which those that wait could come, if they were let in.
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.equal(held.length, 4)
  for (let left = 8; left > 0; left--) {
    await eventually(async () => held.length > 0, 'the next to be under way')
    answer(1)
  }
  await Promise.all(sent)
  assert.deepEqual([most <= 4, server.taken.get('Hello')], [true, 12])
})

test('a connection takes a hundred messages, one after the other, and then another is made', async () => {
  const quick = await startMailServer()
  const destination = new Destination()
  after(async () => {
    destination.close()
    await quick.stop()
  })
  for (let n = 0; n < 100; n++) await destination.send([{ ...place, port: quick.port }], mail)
  assert.equal(quick.connections, 1)
  await destination.send([{ ...place, port: quick.port }], mail)
  assert.deepEqual([quick.connections, quick.taken.get('Hello')], [2, 101])
})
