// SPDX-License-Identifier: Apache-2.0
// A call centre at work: callers wait, agents answer, and the records, the events and the metrics say so. All calls are real SIP
// and RTP between phones of the sandbox.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { simulatedCarrier } from '../../src/areas/voice/trunks/sandbox-carrier.ts'
import { rms, tone } from '../../src/protocols/audio/tones.ts'
import {
  agentIs,
  agentNow,
  assign,
  awayFromMidnight,
  callerOf,
  callIs,
  callNow,
  connected,
  done,
  ended,
  eventsOf,
  later,
  login,
  numberOf,
  phoneOf,
  queueOf,
  uploadPrompt,
} from '../callcentre.ts'
import { framesWith, hasHeard, hearsNow } from '../hearing.ts'
import { lookInto } from '../looking.ts'
import { type SpeechProgram, speechProgram, spokenHertz } from '../speech-program.ts'
import { eventually, startWorld, type World } from '../world.ts'

let world: World
let speech: SpeechProgram
let sql: pg.Client

before(async () => {
  speech = await speechProgram()
  world = await startWorld({ PAMOJA_SPEECH_PROGRAM: speech.path })
  sql = lookInto(world)
  await sql.connect()
})
after(async () => {
  await sql?.end()
  await world?.stop()
  await speech?.remove()
})

const open = async () => awayFromMidnight(await world.account({ balance: 1_000 }))

