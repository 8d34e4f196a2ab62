// SPDX-License-Identifier: Apache-2.0
// Loose ends of a call centre: who hangs up, logs out or does not answer at the wrong moment leaves no money set aside, no agent
// who waits for nothing and no caller who is forgotten; and what was said in confidence is not told on.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { simulatedCarrier } from '../../src/areas/voice/trunks/sandbox-carrier.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { statement } from '../../src/platform/db.ts'
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
  numberOf,
  phoneOf,
  queueOf,
  uploadPrompt,
} from '../callcentre.ts'
import { framesWith, hearsNow } from '../hearing.ts'
import { lookInto } from '../looking.ts'
import { type Account, eventually, startWorld, tenantOf, type World } from '../world.ts'

let world: World
let sql: pg.Client

/** Calls that an account may have under way. */
const maxCalls = 8

before(async () => {
  world = await startWorld({ PAMOJA_VOICE_CALLS_PER_ACCOUNT: maxCalls })
  sql = lookInto(world)
  await sql.connect()
})
after(async () => {
  await sql?.end()
  await world?.stop()
})

/** Event as the list shows it. */
interface Told {
  payload: Readonly<Record<string, unknown>>
}

const open = () => world.account({ balance: 1_000 })

const unanswered = '+254711000004'

/** An agent whose telephone rings, and who does not answer. */
function asleep(ada: Account, more: object = {}) {
  const endpoint = { type: 'phone', number: unanswered }
  return done(ada, '/v1/voice/agent/login', { agent_id: 'asleep', endpoint, ...more })
}

/** Rings the agent who does not answer for as long as agents are rung. */
async function untilAway(ada: Account): Promise<void> {
  await eventually(async () => {
    const rung = await eventsOf(ada, 'call.ringing')
    return rung.some(({ payload }: { payload: { to: string } }) => payload.to === unanswered)
  }, 'the telephone to ring')
  await later(ada, 31)
  await agentIs(ada, 'asleep', 'away')
}

async function available(ada: Account): Promise<number> {
  return (await ada.client.get('/v1/wallet/balance')).body.available
}

test('a call whose agent does not answer is over, and nothing stays set aside for it', async () => {
  const ada = await open()
  await asleep(ada)
  const { call_id } = await done(
    ada,
    '/v1/voice/call',
    { from: numberOf(ada), to: '+254711000020', agent_id: 'asleep' },
    201,
  )
  await agentIs(ada, 'asleep', 'ringing')
  assert.ok((await available(ada)) < 1_000, 'the first minute is set aside')
  await untilAway(ada)
  const over = await ended(ada, call_id)
  assert.deepEqual([over.status, over.hangup_cause, over.cost], ['failed', 'cancelled', 0])
  await eventually(async () => (await available(ada)) === 1_000, 'everything to be free again')
})

test('a caller who asked to be called back is forgotten after a day, with the money of that call', async () => {
  const ada = await open()
  const queue = await queueOf(ada, { callback: { enabled: true, key: '1' } })
  await assign(ada, { queue_id: queue })
  const call = await callerOf(ada)
  await callIs(ada, call, ({ phase }) => phase === 'queued', 'the caller to wait')
  await done(ada, `/v1/sandbox/voice/${call}/input`, { dtmf: '1' })
  await eventually(async () => {
    await later(ada, 5)
    return (await callNow(ada, call)).ended_at
  }, 'the caller to be let go')
  const { body } = await ada.client.get(`/v1/voice/queue/${queue}`)
  const back = body.live.calls[0].call_id
  assert.notEqual(back, call)
  await later(ada, 86_401)
  assert.equal((await ended(ada, back)).status, 'failed')
  await eventually(async () => (await available(ada)) === 1_000, 'everything to be free again')
  assert.equal((await ada.client.get(`/v1/voice/queue/${queue}`)).body.live.waiting, 0)
})

