// SPDX-License-Identifier: Apache-2.0
// Agents at desks: a websocket and WebRTC, as their browsers have them. Callers are phones of the sandbox; who hears whom is told
// by the tone that each of them sends.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { WebSocket } from 'ws'
import { callcenter } from '../../src/areas/callcenter/area.ts'
import { simulatedCarrier } from '../../src/areas/voice/trunks/sandbox-carrier.ts'
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
  queueOf,
} from '../callcentre.ts'
import { TestDesk } from '../desk.ts'
import { hearsNow, hum } from '../hearing.ts'
import { type Account, doChores, eventually, startWorld, tenantOf, type World } from '../world.ts'

let world: World
const desks: TestDesk[] = []

before(async () => {
  world = await startWorld({ PAMOJA_VOICE_LATENESS_MS: 60_000 })
})
after(async () => {
  for (const desk of desks) if (!desk.closed) await desk.die()
  await world?.stop()
})

const open = () => world.account({ balance: 1_000 })
const carrier = () => simulatedCarrier.of(world.app) ?? assert.fail('no carrier')

/** Logs an agent in at a desk, as the default is. */
async function atDesk(ada: Account, agent: string, more: object = {}, hertz = 440): Promise<TestDesk> {
  const { token } = await done(ada, '/v1/voice/agent/login', { agent_id: agent, ...more })
  return deskOf(token, hertz)
}

async function deskOf(token: string, hertz = 440): Promise<TestDesk> {
  const desk = await TestDesk.open(world.node, token, { hertz })
  desks.push(desk)
  return desk
}

async function waitingQueue(ada: Account, more: object = {}): Promise<string> {
  const queue = await queueOf(ada, more)
  await assign(ada, { queue_id: queue })
  return queue
}

/** Waits until a phone hears a tone, or hears it no more. */
function phoneHears(call: string, hertz: number, isHeard = true) {
  return eventually(
    async () => {
      const samples = carrier().heard(call)?.samples ?? new Int16Array(0)
      return hearsNow(samples, hertz) === isHeard
    },
    `the phone ${isHeard ? 'to hear' : 'not to hear'} ${hertz} Hz`,
  )
}

async function answeredAt(ada: Account, desk: TestDesk, agent: string, from?: string): Promise<string> {
  const call = await callerOf(ada, from)
  const offer = await desk.says('call.offer', ({ call_id }) => call_id === call)
  assert.equal(offer.call_id, call)
  await desk.done({ type: 'call.accept' })
  await connected(ada, call, agent)
  return call
}

test('an agent at a desk is rung once the audio is up, answers, holds, mutes, sends keys, hangs up and wraps up', async () => {
  const ada = await open()
  const queue = await waitingQueue(ada, { record: true })
  const session = await done(ada, '/v1/voice/agent/login', { agent_id: 'amina', queues: [queue] })
  assert.equal(session.endpoint.type, 'webrtc')
  assert.match(session.desk.ws_url, /^wss:\/\/.*\/v1\/voice\/desk$/)
  const call = await callerOf(ada)
  await callIs(ada, call, ({ phase }) => phase === 'queued', 'the caller to wait')
  assert.equal((await agentNow(ada, 'amina')).status, 'available', 'nobody is rung without a desk')
  const desk = await deskOf(session.token)
  const offer = await desk.says('call.offer')
  assert.deepEqual(
    [offer.call_id, offer.from, offer.queue, offer.context.customer.phone],
    [call, '+254711000021', { queue_id: queue, name: 'Support' }, '+254711000021'],
  )
  assert.ok(Date.parse(offer.expires_at) > 0)
  await desk.says('agent.status', ({ status }) => status === 'ringing')
  await desk.says('call.state', ({ state }) => state === 'ringing')
  await desk.done({ type: 'call.accept' })
  await connected(ada, call, 'amina')
  await desk.says('call.state', ({ state, call_id }) => state === 'connected' && call_id === call)
  assert.ok(carrier().say(call, hum(1_000)))
  await desk.hears(1_000)
  await phoneHears(call, 440)

  await desk.done({ type: 'call.mute', mute: true })
  await desk.says('call.state', ({ muted }) => muted)
  await phoneHears(call, 440, false)
  await desk.done({ type: 'call.mute', mute: false })
  await phoneHears(call, 440)
  await desk.done({ type: 'call.hold', hold: true })
  await desk.says('call.state', ({ state }) => state === 'on_hold')
  await desk.hears(1_000, false)
  await desk.done({ type: 'call.hold', hold: false })
  await desk.hears(1_000)
  await desk.done({ type: 'call.dtmf', digits: '42#' })
  await eventually(async () => carrier().heard(call)?.digits === '42#', 'the keys')

  await desk.done({ type: 'status.set', status: 'break', reason: 'lunch' })
  await desk.says('agent.status', ({ next_status }) => next_status === 'break')
  await desk.done({ type: 'call.hangup' })
  const over = await ended(ada, call)
  assert.deepEqual([over.hangup_by, over.recording_ids.length], ['agent', 1])
  await desk.says('call.state', ({ state }) => state === 'none')
  await desk.says('agent.status', ({ status }) => status === 'wrap_up')
  const noted = await desk.done({ type: 'wrap_up', disposition: 'solved', notes: 'Asked for her balance.' })
  assert.deepEqual([noted.call_id, noted.disposition], [call, 'solved'])
  await desk.done({ type: 'status.set', status: 'available' })
  const live = await desk.says('queue.live', ({ queues }) => queues[0]?.agents_available === 1)
  assert.deepEqual([live.queues[0].queue_id, live.queues[0].waiting], [queue, 0])
  // The same track carries the next call.
  const next = await answeredAt(ada, desk, 'amina', '+254711000022')
  assert.ok(carrier().say(next, hum(700)))
  await desk.hears(700)
  await phoneHears(next, 440)
  await done(ada, `/v1/voice/call/${next}/hangup`, {})
  await desk.says('call.state', ({ state }) => state === 'none')
})

