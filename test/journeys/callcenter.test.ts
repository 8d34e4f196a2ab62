// SPDX-License-Identifier: Apache-2.0
// A call centre at work: callers wait, agents answer, and the records, the events and the metrics say so. All calls are real SIP
// and RTP between phones of the sandbox.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  agentIs,
  agentNow,
  assign,
  callerOf,
  callIs,
  callNow,
  connected,
  done,
  ended,
  eventsOf,
  later,
  login,
  number,
  phoneOf,
  queueOf,
} from '../callcentre.ts'
import { eventually, startWorld, type World } from '../world.ts'

let world: World

before(async () => {
  world = await startWorld({ PAMOJA_VOICE_LATENESS_MS: 60_000 })
})
after(() => world?.stop())

const open = () => world.account({ balance: 1_000 })

test('a caller waits, an agent is rung and answers, they speak, and everything says so', async () => {
  const ada = await open()
  const queue = await queueOf(ada, { record: true, wrap_up_seconds: 20, sla: { target_percent: 80, threshold_seconds: 30 } })
  await assign(ada, { queue_id: queue })
  const call = await callerOf(ada)
  await callIs(ada, call, ({ phase }) => phase === 'queued', 'the caller to wait')
  const { body: waiting } = await ada.client.get(`/v1/voice/queue/${queue}`)
  assert.deepEqual(
    [waiting.live.waiting, waiting.live.calls[0].call_id, waiting.live.calls[0].position, waiting.live.estimated_wait_seconds],
    [1, call, 1, null],
  )
  await later(ada, 10)
  const session = await login(ada, 'amina', 1, { queues: [queue] })
  assert.match(session.session_id, /^ses_/)
  assert.equal(session.token.split('.').length, 3)
  const speaking = await connected(ada, call, 'amina')
  assert.deepEqual([speaking.queue_id, speaking.status], [queue, 'answered'])
  const busy = await agentIs(ada, 'amina', 'on_call')
  assert.equal(busy.call_id, call)
  const { body: context } = await ada.client.get('/v1/voice/agent/amina/context')
  assert.deepEqual([context.call.call_id, context.customer.phone, context.call.wait_seconds >= 10], [call, '+254711000021', true])
  await later(ada, 60)
  await done(ada, `/v1/sandbox/voice/${call}/hangup`, {})
  const over = await ended(ada, call)
  console.log(JSON.stringify(over), JSON.stringify((await ada.client.get('/v1/voice/'+call+'/events?limit=200')).body.data.slice(-8)))
  assert.deepEqual([over.status, over.hangup_by, over.recording_ids.length], ['completed', 'caller', 1])
  await agentIs(ada, 'amina', 'wrap_up')
  await ada.client.patch(`/v1/voice/call/${call}`, { wrap_up: { disposition: 'solved', notes: 'Asked for her balance.' } })
  await later(ada, 21)
  await agentIs(ada, 'amina', 'available')
  const { body: live } = await ada.client.get('/v1/call-center/metrics/realtime')
  assert.deepEqual(
    [live.totals.offered, live.totals.answered, live.totals.service_level_percent, live.agents[0].calls_handled],
    [1, 1, 100, 1],
  )
  const told = (await eventsOf(ada, 'agent.status_changed')).map(({ payload }: { payload: { status: string } }) => payload.status)
  assert.deepEqual(told, ['available', 'ringing', 'on_call', 'wrap_up', 'available'])
  const [queued] = await eventsOf(ada, 'call.queued')
  assert.deepEqual([queued.payload.call_id, queued.payload.position, queued.payload.queue_id], [call, 1, queue])
  const { body: past } = await ada.client.get('/v1/voice/agent/amina/context?phone=%2B254711000021')
  assert.deepEqual([past.history.calls[0].call_id, past.notes[0].text], [call, 'Asked for her balance.'])
})