test('an agent who logs out while the telephone rings leaves the caller to the next one', async () => {
  const ada = await open()
  const queue = await queueOf(ada)
  await assign(ada, { queue_id: queue })
  await asleep(ada, { queues: [queue] })
  const call = await callerOf(ada)
  await agentIs(ada, 'asleep', 'ringing')
  const busy = await ada.client.post('/v1/voice/agent/logout', { agent_id: 'asleep' })
  assert.deepEqual([busy.status, busy.body.error.code], [409, 'AGENT_BUSY'])
  await done(ada, '/v1/voice/agent/logout', { agent_id: 'asleep', force: true })
  const { body } = await ada.client.get(`/v1/voice/queue/${queue}`)
  assert.deepEqual([body.live.waiting, body.live.calls[0].call_id], [1, call])
  await login(ada, 'amina', 1, { queues: [queue] })
  await connected(ada, call, 'amina')
  assert.deepEqual((await agentNow(ada, 'asleep')).call_id, null)
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

test('the flow of a call goes on when the agent whom it connects does not answer', async () => {
  const ada = await open()
  await asleep(ada)
  const actions = [
    { action: 'connect', endpoint: [{ type: 'agent', agent_id: 'asleep' }] },
    { action: 'wait', timeout: 7_000 },
  ]
  const wanted = { from: numberOf(ada), to: '+254711000020', actions }
  const { call_id: call } = await done(ada, '/v1/voice/calls', wanted, 201)
  await agentIs(ada, 'asleep', 'ringing')
  await untilAway(ada)
  await eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/${call}/events?limit=200`)
    return body.data.some(({ data }: { data: { type?: string } }) => data.type === 'resumed')
  }, 'the flow to go on')
  assert.equal((await callNow(ada, call)).status, 'answered')
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

test('a customer who hangs up while a transfer rings costs whom it rings nothing', async () => {
  const ada = await open()
  const queue = await queueOf(ada, { wrap_up_seconds: 0 })
  await assign(ada, { queue_id: queue })
  await login(ada, 'amina', 1, { queues: [queue] })
  await asleep(ada)
  for (const transfer_type of ['warm', 'cold']) {
    const call = await callerOf(ada)
    await connected(ada, call, 'amina')
    await done(ada, '/v1/voice/transfer', { call_id: call, transfer_type, destination: 'asleep' })
    await agentIs(ada, 'asleep', 'ringing')
    if (transfer_type === 'cold') await agentIs(ada, 'amina', 'available')
    await done(ada, `/v1/sandbox/voice/${call}/hangup`, {})
    await ended(ada, call)
    await agentIs(ada, 'asleep', 'available')
    await agentIs(ada, 'amina', 'available')
  }
  await eventually(async () => {
    const { totals } = (await ada.client.get('/v1/call-center/metrics/realtime')).body
    return totals.active_calls === 0 && totals.waiting === 0
  }, 'nobody to speak or wait')
})

test('a customer who hangs up while the call of a transfer is being written has nobody rung', async () => {
  const ada = await open()
  const queue = await queueOf(ada, { wrap_up_seconds: 0 })
  await assign(ada, { queue_id: queue })
  await login(ada, 'amina', 1, { queues: [queue] })
  // A SIP address is free: no wallet is locked while its call is written.
  const uri = 'sip:asleep@127.0.0.1:9'
  await asleep(ada, { endpoint: { type: 'sip', uri } })
  // Every new call waits for the lock that this test holds at times.
  await sql.query(`
    create function voice.wait_for_test() returns trigger language plpgsql
      as 'begin perform pg_advisory_xact_lock(77); return new; end';
    create trigger wait_for_test before insert on voice.calls for each row execute function voice.wait_for_test()`)
  const waiting = `select from pg_locks join pg_database on pg_database.oid = database
    where datname = current_database() and locktype = 'advisory' and objid = 77 and not granted`
  try {
    for (const transfer_type of ['warm', 'cold']) {
      const call = await callerOf(ada)
      await connected(ada, call, 'amina')
      await sql.query('select pg_advisory_lock(77)')
      await done(ada, '/v1/voice/transfer', { call_id: call, transfer_type, destination: 'asleep' })
      await eventually(async () => (await sql.query(waiting)).rows.length > 0, 'the call of the target to be written')
      assert.ok(simulatedCarrier.of(world.app)?.hangup(call))
      await ended(ada, call)
      await agentIs(ada, 'amina', 'available')
      await sql.query('select pg_advisory_unlock(77)')
      await agentIs(ada, 'asleep', 'available')
    }
  } finally {
    await sql.query('select pg_advisory_unlock_all()')
    await sql.query('drop function voice.wait_for_test cascade')
  }
  const { rows } = await sql.query('select status, ringing_at from voice.calls where to_number = $1', [uri])
  assert.deepEqual(rows, Array(2).fill({ status: 'failed', ringing_at: null }))
})

test('a call that is handed on twice stays with the third agent, and the second writes it down', async () => {
  const ada = await open()
  const queue = await queueOf(ada)
  await assign(ada, { queue_id: queue })
  await login(ada, 'amina', 1, { queues: [queue] })
  const call = await callerOf(ada)
  await connected(ada, call, 'amina')
  await login(ada, 'baraka', 2)
  await login(ada, 'chipo', 3)
  for (const destination of ['baraka', 'chipo']) {
    await done(ada, '/v1/voice/transfer', { call_id: call, transfer_type: 'cold', destination })
    await connected(ada, call, destination)
  }
  await agentIs(ada, 'baraka', 'wrap_up')
  await eventually(async () => (await eventsOf(ada, 'call.completed')).length === 2, 'two telephones to be put down')
  // Whatever follows from that is done before the next change.
  await done(ada, '/v1/voice/agent/status', { agent_id: 'chipo', status: 'break' })
  assert.deepEqual(
    [(await agentNow(ada, 'baraka')).status, (await agentNow(ada, 'chipo')).status],
    ['wrap_up', 'on_call'],
  )
  assert.deepEqual([(await callNow(ada, call)).agent_id, (await callNow(ada, call)).status], ['chipo', 'answered'])
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

test('a call is recorded when that was asked for, and its data are told as they were given', async () => {
  const ada = await open()
  await login(ada, 'amina', 1)
  const next = await queueOf(ada)
  const wanted = { from: numberOf(ada), to: '+254711000030', agent_id: 'amina' }
  const given = { record: true, order: '77' }
  const plain = await done(ada, '/v1/voice/call', { ...wanted, custom_data: given }, 201)
  await connected(ada, plain.call_id, 'amina')
  const pause = { recording: 'pause' }
  assert.equal((await ada.client.patch(`/v1/voice/call/${plain.call_id}`, pause)).status, 409, 'it is not recorded')
  await done(ada, `/v1/voice/call/${plain.call_id}/hangup`, {})
  await agentIs(ada, 'amina', 'wrap_up')
  await done(ada, '/v1/voice/agent/status', { agent_id: 'amina', status: 'available' })

  const recorded = await done(ada, '/v1/voice/call', { ...wanted, record: true, custom_data: { order: '78' } }, 201)
  await connected(ada, recorded.call_id, 'amina')
  await eventually(
    async () => (await ada.client.patch(`/v1/voice/call/${recorded.call_id}`, pause)).status === 200,
    'it to be recorded',
  )
  const resumed = await ada.client.patch(`/v1/voice/call/${recorded.call_id}`, { recording: 'resume' })
  assert.equal(resumed.status, 200)
  await done(ada, '/v1/voice/transfer', { call_id: recorded.call_id, transfer_type: 'cold', destination: next })
  const [told] = await eventsOf(ada, 'call.transferred')
  assert.deepEqual(told.payload.custom_data, { order: '78' })
  // Whom we called waits, and is not rung anew when the next agent answers.
  await login(ada, 'baraka', 2, { queues: [next] })
  await connected(ada, recorded.call_id, 'baraka')
  assert.equal((await callNow(ada, recorded.call_id)).status, 'answered')
  const hungUp = await done(ada, `/v1/voice/call/${recorded.call_id}/hangup`, {})
  assert.equal(hungUp.recording_ids.length, 1)
  const [ready] = await eventually(async () => {
    const all = await eventsOf(ada, 'recording.ready')
    return all.length > 0 && all
  }, 'the recording to be ready')
  const { payload } = ready
  assert.deepEqual(
    [payload.recording_id, payload.call_id, payload.conference_id],
    [hungUp.recording_ids[0], recorded.call_id, null],
  )
  const over = (await eventsOf(ada, 'call.completed')).find((one: Told) => one.payload.call_id === recorded.call_id)
  assert.deepEqual(over.payload.recording_ids, hungUp.recording_ids)
})

test('the token of an agent ends with its login, and renews itself for no longer than it was made for', async () => {
  const ada = await open()
  const first = await login(ada, 'amina', 1)
  const agent = world.stranger.as(first.token)
  const renewed = await agent.post('/v1/voice/agent/login', { agent_id: 'amina' })
  assert.equal(renewed.status, 200, renewed.text)
  assert.ok(renewed.body.token_expires_at <= first.token_expires_at, renewed.text)
  const replaced = await agent.get('/v1/voice/agent/amina/context')
  assert.deepEqual([replaced.status, replaced.body.error?.code], [401, 'UNAUTHORIZED'])
  const again = world.stranger.as(renewed.body.token)
  assert.equal((await again.get('/v1/voice/agent/amina/context')).status, 200)
  await done(ada, '/v1/voice/agent/logout', { agent_id: 'amina' })
  for (const path of ['/v1/voice/queue', '/v1/call-center/reports', '/v1/voice/agent/amina/context'])
    assert.equal((await again.get(path)).status, 401, path)
  for (const [path, body] of [
    ['login', { agent_id: 'amina' }],
    ['status', { agent_id: 'amina', status: 'available' }],
  ] as const)
    assert.equal((await again.post(`/v1/voice/agent/${path}`, body)).status, 401, path)
  assert.equal((await agentNow(ada, 'amina')).status, 'offline')
})

test('what a caller types into a masked question stands in no trace, no event and before no agent', async () => {
  const ada = await open()
  const queue = await queueOf(ada)
  const menus = {
    main: {
      collect: { variable: 'pin', min: 4, max: 4, mask: true, next: { type: 'queue', id: queue } },
      input: { timeout: 20 },
    },
  }
  const { ivr_id } = await done(ada, '/v1/voice/ivr', { name: 'Reception', entry: 'main', menus }, 201)
  await assign(ada, { ivr_id })
  const call = await callerOf(ada)
  await callIs(ada, call, ({ phase }) => phase === 'ivr', 'the menu')
  await done(ada, `/v1/sandbox/voice/${call}/input`, { dtmf: '4321' })
  await callIs(ada, call, ({ queue_id }) => queue_id === queue, 'the caller to wait')
  const { text } = await ada.client.get(`/v1/voice/${call}/events?limit=200`)
  const digits = JSON.parse(text).data.filter(({ data }: { data: { type?: string } }) => data.type === 'digit')
  assert.deepEqual(
    digits.map(({ data }: { data: { digit: string } }) => data.digit),
    ['*', '*', '*', '*'],
  )
  const [queued] = await eventsOf(ada, 'call.queued')
  assert.equal(queued.payload.custom_data.pin, '****')
  await login(ada, 'amina', 1, { queues: [queue] })
  await connected(ada, call, 'amina')
  const { body: context } = await ada.client.get('/v1/voice/agent/amina/context')
  assert.equal(context.customer.attributes.pin, '****')
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

test('a report tells what the legs of agents cost beside the calls of customers', async () => {
  const ada = await open()
  const queue = await queueOf(ada)
  await assign(ada, { queue_id: queue })
  await login(ada, 'amina', 1, { queues: [queue] })
  const call = await callerOf(ada)
  await connected(ada, call, 'amina')
  await later(ada, 60)
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
  await ended(ada, call)
  await agentIs(ada, 'amina', 'wrap_up')
  const spent = await eventually(async () => {
    const { balance, available: free } = (await ada.client.get('/v1/wallet/balance')).body
    return balance < 1_000 && balance === free ? 1_000 - balance : null
  }, 'the telephone of the agent to be paid')
  await eventually(async () => {
    const { body } = await ada.client.get('/v1/call-center/reports')
    return Math.abs(body.totals.cost - spent) < 0.000_001
  }, `the report to say ${spent}`)
})

test('whoever is called hears first what was to be said, and the end of a call tells what its agent noted', async () => {
  const ada = await open()
  await login(ada, 'amina', 1)
  const text = 'This call is recorded, so that we can learn from it. '.repeat(8)
  const caller_prompt = { text, language: 'en-KE' }
  const wanted = { from: numberOf(ada), to: '+254711000030', caller_prompt }
  const { call_id } = await done(ada, '/v1/voice/call', { ...wanted, agent_id: 'amina' }, 201)
  await connected(ada, call_id, 'amina')
  const playing = await eventually(async () => {
    const { body } = await ada.client.delete(`/v1/voice/${call_id}/play`)
    return body.play_id
  }, 'the text to be said')
  assert.match(playing, /^ply_/)
  const noted = await ada.client.patch(`/v1/voice/call/${call_id}`, { wrap_up: { disposition: 'sold' } })
  assert.deepEqual([noted.status, noted.body.disposition], [200, 'sold'], noted.text)
  const told = (await eventsOf(ada, 'call.answered')).map(({ payload }: Told) => [payload.to, payload.answered_by])
  assert.deepEqual(told, [
    [phoneOf(1), 'agent'],
    ['+254711000030', 'callee'],
  ])
  await eventually(async () => {
    const { rows } = await sql.query('select disposition from voice.calls where id = $1', [uuidOf('call', call_id)])
    return rows[0].disposition === 'sold'
  }, 'the note to reach the call')
  await done(ada, `/v1/voice/call/${call_id}/hangup`, {})
  const over = await eventually(async () => {
    const all = await eventsOf(ada, 'call.completed')
    return all.find(({ payload }: Told) => payload.call_id === call_id)
  }, 'the end to be told')
  assert.equal(over.payload.disposition, 'sold')
  const begun = (await eventsOf(ada, 'call.initiated')).map(({ payload }: Told) => payload.sequence)
  assert.deepEqual(begun, [0])

  // Without an agent it is said before the rules decide who speaks.
  const queue = await queueOf(ada)
  const rule = { name: 'All', priority: 10, conditions: [], action: { type: 'queue', id: queue } }
  await done(ada, '/v1/voice/routing/rules', rule, 201)
  const short = { ...wanted, caller_prompt: { text: 'Hello.' } }
  const { call_id: routed } = await done(ada, '/v1/voice/call', short, 201)
  await callIs(ada, routed, ({ queue_id }) => queue_id === queue, 'the customer to wait')
  const { text: trace } = await ada.client.get(`/v1/voice/${routed}/events`)
  assert.match(trace, /"type":"played"/, 'it was said to its end')
  await done(ada, `/v1/voice/call/${routed}/hangup`, {})
})

test('everybody in a conference hears a tone when somebody joins, where that was asked for', async () => {
  const ada = await open()
  const wanted = { name: 'All', from: numberOf(ada), participants: ['+254711000141'], entry_tone: true }
  const { conference_id } = await done(ada, '/v1/voice/conference', wanted, 201)
  const path = `/v1/voice/conference/${conference_id}`
  const first = await eventually(async () => {
    const [one] = (await ada.client.get(path)).body.participants
    return one.status === 'joined' && one.call_id
  }, 'the first to be there')
  // Its own tone is over before the next one joins.
  await eventually(async () => beepsTo(first) > 0 && hearsNow(heardBy(first), 1_000) === false, 'its own tone')
  const before = beepsTo(first)
  await done(ada, `${path}/participants`, { endpoint: '+254711000142' })
  await eventually(async () => beepsTo(first) > before, 'the tone of the second')
  await ada.client.delete(path)
})

/** Everything that a phone of the sandbox has heard. */
const heardBy = (call: string) => simulatedCarrier.of(world.app)?.heard(call)?.samples ?? new Int16Array(0)

/** Frames in which a phone heard the tone of who joins. */
const beepsTo = (call: string) => framesWith(heardBy(call), 1_000)

test('a conference counts among the calls that an account may have under way', async () => {
  const ada = await open()
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => `+2547110001${String(40 + i)}`)
  const wanted = { name: 'All', from: numberOf(ada) }
  const many = await ada.client.post('/v1/voice/conference', { ...wanted, participants: numbers(maxCalls + 1) })
  assert.deepEqual([many.status, many.body.error?.code], [429, 'CONCURRENCY_LIMIT'], many.text)
  const made = await done(ada, '/v1/voice/conference', { ...wanted, participants: numbers(maxCalls) }, 201)
  const path = `/v1/voice/conference/${made.conference_id}`
  await eventually(
    async () =>
      (await ada.client.get(path)).body.participants.every(({ status }: { status: string }) => status === 'joined'),
    'everybody to come',
  )
  const more = await ada.client.post(`${path}/participants`, { endpoint: '+254711000160' })
  assert.deepEqual([more.status, more.body.error?.code], [429, 'CONCURRENCY_LIMIT'], more.text)
  await ada.client.delete(path)
})

test('nobody is in a conference for longer than four hours', async () => {
  const ada = await world.account({ balance: 10_000 })
  const wanted = { name: 'All', from: numberOf(ada), participants: ['+254711000141'] }
  const { conference_id } = await done(ada, '/v1/voice/conference', wanted, 201)
  const call = await eventually(async () => {
    const [one] = (await ada.client.get(`/v1/voice/conference/${conference_id}`)).body.participants
    return one.status === 'joined' && one.call_id
  }, 'somebody to be there')
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 5 * 3_600 })
  const over = await callIs(ada, call, ({ status }) => status === 'completed', 'the end')
  assert.deepEqual([over.hangup_cause, over.hangup_by, over.duration], ['max_duration', 'system', 14_400])
})

const fillQueues = statement.tenant<{ bucket: number; account: string; environment: string; count: number }, object>(
  'test.fill_queues',
  `insert into callcenter.queues (bucket, account_id, environment, id, name, status, document, created_at, updated_at)
   select $bucket, $account, $environment, gen_random_uuid(), 'Queue ' || n, 'open',
          (select document from callcenter.queues where bucket = $bucket and account_id = $account limit 1), now(), now()
     from generate_series(1, $count::int) n`,
)

test('an account has as many queues as a call is decided with, and no more', async () => {
  const ada = await open()
  await queueOf(ada)
  await world.app.db.query(fillQueues, { ...tenantOf(ada), count: 1_999 })
  const more = await ada.client.post('/v1/voice/queue', { name: 'One more' })
  assert.deepEqual([more.status, more.body.error?.code], [409, 'CONFLICT'], more.text)
})

test('callers who withhold their numbers are not taken for each other: no history, no notes, no callback', async () => {
  const ada = await open()
  const withheld = '+10000000000'
  const queue = await queueOf(ada, { wrap_up_seconds: 0, callback: { enabled: true, key: '1' } })
  await assign(ada, { queue_id: queue })
  const { token } = await login(ada, 'amina', 1, { queues: [queue] })
  const first = await callerOf(ada, withheld)
  await connected(ada, first, 'amina')
  await done(ada, `/v1/voice/call/${first}/hangup`, {})
  await ended(ada, first)
  const noted = await ada.client.patch(`/v1/voice/call/${first}`, { notes: 'told us about an illness' })
  assert.equal(noted.status, 200, JSON.stringify(noted.body))
  const second = await callerOf(ada, withheld)
  await connected(ada, second, 'amina')
  const agent = world.stranger.as(token)
  const { body } = await agent.get('/v1/voice/agent/amina/context')
  assert.deepEqual([body.call.call_id, body.customer.phone], [second, withheld])
  assert.deepEqual([body.history.calls, body.notes], [[], []])
  const asked = await agent.get(`/v1/voice/agent/amina/context?phone=${encodeURIComponent(withheld)}`)
  assert.deepEqual([asked.body.history.calls, asked.body.notes], [[], []])

  // Amina is busy: the third waits, and a key that would have them called back leaves them where they are.
  const third = await callerOf(ada, withheld)
  await callIs(ada, third, ({ phase }) => phase === 'queued', 'the third to wait')
  await done(ada, `/v1/sandbox/voice/${third}/input`, { dtmf: '1' })
  await done(ada, `/v1/voice/call/${second}/hangup`, {})
  const spoken = await connected(ada, third, 'amina')
  assert.equal(spoken.direction, 'inbound')
  await ada.client.post('/v1/voice/routing/rules', {
    ...{ name: 'United States', priority: 1, action: { type: 'queue', id: queue } },
    conditions: [{ field: 'from_country', op: 'eq', value: 'US' }],
  })
  const simulated = await done(ada, '/v1/voice/routing/simulate', { to: '+254700999000', from: withheld })
  assert.equal(simulated.destination, null, 'and their number is of no country')
})

/** Menus of an IVR that plays a prompt and hangs up. */
const playing = (prompt: object) => ({ main: { prompt, options: { '1': { action: { type: 'hangup' } } } } })

test('a prompt that is deleted while a menu which plays it is being saved is played by none', async () => {
  const ada = await open()
  const { body: prompt } = await uploadPrompt(ada, new Int16Array(800).fill(1_000))
  const menus = playing({ text: 'One.' })
  const { ivr_id } = await done(ada, '/v1/voice/ivr', { name: 'Reception', entry: 'main', menus }, 201)
  const { account } = tenantOf(ada)
  await sql.query('begin')
  try {
    await sql.query('select from callcenter.switchboards where account_id = $1 for update', [account])
    const saving = ada.client.patch(`/v1/voice/ivr/${ivr_id}`, { menus: playing({ prompt_id: prompt.prompt_id }) })
    const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await eventually(async () => (await sql.query(waits)).rows.length > 0, 'the menu to be written')
    await sql.query('delete from callcenter.prompts where account_id = $1', [account])
    await sql.query('commit')
    assert.equal((await saving).status, 422)
  } finally {
    await sql.query('rollback')
  }
  assert.equal((await ada.client.get(`/v1/voice/ivr/${ivr_id}`)).body.version, 1)
})

test('the IVRs of an account have a size that every call can be decided with, and so have its prompts', async () => {
  const ada = await open()
  const wanted = (name: string) => ({ name, entry: 'main', menus: playing({ text: 'One.' }) })
  const { ivr_id } = await done(ada, '/v1/voice/ivr', wanted('Reception'), 201)
  await sql.query(
    `update callcenter.ivrs set document = document || jsonb_build_object('variables', jsonb_build_object('x', repeat('x', $2)))
      where account_id = $1`,
    [tenantOf(ada).account, 8 * 1_024 * 1_024],
  )
  const refused = await ada.client.post('/v1/voice/ivr', wanted('Another'))
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'CONFLICT'], JSON.stringify(refused.body))
  assert.equal((await ada.client.patch(`/v1/voice/ivr/${ivr_id}`, { variables: { x: 'x' } })).status, 200)
  assert.equal((await ada.client.post('/v1/voice/ivr', wanted('Another'))).status, 201)

  const sound = new Int16Array(800).fill(1_000)
  const { body: prompt } = await uploadPrompt(ada, sound)
  await sql.query('update callcenter.prompts set bytes = $2 where account_id = $1', [tenantOf(ada).account, 2 ** 30])
  assert.deepEqual((await uploadPrompt(ada, sound)).status, 409)
  assert.equal((await ada.client.delete(`/v1/voice/prompts/${prompt.prompt_id}`)).status, 204)
  assert.equal((await uploadPrompt(ada, sound)).status, 201)
})