test('a desk rejects a call, asks a colleague before it hands one over, and a supervisor at a desk whispers', async () => {
  const ada = await open()
  const queue = await waitingQueue(ada, { wrap_up_seconds: 0 })
  const amina = await atDesk(ada, 'amina', { queues: [queue] })
  const call = await callerOf(ada)
  await amina.says('call.offer')
  await amina.done({ type: 'call.reject' })
  assert.equal((await agentIs(ada, 'amina', 'away')).reason, 'rejected')
  await amina.says('call.state', ({ state }) => state === 'none')
  await amina.done({ type: 'status.set', status: 'available' })
  await amina.says('call.state', ({ state }) => state === 'ringing')
  await amina.done({ type: 'call.accept' })
  await connected(ada, call, 'amina')
  assert.ok(carrier().say(call, hum(1_000)))

  // Whispering: the agent hears the supervisor, the customer does not; listening: neither does.
  const boss = await atDesk(ada, 'boss', {}, 1_500)
  const monitor = await done(ada, '/v1/voice/monitor', { call_id: call, mode: 'listen', supervisor_id: 'boss' }, 201)
  await boss.says('call.offer')
  await boss.done({ type: 'call.accept' })
  await agentIs(ada, 'boss', 'on_call')
  await boss.hears(1_000)
  await boss.hears(440)
  await amina.hears(1_500, false)
  await ada.client.patch(`/v1/voice/monitor/${monitor.monitor_id}`, { mode: 'whisper' })
  await amina.hears(1_500)
  await phoneHears(call, 1_500, false)
  await ada.client.patch(`/v1/voice/monitor/${monitor.monitor_id}`, { mode: 'barge' })
  await phoneHears(call, 1_500)
  await boss.done({ type: 'call.hangup' })
  await agentIs(ada, 'boss', 'available')
  await amina.hears(1_500, false)

  const baraka = await atDesk(ada, 'baraka', {}, 2_000)
  const begun = await amina.done({ type: 'transfer.start', destination: 'baraka', transfer_type: 'warm' })
  assert.equal(begun.status, 'ringing')
  await baraka.says('call.offer')
  await baraka.done({ type: 'call.accept' })
  const consulting = await amina.says('transfer.state', ({ transfer }) => transfer?.status === 'consulting')
  assert.equal(consulting.transfer.transfer_id, begun.transfer_id)
  await amina.hears(2_000)
  await phoneHears(call, 2_000, false)
  await amina.done({ type: 'transfer.complete' })
  await connected(ada, call, 'baraka')
  await phoneHears(call, 2_000)
  await baraka.hears(1_000)
  await amina.says('agent.status', ({ status }) => status === 'available')
  await amina.says('transfer.state', ({ transfer }) => transfer === null)
  const refused = await amina.ask({ type: 'transfer.cancel' })
  assert.deepEqual([refused.type, refused.code], ['error', 'NOT_FOUND'])
  await baraka.done({ type: 'call.hangup' })
  await ended(ada, call)
})

