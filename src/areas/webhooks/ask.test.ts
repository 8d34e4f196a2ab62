// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startReceiver } from '../../../test/receiver.ts'
import { startWorld, tenantOf } from '../../../test/world.ts'
import { ask } from './ask.ts'

const world = await startWorld()
const receiver = await startReceiver()
after(async () => {
  await receiver.stop()
  await world.stop()
})

test('an application that does not answer is not asked without end, and asked again when it does', async () => {
  const tenant = tenantOf(await world.account())
  const question = {
    ...{ tenant, name: 'ussd.response', url: receiver.url('/slow'), contentType: 'application/json', body: '{}' },
    withinMs: 1_500,
  }
  receiver.answer(() => undefined)
  const answers = await Promise.all(Array.from({ length: 1_200 }, () => ask(world.app, question)))
  const reasons = answers.map((answer) => (answer.kind === 'nothing' ? answer.why : 'said'))
  assert.deepEqual([...new Set(reasons)].sort(), ['crowded', 'late'])
  assert.equal(reasons.filter((why) => why === 'crowded').length, 200)
  receiver.answer((_request, response) => void response.end('{}'))
  assert.equal((await ask(world.app, { ...question, withinMs: 30_000 })).kind, 'said')
})