test('a caller waits, an agent is rung and answers, they speak, and everything says so', async () => {
  const ada = await open()
  const queue = await queueOf(ada, {
    record: true,
    wrap_up_seconds: 20,
    sla: { target_percent: 80, threshold_seconds: 30 },
  })
  await assign(ada, { queue_id: queue })
  const call = await callerOf(ada)
  await callIs(ada, call, ({ phase }) => phase === 'queued', 'the caller to wait')
  const { body: waiting } = await ada.client.get(`/v1/voice/queue/${queue}`)
  assert.deepEqual(
    [
      waiting.live.waiting,
      waiting.live.calls[0].call_id,
      waiting.live.calls[0].position,
      waiting.live.estimated_wait_seconds,
    ],
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
  assert.deepEqual(
    [context.call.call_id, context.customer.phone, context.call.wait_seconds >= 10],
    [call, '+254711000021', true],
  )
  await later(ada, 60)
  await done(ada, `/v1/sandbox/voice/${call}/hangup`, {})
  const over = await ended(ada, call)
  assert.deepEqual([over.status, over.hangup_by, over.recording_ids.length], ['completed', 'caller', 1])
  await agentIs(ada, 'amina', 'wrap_up')
  await ada.client.patch(`/v1/voice/call/${call}`, {
    wrap_up: { disposition: 'solved', notes: 'Asked for her balance.' },
  })
  await later(ada, 21)
  await agentIs(ada, 'amina', 'available')
  const { body: live } = await ada.client.get('/v1/call-center/metrics/realtime')
  assert.deepEqual(
    [live.totals.offered, live.totals.answered, live.totals.service_level_percent, live.agents[0].calls_handled],
    [1, 1, 100, 1],
  )
  const told = (await eventsOf(ada, 'agent.status_changed')).map(
    ({ payload }: { payload: { status: string } }) => payload.status,
  )
  assert.deepEqual(told, ['available', 'ringing', 'on_call', 'wrap_up', 'available'])
  const [queued] = await eventsOf(ada, 'call.queued')
  assert.deepEqual([queued.payload.call_id, queued.payload.position, queued.payload.queue_id], [call, 1, queue])
  const { body: past } = await ada.client.get('/v1/voice/agent/amina/context?phone=%2B254711000021')
  assert.deepEqual([past.history.calls[0].call_id, past.notes[0].text], [call, 'Asked for her balance.'])
})

test('an agent who does not answer is away, and the caller is the first in the queue again', async () => {
  const ada = await open()
  const queue = await queueOf(ada, { offer_timeout: 10 })
  await assign(ada, { queue_id: queue })
  await done(ada, '/v1/voice/agent/login', {
    agent_id: 'asleep',
    endpoint: { type: 'phone', number: '+254711000004' },
    queues: [queue],
  })
  const call = await callerOf(ada)
  await agentIs(ada, 'asleep', 'ringing')
  await login(ada, 'awake', 2, { queues: [queue] })
  // One offer at a time: the second agent is not rung while the first one is.
  assert.equal((await agentNow(ada, 'awake')).status, 'available')
  const away = await eventually(async () => {
    await later(ada, 11)
    const now = await agentNow(ada, 'asleep')
    return now.status === 'away' && now
  }, 'the agent to be away')
  assert.equal(away.reason, 'no_answer')
  await connected(ada, call, 'awake')
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

test('a round that gives callers to agents reads them, their calls and the queues once', async () => {
  const ada = await open()
  const queue = await queueOf(ada, { wrap_up_seconds: 10, sla: { target_percent: 100, threshold_seconds: 1 } })
  await assign(ada, { queue_id: queue })
  const first = await callerOf(ada)
  await callIs(ada, first, ({ phase }) => phase === 'queued', 'the first caller to wait')
  const second = await callerOf(ada, '+254711000022')
  await callIs(ada, second, ({ phase }) => phase === 'queued', 'the second caller to wait')
  const transactions = await transactionsDuring(async () => {
    await login(ada, 'amina', 1, { queues: [queue] })
    await connected(ada, first, 'amina')
    await done(ada, `/v1/sandbox/voice/${first}/hangup`, {})
    await agentIs(ada, 'amina', 'wrap_up')
    await later(ada, 11)
    await connected(ada, second, 'amina')
  })
  const giving = transactions.filter((names) => names.includes('callcenter.note_turn'))
  assert.equal(giving.length, 2, 'each caller is given in a round')
  for (const names of giving)
    for (const name of ['callcenter.agents_at_work', 'callcenter.contacts_under_way', 'callcenter.list_queues'])
      assert.equal(names.filter((one) => one === name).length, 1, `${name} in ${names.join()}`)
  assert.ok(!transactions.flat().includes('callcenter.contacts_since'), 'no lock is held while a day is read')
  await done(ada, `/v1/voice/call/${second}/hangup`, {})
})

/** Names of the statements of each transaction that ends while something is done. */
async function transactionsDuring(work: () => Promise<void>): Promise<string[][]> {
  const ended: string[][] = []
  const open = new WeakMap<object, string[]>()
  const { query } = pg.Client.prototype
  const seen = (client: object, asked: unknown) => {
    const { name, text } = Object(asked)
    if (typeof text === 'string' && text.startsWith('begin')) open.set(client, [])
    else if (text === 'commit' || text === 'rollback') {
      if (text === 'commit') ended.push(open.get(client) ?? [])
      // What this connection is asked next belongs to no transaction.
      open.delete(client)
    } else if (typeof name === 'string') open.get(client)?.push(name)
  }
  pg.Client.prototype.query = new Proxy(query, {
    apply(target, client, asked) {
      seen(client, asked[0])
      return Reflect.apply(target, client, asked)
    },
  })
  try {
    await work()
  } finally {
    pg.Client.prototype.query = query
  }
  return ended
}

test('a caller who gives up has abandoned, and a short wait counts apart', async () => {
  const ada = await open()
  const queue = await queueOf(ada)
  await assign(ada, { queue_id: queue })
  const short = await callerOf(ada)
  await callIs(ada, short, ({ phase }) => phase === 'queued', 'the caller to wait')
  await done(ada, `/v1/sandbox/voice/${short}/hangup`, {})
  await ended(ada, short)
  const long = await callerOf(ada, '+254711000022')
  await callIs(ada, long, ({ phase }) => phase === 'queued', 'the caller to wait')
  await later(ada, 30)
  await done(ada, `/v1/sandbox/voice/${long}/hangup`, {})
  const totals = await eventually(async () => {
    const { body } = await ada.client.get('/v1/call-center/metrics/realtime')
    return body.totals.abandoned === 2 && body.totals.waiting === 0 ? body.totals : null
  }, 'both to be counted, and nobody to wait')
  assert.deepEqual(
    [totals.offered, totals.short_abandoned, totals.service_level_percent, totals.abandon_rate_percent, totals.waiting],
    [2, 1, 0, 100, 0],
  )
  const told = await eventsOf(ada, 'call.abandoned')
  assert.deepEqual(
    told.map(({ payload }: { payload: { call_id: string } }) => payload.call_id).sort(),
    [short, long].sort(),
  )
})

test('a queue that keeps nobody longer sends callers on, and one that is full refuses them', async () => {
  const ada = await open()
  const next = await queueOf(ada, { name: 'Next' })
  const queue = await queueOf(ada, {
    max_wait_seconds: 60,
    max_size: 1,
    overflow: { on: ['max_wait'], action: { type: 'queue', id: next } },
  })
  await assign(ada, { queue_id: queue })
  const call = await callerOf(ada)
  await callIs(ada, call, ({ queue_id, phase }) => queue_id === queue && phase === 'queued', 'the caller to wait')
  const second = await callerOf(ada, '+254711000023')
  assert.equal((await ended(ada, second)).status, 'failed', 'nothing answers who finds no place')
  await later(ada, 61)
  await callIs(ada, call, ({ queue_id }) => queue_id === next, 'the caller to wait in the next queue')
  await login(ada, 'amina', 1, { queues: [next] })
  await connected(ada, call, 'amina')
  const { body } = await ada.client.get(`/v1/call-center/metrics/realtime?queue_id=${queue}`)
  assert.deepEqual([body.queues.length, body.queues[0].overflowed], [1, 1])
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

test('a caller presses the key of the queue, hangs up and is called back in turn', async () => {
  const ada = await open()
  const queue = await queueOf(ada, { callback: { enabled: true, key: '1', max_attempts: 2 } })
  await assign(ada, { queue_id: queue })
  const call = await callerOf(ada)
  await callIs(ada, call, ({ phase }) => phase === 'queued', 'the caller to wait')
  await done(ada, `/v1/sandbox/voice/${call}/input`, { dtmf: '1' })
  await later(ada, 5)
  await eventually(async () => {
    await later(ada, 5)
    return (await callNow(ada, call)).ended_at
  }, 'the caller to be let go')
  const { body: waiting } = await ada.client.get(`/v1/voice/queue/${queue}`)
  assert.equal(waiting.live.waiting, 1, 'the place is kept')
  const back = waiting.live.calls[0].call_id
  assert.notEqual(back, call)
  await login(ada, 'amina', 1, { queues: [queue] })
  const speaking = await connected(ada, back, 'amina')
  assert.deepEqual([speaking.direction, speaking.to, speaking.from], ['outbound', '+254711000021', numberOf(ada)])
  await done(ada, `/v1/voice/call/${back}/hangup`, {})
  await agentIs(ada, 'amina', 'wrap_up')
})

test('an agent calls a customer, holds, mutes, presses keys, and the metrics count it', async () => {
  const ada = await open()
  const { token } = await login(ada, 'amina', 1)
  const agent = world.stranger.as(token)
  const { status, body } = await agent.post('/v1/voice/call', {
    from: numberOf(ada),
    to: '+254711000030',
    agent_id: 'amina',
    custom_data: { order: '77' },
  })
  assert.equal(status, 201, JSON.stringify(body))
  assert.deepEqual([body.status, typeof body.started_at], ['initiated', 'string'])
  const call = body.call_id
  await connected(ada, call, 'amina')
  const heldSinceMs = performance.now()
  const hold = await agent.patch(`/v1/voice/call/${call}`, { hold: true })
  assert.deepEqual([hold.status, hold.body.on_hold], [200, true])
  await callIs(ada, call, ({ phase }) => phase === 'on_hold', 'the customer to hear music')
  await later(ada, 15)
  assert.equal((await agent.patch(`/v1/voice/call/${call}`, { hold: false, mute: true })).body.on_hold, false)
  const most = 16 + (performance.now() - heldSinceMs) / 1_000
  assert.equal((await agent.patch(`/v1/voice/call/${call}`, { mute: false, send_dtmf: '12#' })).status, 200)
  const silent = await agent.patch(`/v1/voice/call/${call}`, { recording: 'pause' })
  assert.deepEqual([silent.status, silent.body.error.code], [409, 'CALL_NOT_ACTIVE'])
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
  await agentIs(ada, 'amina', 'wrap_up')
  const freed = await agent.post('/v1/voice/agent/status', { agent_id: 'amina', status: 'available' })
  assert.deepEqual([freed.body.previous_status, freed.body.status], ['wrap_up', 'available'])
  const { body: day } = await ada.client.get('/v1/call-center/reports?group_by=agent,direction')
  assert.equal(day.rows.length, 1, JSON.stringify(day))
  const [row] = day.rows
  assert.deepEqual([row.agent_id, row.direction, row.answered], ['amina', 'outbound', 1])
  assert.ok(row.hold_seconds >= 15 && row.hold_seconds <= most, JSON.stringify(row))
})

test('a call is transferred cold, warm with a consultation, and merged', async () => {
  const ada = await open()
  const queue = await queueOf(ada, { wrap_up_seconds: 0 })
  await assign(ada, { queue_id: queue })
  await login(ada, 'amina', 1, { queues: [queue] })
  const call = await callerOf(ada)
  await connected(ada, call, 'amina')
  await login(ada, 'baraka', 2)
  await login(ada, 'chipo', 3)
  const cold = await done(ada, '/v1/voice/transfer', { call_id: call, transfer_type: 'cold', destination: 'baraka' })
  assert.deepEqual([cold.status, cold.consult_call_id], ['ringing', null])
  await connected(ada, call, 'baraka')
  await agentIs(ada, 'amina', 'available')
  const busy = await ada.client.post('/v1/voice/transfer', {
    call_id: call,
    transfer_type: 'warm',
    destination: 'nobody',
  })
  assert.deepEqual([busy.status, busy.body.error.code], [409, 'AGENT_NOT_AVAILABLE'])

  const warm = await done(ada, '/v1/voice/transfer', { call_id: call, transfer_type: 'warm', destination: 'chipo' })
  await callIs(ada, call, ({ phase }) => phase === 'on_hold', 'the customer to hear music')
  await agentIs(ada, 'chipo', 'on_call')
  const twice = await ada.client.post('/v1/voice/transfer', {
    call_id: call,
    transfer_type: 'cold',
    destination: 'amina',
  })
  assert.deepEqual([twice.status, twice.body.error.code], [409, 'CONFLICT'])
  const path = `/v1/voice/transfer/${warm.transfer_id}`
  const completed = await ada.client.patch(path, { action: 'complete' })
  assert.deepEqual([completed.status, completed.body.status], [200, 'completed'], JSON.stringify(completed.body))
  assert.match(completed.body.consult_call_id, /^call_/)
  await connected(ada, call, 'chipo')
  await agentIs(ada, 'baraka', 'wrap_up')
  assert.equal((await ada.client.patch(path, { action: 'cancel' })).status, 409)

  const third = await done(ada, '/v1/voice/transfer', { call_id: call, transfer_type: 'warm', destination: 'amina' })
  await agentIs(ada, 'amina', 'on_call')
  await ada.client.patch(`/v1/voice/transfer/${third.transfer_id}`, { action: 'merge' })
  await callIs(ada, call, ({ phase }) => phase === 'connected', 'all three to speak')
  assert.equal((await agentNow(ada, 'chipo')).status, 'on_call')
  await later(ada, 60)
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
  await agentIs(ada, 'chipo', 'wrap_up')
  await later(ada, 31)
  await agentIs(ada, 'chipo', 'available')
  await agentIs(ada, 'amina', 'available')
  const told = (await eventsOf(ada, 'call.transferred')).map(
    ({ payload }: { payload: { status: string } }) => payload.status,
  )
  assert.deepEqual(told, ['completed', 'completed', 'completed'])
  const { body } = await ada.client.get('/v1/call-center/reports')
  assert.deepEqual([body.totals.transferred, body.totals.first_call_resolution_percent], [3, 100])
  assert.deepEqual([body.totals.offered, body.totals.answered], [1, 1], 'one call, however many agents it had')
  assert.deepEqual([body.rows.length, body.rows[0].offered, body.rows[0].answered], [1, 1, 1])
  const { body: agents } = await ada.client.get('/v1/call-center/reports?group_by=agent')
  const spoke = (agent: string) => agents.rows.find((row: { agent_id: string }) => row.agent_id === agent)
  assert.ok(spoke('chipo').talk_seconds >= 60 && spoke('amina').talk_seconds >= 60, JSON.stringify(agents.rows))
  assert.deepEqual([spoke('chipo').transferred, spoke('amina').transferred], [1, 1])
})

test('one of two agents who speak asks a third, takes the call back, and leaves it to the other two', async () => {
  const ada = await open()
  const queue = await queueOf(ada, { wrap_up_seconds: 0 })
  await assign(ada, { queue_id: queue })
  const { token } = await login(ada, 'amina', 1, { queues: [queue] })
  const amina = world.stranger.as(token)
  const call = await callerOf(ada)
  await connected(ada, call, 'amina')
  await login(ada, 'baraka', 2)
  await login(ada, 'chipo', 3)
  const asked = async (destination: string) => {
    const { status, body } = await amina.post('/v1/voice/transfer', {
      ...{ call_id: call, transfer_type: 'warm', destination },
    })
    assert.equal(status, 200, JSON.stringify(body))
    await agentIs(ada, destination, 'on_call')
    return (action: string) => amina.patch(`/v1/voice/transfer/${body.transfer_id}`, { action })
  }
  assert.equal((await (await asked('baraka'))('merge')).status, 200)
  await callIs(ada, call, ({ phase }) => phase === 'connected', 'all three to speak')
  assert.equal((await (await asked('chipo'))('cancel')).status, 200)
  await agentIs(ada, 'chipo', 'available')
  assert.deepEqual((await (await asked('chipo'))('complete')).body.status, 'completed')
  await agentIs(ada, 'amina', 'available')
  await connected(ada, call, 'chipo')
  assert.equal((await agentNow(ada, 'baraka')).status, 'on_call')
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
  await ended(ada, call)
})

test('a caller who is moved between queues is one call in the totals, and one in each queue', async () => {
  const ada = await open()
  const orders = await queueOf(ada, { name: 'Orders', wrap_up_seconds: 0 })
  const support = await queueOf(ada, { name: 'Support', wrap_up_seconds: 0 })
  await assign(ada, { queue_id: orders })
  await login(ada, 'amina', 1, { queues: [orders] })
  await login(ada, 'baraka', 2, { queues: [support] })
  const call = await callerOf(ada)
  await connected(ada, call, 'amina')
  await done(ada, '/v1/voice/transfer', { call_id: call, transfer_type: 'cold', destination: support })
  await connected(ada, call, 'baraka')
  await done(ada, '/v1/voice/transfer', { call_id: call, transfer_type: 'cold', destination: orders })
  await connected(ada, call, 'amina')
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
  await ended(ada, call)
  const counted = ({ offered, answered }: { offered: number; answered: number }) => [offered, answered]
  const { body: all } = await ada.client.get('/v1/call-center/reports')
  assert.deepEqual([counted(all.totals), all.rows.map(counted)], [[1, 1], [[1, 1]]])
  assert.equal(
    all.waits.reduce((sum: number, { calls }: { calls: number }) => sum + calls, 0),
    3,
    'three waits',
  )
  assert.deepEqual(
    all.waits.map(({ under_seconds }: { under_seconds: number | null }) => under_seconds),
    [10, 20, 40, 60, 90, null],
  )
  const { body: byQueue } = await ada.client.get('/v1/call-center/reports?group_by=queue')
  assert.deepEqual(
    [counted(byQueue.totals), byQueue.rows.map(counted)],
    [
      [1, 1],
      [
        [1, 1],
        [1, 1],
      ],
    ],
  )
  const { body: ofOrders } = await ada.client.get(`/v1/call-center/reports?queue_id=${orders}`)
  assert.deepEqual(counted(ofOrders.totals), [1, 1])
  const { body: now } = await ada.client.get('/v1/call-center/metrics/realtime')
  assert.deepEqual(
    [counted(now.totals), now.queues.map(counted)],
    [
      [1, 1],
      [
        [1, 1],
        [1, 1],
      ],
    ],
  )
})

test('two agents speak with a customer: the one who goes leaves the call to the other, with the time of each', async () => {
  const ada = await open()
  const queue = await queueOf(ada, { wrap_up_seconds: 30 })
  await assign(ada, { queue_id: queue })
  const { token } = await login(ada, 'amina', 1, { queues: [queue] })
  await login(ada, 'baraka', 2)
  const call = await callerOf(ada)
  await connected(ada, call, 'amina')
  const warm = await done(ada, '/v1/voice/transfer', { call_id: call, transfer_type: 'warm', destination: 'baraka' })
  await agentIs(ada, 'baraka', 'on_call')
  await ada.client.patch(`/v1/voice/transfer/${warm.transfer_id}`, { action: 'merge' })
  await callIs(ada, call, ({ phase }) => phase === 'connected', 'all three to speak')
  // Both may hold the call: each token names the contact of its agent.
  const amina = world.stranger.as(token)
  assert.equal((await amina.patch(`/v1/voice/call/${call}`, { hold: true })).body.agent_id, 'amina')
  assert.equal((await amina.patch(`/v1/voice/call/${call}`, { hold: false })).status, 200)
  await later(ada, 40)
  const { resource_id: leg } = (await eventsOf(ada, 'call.answered')).find(
    ({ payload }: { payload: { to: string } }) => payload.to === phoneOf(1),
  )
  await done(ada, `/v1/sandbox/voice/${leg}/hangup`, {})
  await agentIs(ada, 'amina', 'wrap_up')
  await connected(ada, call, 'baraka')
  const noted = await amina.patch(`/v1/voice/call/${call}`, { wrap_up: { disposition: 'solved' } })
  assert.deepEqual([noted.status, noted.body.agent_id, noted.body.disposition], [200, 'amina', 'solved'])
  await later(ada, 20)
  await done(ada, `/v1/sandbox/voice/${call}/hangup`, {})
  await ended(ada, call)
  await agentIs(ada, 'baraka', 'wrap_up')
  const { body } = await ada.client.get('/v1/call-center/reports?group_by=agent')
  const rows = body.rows.map(
    (row: { agent_id: string; answered: number; transferred: number; talk_seconds: number }) => [
      row.agent_id,
      row.answered,
      row.transferred,
      row.talk_seconds >= (row.agent_id === 'amina' ? 40 : 60),
    ],
  )
  assert.deepEqual(rows, [
    ['amina', 1, 1, true],
    ['baraka', 1, 0, true],
  ])
})

test('an agent who could not be rung stays available, is paused for longer each time, and the caller is offered to others', async () => {
  const ada = await open()
  const queue = await queueOf(ada)
  await assign(ada, { queue_id: queue })
  await done(ada, '/v1/voice/agent/login', {
    agent_id: 'cut',
    endpoint: { type: 'phone', number: '+254711000005' },
    queues: [queue],
  })
  const call = await callerOf(ada)
  const paused = (missed: number) =>
    eventually(async () => {
      const { rows } = await sql.query('select missed_offers from callcenter.agents where agent_id = $1', ['cut'])
      return rows[0].missed_offers === missed ? agentNow(ada, 'cut') : null
    }, `offer ${missed} to fail`)
  const first = await paused(1)
  assert.deepEqual([first.status, first.reason], ['available', 'network_error'])
  const pauseOf = (agent: { since: string; next_offer_at: string }) =>
    Date.parse(agent.next_offer_at) - Date.parse(agent.since)
  assert.equal(pauseOf(first), 2_000)
  await later(ada, 3)
  assert.equal(pauseOf(await paused(2)), 10_000)
  await later(ada, 11)
  assert.equal(pauseOf(await paused(3)), 30_000)
  await login(ada, 'amina', 1, { queues: [queue] })
  await connected(ada, call, 'amina')
  const told = (await eventsOf(ada, 'agent.status_changed'))
    .filter(({ resource_id }: { resource_id: string }) => resource_id === 'cut')
    .map(({ payload }: { payload: { status: string } }) => payload.status)
  assert.ok(!told.includes('away'), told.join())
  await done(ada, '/v1/voice/agent/status', { agent_id: 'cut', status: 'available' })
  assert.equal((await agentNow(ada, 'cut')).next_offer_at, null, 'who says so is available at once')
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

test('a call that was handed on outlives the telephone of the agent who writes it down', async () => {
  const ada = await open()
  const queue = await queueOf(ada, { wrap_up_seconds: 30 })
  await assign(ada, { queue_id: queue })
  const { token } = await login(ada, 'amina', 1, { queues: [queue] })
  const call = await callerOf(ada)
  await connected(ada, call, 'amina')
  await login(ada, 'baraka', 2)
  await done(ada, '/v1/voice/transfer', { call_id: call, transfer_type: 'cold', destination: 'baraka' })
  await connected(ada, call, 'baraka')
  await agentIs(ada, 'amina', 'wrap_up')
  const amina = world.stranger.as(token)
  const wrap_up = { disposition: 'handed over', notes: 'Wants a refund.' }
  const noted = await amina.patch(`/v1/voice/call/${call}`, { wrap_up })
  assert.deepEqual([noted.status, noted.body.agent_id, noted.body.notes], [200, 'amina', wrap_up.notes], noted.text)
  const held = await amina.patch(`/v1/voice/call/${call}`, { hold: true })
  assert.deepEqual([held.status, held.body.error.code], [409, 'CALL_NOT_ACTIVE'], 'the call is another agent’s now')
  const { body: context } = await ada.client.get(`/v1/voice/agent/baraka/context?call_id=${call}`)
  assert.deepEqual(context.notes[0].text, wrap_up.notes)
  await eventually(async () => (await eventsOf(ada, 'call.completed')).length > 0, 'a telephone to be put down')
  const monitor = { call_id: call, mode: 'listen', endpoint: { type: 'phone', number: '+254711000042' } }
  const { monitor_id } = await done(ada, '/v1/voice/monitor', monitor, 201)
  const listening = async () => (await ada.client.get(`/v1/voice/monitor/${monitor_id}`)).body.status === 'active'
  await eventually(listening, 'the supervisor to listen')
  const over = (await eventsOf(ada, 'call.completed')).map(({ resource_id }: { resource_id: string }) => resource_id)
  assert.ok(over.length === 1 && !over.includes(call), JSON.stringify(over))
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

test('a transfer that nobody answers gives the customer back, and one to a queue waits there', async () => {
  const ada = await open()
  const queue = await queueOf(ada, { wrap_up_seconds: 0 })
  const next = await queueOf(ada, { name: 'Next' })
  await assign(ada, { queue_id: queue })
  await login(ada, 'amina', 1, { queues: [queue] })
  const call = await callerOf(ada)
  await connected(ada, call, 'amina')
  const warm = { call_id: call, transfer_type: 'warm', destination: '+254711000002' }
  await done(ada, '/v1/voice/transfer', warm)
  await eventually(async () => (await eventsOf(ada, 'call.transferred')).length === 1, 'the transfer to fail')
  await callIs(ada, call, ({ phase, agent_id }) => phase === 'connected' && agent_id === 'amina', 'amina to speak on')
  const into = await done(ada, '/v1/voice/transfer', { ...warm, transfer_type: 'cold', destination: next })
  assert.equal(into.status, 'completed')
  await callIs(ada, call, ({ queue_id }) => queue_id === next, 'the caller to wait in the next queue')
  await agentIs(ada, 'amina', 'available')
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

test('a supervisor listens, whispers, barges and stops; each is told and audited', async () => {
  const ada = await open()
  const queue = await queueOf(ada)
  await assign(ada, { queue_id: queue })
  await login(ada, 'amina', 1, { queues: [queue] })
  await login(ada, 'boss', 2, { status: 'away' })
  const call = await callerOf(ada)
  await connected(ada, call, 'amina')
  const monitor = await done(ada, '/v1/voice/monitor', { call_id: call, mode: 'listen', supervisor_id: 'boss' }, 201)
  assert.deepEqual([monitor.status, monitor.mode], ['connecting', 'listen'])
  const path = `/v1/voice/monitor/${monitor.monitor_id}`
  await eventually(async () => (await ada.client.get(path)).body.status === 'active', 'the supervisor to listen')
  await agentIs(ada, 'boss', 'on_call')
  for (const mode of ['whisper', 'barge', 'listen'])
    assert.deepEqual((await ada.client.patch(path, { mode })).body.mode, mode)
  const stopped = await ada.client.delete(path)
  assert.equal(stopped.body.status, 'ended')
  await agentIs(ada, 'boss', 'away')
  assert.deepEqual((await ada.client.patch(path, { mode: 'barge' })).status, 409)
  const again = await done(
    ada,
    '/v1/voice/monitor',
    { call_id: call, mode: 'barge', endpoint: { type: 'phone', number: phoneOf(9) } },
    201,
  )
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
  await eventually(
    async () => (await ada.client.get(`/v1/voice/monitor/${again.monitor_id}`)).body.status === 'ended',
    'the call to end it',
  )
  const late = await ada.client.post('/v1/voice/monitor', { call_id: call, mode: 'listen', supervisor_id: 'boss' })
  assert.deepEqual([late.status, late.body.error.code], [409, 'CALL_NOT_ACTIVE'])
  const { body: log } = await ada.client.get('/v1/audit-log?limit=200')
  const actions = log.data
    .map(({ action }: { action: string }) => action)
    .filter((action: string) => action.startsWith('monitor.'))
  assert.deepEqual(actions.sort(), [
    'monitor.start',
    'monitor.start',
    'monitor.stop',
    'monitor.switch',
    'monitor.switch',
    'monitor.switch',
  ])
})

test('a conference calls everybody, one is muted and held, and it ends with the last', async () => {
  const ada = await open()
  await login(ada, 'amina', 1)
  const made = await done(
    ada,
    '/v1/voice/conference',
    { name: 'Stand-up', from: numberOf(ada), participants: ['+254711000041', 'amina'], record: true },
    201,
  )
  assert.deepEqual([made.status, made.participants.length], ['initiated', 2])
  const path = `/v1/voice/conference/${made.conference_id}`
  const active = await eventually(async () => {
    const { body } = await ada.client.get(path)
    return body.participants.every(({ status }: { status: string }) => status === 'joined') ? body : null
  }, 'both to come')
  assert.equal(active.status, 'active')
  await agentIs(ada, 'amina', 'on_call')
  const [first] = active.participants
  const one = `${path}/participants/${first.participant_id}`
  const changed = await ada.client.patch(one, { muted: true, held: true })
  assert.deepEqual([changed.body.muted, changed.body.status], [true, 'held'])
  const third = await done(ada, `${path}/participants`, { endpoint: '+254711000043' })
  assert.equal(third.status, 'dialing')
  const over = await ada.client.delete(path)
  assert.equal(over.body.status, 'ended')
  await agentIs(ada, 'amina', 'available')
  assert.equal((await ada.client.post(`${path}/participants`, { endpoint: '+254711000044' })).status, 409)
  const told = (await eventsOf(ada, 'conference.*')).map(({ event }: { event: string }) => event)
  assert.deepEqual([told[0], told.includes('conference.ended')], ['conference.started', true])
})

test('a caller walks through menus into a queue, and the agent sees the way', async () => {
  const ada = await open()
  const queue = await queueOf(ada)
  const { body: prompt } = await uploadPrompt(ada, tone([440], 3_000))
  const menus = {
    main: {
      prompt: { prompt_id: prompt.prompt_id },
      options: { '1': { label: 'Account', action: { menu: 'account' } }, '9': { action: { repeat: true } } },
      input: { timeout: 20 },
    },
    account: {
      collect: { variable: 'pin', min: 4, max: 4, mask: true, next: { type: 'queue', id: queue } },
      input: { timeout: 20 },
    },
  }
  const ivr = await done(ada, '/v1/voice/ivr', { name: 'Reception', entry: 'main', menus }, 201)
  assert.deepEqual([ivr.version, ivr.status], [1, 'active'])
  await assign(ada, { ivr_id: ivr.ivr_id })
  const call = await callerOf(ada)
  await callIs(ada, call, ({ phase, ivr_id }) => phase === 'ivr' && ivr_id === ivr.ivr_id, 'the menu')
  const heard = () => simulatedCarrier.of(world.app)?.heard(call)?.samples ?? new Int16Array()
  await eventually(async () => hasHeard(heard(), 440), 'the uploaded prompt to be heard')
  await done(ada, `/v1/sandbox/voice/${call}/input`, { dtmf: '1' })
  await eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/${call}/events?limit=200`)
    return body.data.filter(({ data }: { data: { type?: string } }) => data.type === 'replied').length === 1
  }, 'the second menu')
  // Changed meanwhile: the call keeps the version that it began with.
  const changed = await ada.client.patch(`/v1/voice/ivr/${ivr.ivr_id}`, {
    entry: 'main',
    menus: { main: { options: { '1': { action: { type: 'hangup' } } } } },
  })
  assert.equal(changed.body.version, 2)
  await done(ada, `/v1/sandbox/voice/${call}/input`, { dtmf: '4321' })
  await callIs(ada, call, ({ phase, queue_id }) => phase === 'queued' && queue_id === queue, 'the caller to wait')
  await login(ada, 'amina', 1, { queues: [queue] })
  await connected(ada, call, 'amina')
  const { body: context } = await ada.client.get('/v1/voice/agent/amina/context')
  assert.deepEqual(context.call.ivr_path, [
    { menu: 'main', digit: '1', label: 'Account' },
    { menu: 'account', digit: '****', label: 'pin' },
  ])
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

test('a caller spells a name, chooses among those that have it, and reaches the agent', async () => {
  const ada = await open()
  await login(ada, 'amina', 1, { name: 'Amina Otieno' })
  const store = { name: 'Ami Store', action: { type: 'phone', number: '+254711000041' } }
  const main = { prompt: { text: 'Spell the name.' }, directory: { entries: [store] }, input: { timeout: 20 } }
  const ivr = await done(ada, '/v1/voice/ivr', { name: 'Names', entry: 'main', menus: { main } }, 201)
  await assign(ada, { ivr_id: ivr.ivr_id })
  const call = await callerOf(ada)
  await callIs(ada, call, ({ phase }) => phase === 'ivr', 'the menu')
  // 264 is A, M, I.
  await done(ada, `/v1/sandbox/voice/${call}/input`, { dtmf: '264#' })
  const offered = 'For Ami Store, press 1. For Amina Otieno, press 2.'
  await eventually(async () => (await speech.said()).includes(offered), 'both to be offered')
  await done(ada, `/v1/sandbox/voice/${call}/input`, { dtmf: '2' })
  await connected(ada, call, 'amina')
  const { body: context } = await ada.client.get('/v1/voice/agent/amina/context')
  assert.deepEqual(context.call.ivr_path, [{ menu: 'main', digit: '2', label: 'Amina Otieno' }])
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

test('an agent of the console texts, and asks for money from, only those they have to do with', async () => {
  const ada = await open()
  const queue = await queueOf(ada)
  await assign(ada, { queue_id: queue })
  const invitation = { email: `${ada.id}@example.com`, name: 'Zawadi Kamau', role: 'agent' }
  const { id, invite_url } = await done(ada, '/v1/team/members', invitation, 201)
  const joined = await world.stranger.post('/console/api/invite', {
    ...{ invitation: invite_url.split('#')[1], password: 'a long password' },
  })
  assert.equal(joined.status, 200, joined.text)
  const headers = { cookie: joined.headers['set-cookie']?.split(';')[0] ?? '', 'x-pamoja-csrf': joined.body.csrf }
  const [caller, writer] = ['+254711000021', '+254711000022']
  const words = { from: 'PAMOJA', message: 'Your order comes at three' }
  const texts = async (to: string | string[], more: object = {}) => {
    const { status, body } = await world.stranger.post('/v1/sms/send', { ...words, to, ...more }, { headers })
    return [status, body.error?.required_scope ?? null]
  }
  const asks = async (phone: string, more: object = {}) => {
    const wanted = { amount: 150, currency: 'KES', phone, ...more }
    const { status, body } = await world.stranger.post('/v1/payments/mobile/initiate', wanted, { headers })
    return [status, body.error?.required_scope ?? null]
  }
  const [noText, noMoney] = [
    [403, 'sms:write'],
    [403, 'payments:write'],
  ]
  assert.deepEqual([await texts(caller), await asks(caller)], [noText, noMoney])
  await login(ada, id, 1, { queues: [queue] })
  const call = await callerOf(ada, caller)
  await connected(ada, call, id)
  assert.deepEqual(
    [await texts(caller), await asks(caller)],
    [
      [200, null],
      [201, null],
    ],
  )
  assert.deepEqual([await texts(writer), await asks(writer)], [noText, noMoney])
  assert.deepEqual(await texts([caller]), noText)
  const tomorrow = new Date(Date.now() + 40 * 3_600_000).toISOString()
  assert.deepEqual(await texts(caller, { scheduled_at: tomorrow }), noText)
  assert.deepEqual(await texts(caller, { callback_url: 'https://example.com/' }), noText)
  const overChat = { channel: 'messenger', after: 86_400, text: { body: 'Habari' } }
  assert.deepEqual(await texts(caller, { fallback: overChat }), noText)
  assert.deepEqual(await asks(caller, { callback_url: 'https://example.com/' }), noMoney)
  const told = await world.stranger.post('/v1/sms/send', { ...words, to: writer }, { headers })
  assert.match(told.body.error.details, /their own call, live or of the last 24 hours, or of a conversation assigned/)

  await done(ada, `/v1/voice/call/${call}/hangup`, {})
  await ended(ada, call)
  assert.deepEqual(await texts(caller), [200, null])
  await later(ada, 25 * 3_600)
  assert.deepEqual([await texts(caller), await asks(caller)], [noText, noMoney])

  await done(ada, '/v1/sandbox/sms/inbound', { from: writer, to: '22003', message: 'Where is my order?' }, 201)
  const talk = await eventually(async () => (await ada.client.get('/v1/conversations')).body.data[0], 'a conversation')
  assert.deepEqual(await texts(writer), noText)
  await done(ada, `/v1/conversations/${talk.id}/assign`, { member_id: id })
  assert.deepEqual(
    [await texts(writer), await asks(writer)],
    [
      [200, null],
      [201, null],
    ],
  )

  const { key } = await done(ada, '/v1/api-keys', { name: 'One', scopes: ['sms:send', 'payments:request'] }, 201)
  const one = world.stranger.as(key)
  assert.equal((await one.post('/v1/sms/send', { ...words, to: '+254711000023' })).status, 200)
  const list = await one.post('/v1/sms/send', { ...words, to: ['+254711000023'] })
  assert.deepEqual([list.status, list.body.error.required_scope], [403, 'sms:write'])
})

test('rules decide about numbers that nothing else answers, live as simulated', async () => {
  const ada = await open()
  const queue = await queueOf(ada)
  await done(
    ada,
    '/v1/voice/routing/rules',
    {
      name: 'Kenya',
      priority: 10,
      conditions: [{ field: 'from_country', op: 'eq', value: 'KE' }],
      action: { type: 'queue', id: queue },
    },
    201,
  )
  const simulated = await done(ada, '/v1/voice/routing/simulate', { to: numberOf(ada), from: '+254711000021' })
  assert.deepEqual(simulated.destination, { type: 'queue', id: queue })
  const call = await callerOf(ada)
  await callIs(ada, call, ({ queue_id }) => queue_id === queue, 'the caller to wait')
  const stranger = await ada.client.post('/v1/sandbox/voice/inbound', { from: '+12125550123', to: numberOf(ada) })
  assert.equal(stranger.status, 404)
  assert.equal(
    (await done(ada, '/v1/voice/routing/simulate', { to: numberOf(ada), from: '+12125550123' })).destination,
    null,
  )
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

test('callers are routed by their customer record, live as simulated, and the agent sees who calls and what was said', async () => {
  const ada = await open()
  const [gold, swahili] = [await queueOf(ada, { name: 'Gold' }), await queueOf(ada, { name: 'Kiswahili' })]
  for (const [name, priority, field, value, id] of [
    ['Gold', 10, 'customer.tag', 'gold', gold],
    ['Kiswahili', 20, 'language', 'sw-KE', swahili],
  ])
    await done(
      ada,
      '/v1/voice/routing/rules',
      { name, priority, conditions: [{ field, op: 'eq', value }], action: { type: 'queue', id } },
      201,
    )
  const [asha, juma, stranger] = ['+254711000021', '+254711000022', '+254711000023'] as const
  await done(ada, '/v1/customers', { name: 'Asha Njeri', phones: [asha], tags: ['gold'] }, 201)
  await done(ada, '/v1/customers', { name: 'Juma Otieno', phones: [juma], language: 'sw' }, 201)
  const told = { from: asha, to: '22003', message: 'The shop says that it is not paid.' }
  await done(ada, '/v1/sandbox/sms/inbound', told, 201)
  await done(ada, '/v1/sms/send', { to: asha, from: 'PAMOJA', message: 'Your code is 4711.' })
  await done(ada, '/v1/payments', { amount: 150, currency: 'KES', phone: asha }, 201)
  const { token } = await login(ada, 'amina', 1, { queues: [gold] })
  const seenBy = async (phone: string, by: string = token) => {
    const path = `/v1/voice/agent/amina/context?phone=${encodeURIComponent(phone)}`
    const { customer, history, notes } = (await world.stranger.as(by).get(path)).body
    const titles = history.sms.map(({ direction, title }: Record<string, unknown>) => [direction, title])
    const amount = history.payments[0]?.amount ?? null
    const said = notes.map(({ text }: { text: string }) => text)
    return {
      name: customer.name,
      tags: customer.tags,
      titles: titles.sort(),
      amount,
      calls: history.calls.length,
      said,
    }
  }
  // Before a call the agent has nothing to do with her.
  const nothing = { name: null, tags: [], titles: [], amount: null, calls: 0, said: [] }
  assert.deepEqual(await seenBy(asha), nothing)
  // A key that reads the call centre alone reads no texts, payments and customers by it.
  const { body: narrow } = await ada.client.post('/v1/api-keys', { name: 'Board', scopes: ['callcenter:read'] })
  assert.deepEqual(await seenBy(asha, narrow.key), {
    ...nothing,
    titles: [
      ['inbound', null],
      ['outbound', null],
    ],
  })
  const calls: string[] = []
  for (const [from, id] of [
    [asha, gold],
    [juma, swahili],
  ] as const) {
    const { destination } = await done(ada, '/v1/voice/routing/simulate', { to: numberOf(ada), from })
    assert.deepEqual(destination, { type: 'queue', id })
    const call = await callerOf(ada, from)
    calls.push(call)
    await callIs(ada, call, ({ queue_id }) => queue_id === id, 'the caller to wait')
  }
  const unknown = await ada.client.post('/v1/sandbox/voice/inbound', { from: stranger, to: numberOf(ada) })
  assert.equal(unknown.status, 404)
  await connected(ada, calls[0] ?? '', 'amina')
  // A text to her may have a code in it, which is nobody else's business.
  const known = {
    ...{ name: 'Asha Njeri', tags: ['gold'], amount: 150, calls: 1 },
    titles: [
      ['inbound', told.message],
      ['outbound', null],
    ],
  }
  assert.deepEqual(await seenBy(asha), { ...known, said: [] })
  assert.equal((await seenBy(juma)).name, null)
  for (const call of calls) await done(ada, `/v1/voice/call/${call}/hangup`, {})

  // What was noted of her is for who had a call with her that day, and for who runs the call centre.
  const [call = ''] = calls
  const said = await world.stranger.as(token).patch(`/v1/voice/call/${call}`, { wrap_up: { notes: 'Is ill.' } })
  assert.equal(said.status, 200, said.text)
  const { token: colleague } = await login(ada, 'baraka', 2)
  const asBaraka = async (query: string) => {
    const reply = await world.stranger.as(colleague).get(`/v1/voice/agent/baraka/context?${query}`)
    return [reply.status, reply.body.call?.call_id ?? null, reply.body.notes?.length ?? 0]
  }
  assert.deepEqual((await seenBy(asha)).said, ['Is ill.'])
  assert.deepEqual(await asBaraka(`phone=${encodeURIComponent(asha)}`), [200, null, 0])
  assert.deepEqual(await asBaraka(`call_id=${call}`), [404, null, 0])
  assert.deepEqual(await asBaraka(`call_id=${call}&phone=${encodeURIComponent(stranger)}`), [404, null, 0])
  assert.deepEqual((await seenBy(asha, ada.key)).said, ['Is ill.'])
  await later(ada, 86_401)
  await agentIs(ada, 'amina', 'available')
  assert.deepEqual(await seenBy(asha), nothing)
})

test('a flow of the customer hands its call to a queue, and goes on afterwards', async () => {
  const ada = await open()
  const queue = await queueOf(ada, { wrap_up_seconds: 0 })
  await login(ada, 'amina', 1, { queues: [queue] })
  const actions = [
    { action: 'enqueue', queue_id: queue, data: { ticket: '5' } },
    { action: 'wait', timeout: 7_000 },
  ]
  const { call_id: call } = await done(
    ada,
    '/v1/voice/calls',
    { from: numberOf(ada), to: '+254711000020', actions },
    201,
  )
  await connected(ada, call, 'amina')
  const { body: context } = await ada.client.get('/v1/voice/agent/amina/context')
  assert.equal(context.call.custom_data.ticket, '5')
  const { body: log } = await ada.client.get('/v1/voice/queue')
  assert.equal(log.data[0].live.agents.on_call, 1)
  const leg = (await eventsOf(ada, 'call.answered')).map(
    ({ payload }: { payload: { call_id: string } }) => payload.call_id,
  )
  const other = leg.find((id: string) => id !== call)
  await done(ada, `/v1/sandbox/voice/${other}/hangup`, {})
  await agentIs(ada, 'amina', 'available')
  assert.equal((await callNow(ada, call)).status, 'answered', 'its own flow goes on')
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

test('callers hear where they stand; a queue that is paused gives nobody a call; a broken promise is told once', async () => {
  const ada = await open()
  const queue = await queueOf(ada, {
    announcements: { position: true, every_seconds: 20, text: 'Please stay with us.', language: 'en-US' },
    sla: { target_percent: 80, threshold_seconds: 20 },
  })
  await assign(ada, { queue_id: queue })
  await ada.client.patch(`/v1/voice/queue/${queue}`, { status: 'paused' })
  await login(ada, 'amina', 1, { queues: [queue] })
  const call = await callerOf(ada)
  await callIs(ada, call, ({ phase }) => phase === 'queued', 'the caller to wait')
  await later(ada, 21)
  const announced = 'Please stay with us. You are number 1 in the queue.'
  await eventually(async () => (await speech.said()).includes(announced), 'the announcement to be spoken')
  await eventually(async () => {
    const heard = simulatedCarrier.of(world.app)?.heard(call)?.samples ?? new Int16Array(0)
    const isOver = framesWith(heard, spokenHertz) > 10 && hearsNow(heard, spokenHertz) === false
    return isOver && rms(heard.subarray(-4_000)) > 200
  }, 'the music to come back after the announcement')
  await ada.client.patch(`/v1/voice/queue/${queue}`, {
    announcements: { position: true, every_seconds: 20, language: 'sw-KE' },
  })
  await later(ada, 21)
  await eventually(
    async () => (await speech.said()).includes('Wewe ni namba 1 kwenye foleni.'),
    'it to be said in Swahili',
  )
  const [breach] = await eventually(async () => {
    const told = await eventsOf(ada, 'queue.sla_breached')
    return told.length > 0 && told
  }, 'the broken promise to be told')
  assert.deepEqual(
    [breach.payload.queue_id, breach.payload.waiting, breach.payload.threshold_seconds, breach.payload.target_percent],
    [queue, 1, 20, 80],
  )
  await later(ada, 60)
  assert.equal((await eventsOf(ada, 'queue.sla_breached')).length, 1, 'not again within a quarter of an hour')
  assert.equal((await agentNow(ada, 'amina')).status, 'available', 'nobody is rung by a queue that is paused')
  await ada.client.patch(`/v1/voice/queue/${queue}`, { status: 'open' })
  await connected(ada, call, 'amina')
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

test('whoever answers a queue is told what it is for, and the recording is announced', async () => {
  const ada = await open()
  const prompts = { recording_prompt: 'This call is recorded.', agent_prompt: 'A call for the workshop.' }
  const queue = await queueOf(ada, { record: true, ...prompts })
  const { body: kept } = await ada.client.get(`/v1/voice/queue/${queue}`)
  assert.deepEqual([kept.recording_prompt, kept.agent_prompt], Object.values(prompts))
  await assign(ada, { queue_id: queue })
  await login(ada, 'amina', 1, { queues: [queue] })
  const call = await callerOf(ada)
  await connected(ada, call, 'amina')
  await eventually(async () => {
    const said = await speech.said()
    return Object.values(prompts).every((text) => said.includes(text))
  }, 'both to be said')
  await eventually(async () => {
    const heard = simulatedCarrier.of(world.app)?.heard(call)?.samples ?? new Int16Array(0)
    return framesWith(heard, spokenHertz) > 10
  }, 'the caller to hear that the call is recorded')
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

test('a caller whom nobody serves leaves a message, which is told with its recording', async () => {
  const ada = await open()
  const queue = await queueOf(ada, {
    max_wait_seconds: 30,
    overflow: { on: ['max_wait'], action: { type: 'voicemail', text: 'Speak after the tone.' } },
  })
  await assign(ada, { queue_id: queue })
  const call = await callerOf(ada)
  await callIs(ada, call, ({ phase }) => phase === 'queued', 'the caller to wait')
  await later(ada, 31)
  await eventually(async () => (await callNow(ada, call)).recording_ids.length === 1, 'the message to be recorded')
  await done(ada, `/v1/sandbox/voice/${call}/hangup`, {})
  const [told] = await eventually(async () => {
    const all = await eventsOf(ada, 'voicemail.received')
    return all.length > 0 && all
  }, 'the message to be told')
  const { voicemail_id, call_id, queue_id, from, file_url } = told.payload
  assert.deepEqual([call_id, queue_id, from], [call, queue, '+254711000021'])
  const [recording] = (await callNow(ada, call)).recording_ids
  assert.deepEqual([voicemail_id.slice(3), file_url.includes(recording)], [recording.slice(4), true])
})

test('a queue that is full takes no transfer and no caller of a flow; a customer is rung as long as was asked', async () => {
  const ada = await open()
  const queue = await queueOf(ada, { max_size: 1 })
  await assign(ada, { queue_id: queue })
  const first = await callerOf(ada)
  await callIs(ada, first, ({ phase }) => phase === 'queued', 'the caller to wait')
  const actions = [
    { action: 'enqueue', queue_id: queue },
    { action: 'wait', timeout: 600 },
  ]
  const made = await done(ada, '/v1/voice/calls', { from: numberOf(ada), to: '+254711000020', actions }, 201)
  await eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/${made.call_id}/events`)
    return body.data.some((step: object) => JSON.stringify(step).includes('QUEUE_FULL')) || null
  }, 'the flow to be told that the queue is full')
  await done(ada, `/v1/voice/call/${made.call_id}/hangup`, {})
  await login(ada, 'amina', 1)
  const { call_id: own } = await done(
    ada,
    '/v1/voice/call',
    { from: numberOf(ada), to: '+254711000020', agent_id: 'amina' },
    201,
  )
  await connected(ada, own, 'amina')
  const transfer = { call_id: own, transfer_type: 'cold', destination: queue }
  const refused = await ada.client.post('/v1/voice/transfer', transfer)
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'QUEUE_FULL'])
  assert.equal((await callNow(ada, own)).phase, 'connected')
  for (const call of [first, own]) await done(ada, `/v1/voice/call/${call}/hangup`, {})

  await agentIs(ada, 'amina', 'wrap_up')
  await done(ada, '/v1/voice/agent/status', { agent_id: 'amina', status: 'available' })
  // This phone rings, and nobody answers.
  const { call_id: unheard } = await done(
    ada,
    '/v1/voice/call',
    { from: numberOf(ada), to: '+254711000004', agent_id: 'amina', ring_timeout: 10 },
    201,
  )
  await callIs(ada, unheard, ({ status }) => status === 'ringing', 'the customer to be rung')
  await later(ada, 11)
  assert.equal((await ended(ada, unheard)).status, 'timeout')
})