test('a browser that dies in a call may come back to it; one that does not gives its caller to the next agent', async () => {
  const ada = await open()
  const queue = await waitingQueue(ada)
  const session = await done(ada, '/v1/voice/agent/login', { agent_id: 'amina', queues: [queue] })
  const first = await deskOf(session.token)
  const call = await answeredAt(ada, first, 'amina')
  assert.ok(carrier().say(call, hum(1_000)))
  await first.hears(1_000)
  await first.die()
  await callIs(ada, call, ({ phase }) => phase === 'on_hold', 'the customer to hear music')
  assert.equal((await agentNow(ada, 'amina')).status, 'on_call')
  const second = await deskOf(session.token)
  await second.says('call.state', ({ state }) => state === 'connected')
  await second.hears(1_000)
  await phoneHears(call, 440)
  assert.equal((await callNow(ada, call)).phase, 'connected')

  await second.die()
  await callIs(ada, call, ({ phase }) => phase === 'on_hold', 'the customer to hear music again')
  const { waiting } = (await ada.client.get(`/v1/voice/queue/${queue}`)).body.live
  assert.equal(waiting, 0)
  await later(ada, 31)
  await agentIs(ada, 'amina', 'offline')
  await callIs(ada, call, ({ phase }) => phase === 'queued', 'the caller to wait again')
  const live = (await ada.client.get(`/v1/voice/queue/${queue}`)).body.live
  assert.ok(live.calls[0].call_id === call && live.calls[0].waited_seconds >= 31, 'with the time waited before')
  const out = await eventsOf(ada, 'agent.logged_out')
  assert.equal(out.at(-1).payload.reason, 'desk_lost')
  await login(ada, 'baraka', 3, { queues: [queue] })
  await connected(ada, call, 'baraka')
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

test('calls whose flows name one conversation speak with each other, and go on when it ends', async () => {
  const ada = await open()
  const talk = (to: string, more: object) =>
    done(
      ada,
      '/v1/voice/calls',
      {
        from: '+254700000000',
        to,
        actions: [
          { action: 'conversation', name: 'stand-up', ...more },
          { action: 'wait', timeout: 600 },
        ],
      },
      201,
    )
  const early = (await talk('+254711000031', { startOnEnter: false })).call_id
  await callIs(ada, early, ({ phase }) => phase === 'on_hold', 'the first to wait for who begins')
  const host = (await talk('+254711000032', { endOnExit: true, record: true })).call_id
  const guest = (await talk('+254711000033', { mute: true })).call_id
  for (const call of [host, guest]) await callIs(ada, call, ({ phase }) => phase === 'conference', 'the others to join')
  await eventually(async () => (await eventsOf(ada, 'conference.participant_joined')).length === 3, 'all three to join')
  assert.ok(carrier().say(early, hum(700)) && carrier().say(host, hum(1_000)))
  assert.ok(carrier().say(guest, hum(1_500)))
  await phoneHears(early, 1_000)
  await phoneHears(host, 700)
  await phoneHears(guest, 700)
  await phoneHears(host, 1_500, false)
  await done(ada, `/v1/sandbox/voice/${host}/hangup`, {})
  for (const call of [early, guest]) {
    const now = await callIs(ada, call, ({ phase }) => phase === 'flow', 'the flow to go on')
    assert.deepEqual([now.status, now.conference_id], ['answered', null])
  }
  assert.equal((await eventsOf(ada, 'conference.ended')).length, 1)
  for (const call of [early, guest]) await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

const loseNode = statement.tenant<{ bucket: number; account: string }, object>(
  'test.lose_desk_node',
  `update platform.sessions set node = gen_random_uuid(), created_at = now() - interval '1 minute'
    where bucket = $bucket and account_id = $account and kind = 'desk'`,
)

test('a desk is lost while it rings, with its node, or to a desk that was opened later', async () => {
  const ada = await open()
  const queue = await waitingQueue(ada)
  const { token } = await done(ada, '/v1/voice/agent/login', { agent_id: 'amina', queues: [queue] })
  const first = await deskOf(token)
  const second = await deskOf(token)
  assert.deepEqual(await first.isClosed(), { code: 4004, reason: 'a desk was opened elsewhere' })
  const call = await callerOf(ada)
  await second.says('call.offer')
  await second.die()
  assert.equal((await agentIs(ada, 'amina', 'away')).reason, 'desk_lost')
  await callIs(ada, call, ({ phase }) => phase === 'queued', 'the caller to wait again')
  const third = await deskOf(token)
  await third.says('call.offer')
  await third.done({ type: 'call.accept' })
  await connected(ada, call, 'amina')
  await world.app.db.query(loseNode, tenantOf(ada))
  await doChores(world.app, callcenter.chores)
  await callIs(ada, call, ({ phase }) => phase === 'on_hold', 'the customer of a dead node to hear music')
  await done(ada, `/v1/voice/call/${call}/hangup`, {})
  await later(ada, 31)
  await agentIs(ada, 'amina', 'offline')
  await third.isClosed()
})

test('a desk takes the token of an agent who is logged in, and few and small messages', async () => {
  const ada = await open()
  const { token } = await done(ada, '/v1/voice/agent/login', { agent_id: 'amina' })
  const refusedWith = (path: string) =>
    new Promise((resolve) => {
      const line = new WebSocket(`${world.node.url.replace(/^http/, 'ws')}${path}`, { rejectUnauthorized: false })
      line.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode))
      line.on('close', (code, reason) => resolve([code, String(reason)]))
      line.on('error', () => undefined)
    })
  assert.equal(await refusedWith('/v1/voice/desk'), 401)
  assert.equal(await refusedWith('/v1/voice/desk?token=nonsense'), 401)
  assert.equal(await refusedWith(`/v1/voice/nothing?token=${token}`), 404)
  assert.deepEqual(await refusedWith(`/v1/voice/desk?token=${ada.key}`), [4403, 'FORBIDDEN'])

  // An agent with a telephone has a desk without audio.
  await login(ada, 'ringer', 4)
  const { token: ringer } = await done(ada, '/v1/voice/agent/login', { agent_id: 'ringer' })
  const plain = await TestDesk.open(world.node, ringer, { isAudible: false })
  await plain.says('agent.status', ({ status, agent_id }) => status === 'available' && agent_id === 'ringer')
  const noCall = await plain.ask({ type: 'call.accept' })
  assert.deepEqual([noCall.type, noCall.code], ['error', 'CALL_NOT_ACTIVE'])
  const wrongs = [
    [{ type: 'call.dance' }, 'INVALID_REQUEST'],
    [{ type: 'call.mute', mute: 'loudly' }, 'VALIDATION_ERROR'],
    [{ type: 'webrtc.answer', sdp: 'v=0' }, 'INVALID_REQUEST'],
    [{ type: 'call.hold', hold: true }, 'CALL_NOT_ACTIVE'],
    [{ type: 'transfer.start', destination: 'nobody' }, 'CALL_NOT_ACTIVE'],
    [{ type: 'status.set', status: 'on_call' }, 'VALIDATION_ERROR'],
  ] as const
  for (const [message, code] of wrongs) assert.equal((await plain.ask(message)).code, code, JSON.stringify(message))
  plain.raw('{')
  await plain.says('error', (message) => message.code === 'INVALID_REQUEST' && message.id === undefined)
  plain.raw(Buffer.from('{}'))
  assert.equal((await plain.ask({ type: 'ping' })).type, 'pong')
  await done(ada, '/v1/voice/agent/logout', { agent_id: 'ringer' })
  assert.deepEqual(await plain.isClosed(), { code: 4001, reason: 'logged out' })
  assert.deepEqual(await refusedWith(`/v1/voice/desk?token=${ringer}`), [4409, 'AGENT_NOT_LOGGED_IN'])

  const large = await TestDesk.open(world.node, token, { isAudible: false })
  large.raw(JSON.stringify({ type: 'ping', padding: 'x'.repeat(70_000) }))
  assert.equal((await large.isClosed()).code, 1009)
  const many = await TestDesk.open(world.node, token, { isAudible: false })
  for (let i = 0; i < 200; i++) many.raw('{"type":"ping"}')
  assert.deepEqual(await many.isClosed(), { code: 1008, reason: 'too many messages' })
})

test('the page of a desk asks nothing of anywhere else, and runs no script of its own text', async () => {
  const ada = await open()
  const page = await ada.client.get('/desk')
  assert.equal(page.status, 200)
  const policy = page.headers['content-security-policy'] ?? ''
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/)
  assert.doesNotMatch(policy, /unsafe/)
  assert.doesNotMatch(page.text, /<script(?![^>]* src=)|style="| on\w+="/)
  for (const path of ['/desk/desk.js', '/desk/desk.css']) assert.equal((await ada.client.get(path)).status, 200)
})
