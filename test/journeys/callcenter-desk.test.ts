// SPDX-License-Identifier: Apache-2.0
// Agents at desks: a websocket and WebRTC, as their browsers have them. Callers are phones of the sandbox; who hears whom is told
// by the tone that each of them sends.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { WebSocket } from 'ws'
import { findAgent } from '../../src/areas/callcenter/agents/store.ts'
import { callcenter } from '../../src/areas/callcenter/area.ts'
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
  queueOf,
} from '../callcentre.ts'
import { accessibilityProblems, buildConsole, entriesOf, openBrowser, withoutChromium } from '../chromium.ts'
import { TestDesk } from '../desk.ts'
import { endless, hearsNow, hum } from '../hearing.ts'
import { browserHears, fakeAudio, memberIn, shot } from '../speaking-browser.ts'
import { type SpeechProgram, speechProgram } from '../speech-program.ts'
import { story } from '../story.ts'
import { type Account, doChores, eventually, startWorld, tenantOf, type World } from '../world.ts'

let world: World
let speech: SpeechProgram
const desks: TestDesk[] = []

before(async () => {
  speech = await speechProgram()
  world = await startWorld({ PAMOJA_SPEECH_PROGRAM: speech.path })
})
// A desk that is left open speaks on, and is paid for in every test that follows.
afterEach(async () => {
  for (const desk of desks.splice(0)) if (!desk.closed) await desk.die()
})
after(async () => {
  await world?.stop()
  await speech?.remove()
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
  assert.ok(carrier().say(call, hum(1_000), endless))
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
  assert.ok(carrier().say(next, hum(700), endless))
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
  assert.ok(carrier().say(call, hum(1_000), endless))

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

  // Two agents speak with the customer: who whispers then is heard by both of them, and still not by the customer.
  const merge = async (has: TestDesk, joins: TestDesk, destination: string) => {
    const { transfer_id } = await has.done({ type: 'transfer.start', destination, transfer_type: 'warm' })
    await joins.says('call.state', ({ state }) => state === 'ringing')
    await joins.done({ type: 'call.accept' })
    await has.says('transfer.state', ({ transfer }) => transfer?.status === 'consulting')
    await has.done({ type: 'transfer.merge', transfer_id })
    await joins.hears(1_000)
  }
  await merge(baraka, amina, 'amina')
  await done(ada, '/v1/voice/monitor', { call_id: call, mode: 'whisper', supervisor_id: 'boss' }, 201)
  await boss.says('call.state', ({ state }) => state === 'ringing')
  await boss.done({ type: 'call.accept' })
  for (const desk of [amina, baraka]) await desk.hears(1_500)
  await phoneHears(call, 1_500, false)
  await boss.done({ type: 'call.hangup' })

  // One of them hands over to a phone that nobody answers: the other speaks on, and the caller waits nowhere.
  await login(ada, 'asleep', 4, { endpoint: { type: 'phone', number: '+254711000004' } })
  await baraka.done({ type: 'transfer.start', destination: 'asleep', transfer_type: 'cold' })
  await agentIs(ada, 'baraka', 'wrap_up')
  await later(ada, 31)
  await agentIs(ada, 'baraka', 'available')
  await agentIs(ada, 'asleep', 'away')
  const speaksOn = () =>
    callIs(ada, call, ({ phase, agent_id }) => phase === 'connected' && agent_id === 'amina', 'amina to speak on')
  await speaksOn()
  await amina.hears(1_000)
  await phoneHears(call, 440)

  // One of them is cut off: the call is that of the other.
  await merge(amina, baraka, 'baraka')
  await baraka.die()
  await eventually(async () => {
    const [row] = await world.app.db.query(findAgent, { ...tenantOf(ada), agent: 'baraka' })
    return row?.desk_lost_at
  }, 'the desk to be lost')
  await later(ada, 31)
  await agentIs(ada, 'baraka', 'offline')
  await speaksOn()
  await amina.hears(1_000)
  await amina.done({ type: 'call.hangup' })
  await ended(ada, call)
})

test('an agent who hangs up while a colleague is rung hands the call over, and it waits in its queue again if nobody answers', async () => {
  const ada = await open()
  const queue = await waitingQueue(ada, { wrap_up_seconds: 0 })
  const amina = await atDesk(ada, 'amina', { queues: [queue] })
  const baraka = await atDesk(ada, 'baraka', {}, 700)
  const call = await answeredAt(ada, amina, 'amina')
  assert.ok(carrier().say(call, hum(1_000), endless))
  await amina.done({ type: 'transfer.start', destination: 'baraka', transfer_type: 'warm' })
  const { from } = await baraka.says('call.offer')
  assert.equal(from, '+254711000021')
  await baraka.says('transfer.state', ({ transfer }) => transfer?.from_agent === 'amina')
  await amina.done({ type: 'call.hangup' })
  await agentIs(ada, 'amina', 'available')
  await baraka.done({ type: 'call.accept' })
  await connected(ada, call, 'baraka')
  await baraka.hears(1_000)
  await phoneHears(call, 700)

  await login(ada, 'asleep', 4, { endpoint: { type: 'phone', number: '+254711000004' } })
  const unanswered = { call_id: call, transfer_type: 'warm', destination: 'asleep', timeout: 60 }
  await done(ada, '/v1/voice/transfer', unanswered)
  await agentIs(ada, 'asleep', 'ringing')
  await baraka.done({ type: 'call.hangup' })
  await agentIs(ada, 'baraka', 'wrap_up')
  await later(ada, 62)
  const offers = () => amina.messages.filter(({ type }) => type === 'call.offer').length
  await eventually(async () => offers() === 2, 'the caller to be offered to amina again')
  assert.equal((await agentNow(ada, 'asleep')).status, 'away')
  await amina.done({ type: 'call.accept' })
  await connected(ada, call, 'amina')
  await amina.hears(1_000)

  // Somebody outside is asked and speaks with both; the agent leaves, and they speak on.
  const asked = { type: 'transfer.start', destination: '+254711000030', transfer_type: 'warm' }
  const { transfer_id } = await amina.done(asked)
  await amina.says('transfer.state', ({ transfer }) => transfer?.status === 'consulting')
  await amina.done({ type: 'transfer.merge', transfer_id })
  await amina.hears(1_000)
  await amina.done({ type: 'call.hangup' })
  await agentIs(ada, 'amina', 'available')
  await callIs(ada, call, ({ agent_id }) => agent_id === null, 'the call to be without an agent')
  assert.equal((await callNow(ada, call)).status, 'answered')
  await done(ada, `/v1/sandbox/voice/${call}/hangup`, {})
  await ended(ada, call)
})

test('a browser that dies in a call may come back to it; one that does not gives its caller to the next agent', async () => {
  const ada = await open()
  const queue = await waitingQueue(ada)
  const session = await done(ada, '/v1/voice/agent/login', { agent_id: 'amina', queues: [queue] })
  const first = await deskOf(session.token)
  const call = await answeredAt(ada, first, 'amina')
  assert.ok(carrier().say(call, hum(1_000), endless))
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
  assert.ok(carrier().say(early, hum(700), endless) && carrier().say(host, hum(1_000), endless))
  assert.ok(carrier().say(guest, hum(1_500), endless))
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

/** Moves the last request of a member's sessions into the past. */
const ageSession = statement.home<{ member: string }, object>(
  'test.age_session',
  `update accounts.sessions set seen_at = seen_at - interval '11 hours' where member_id = $member`,
)

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

describe('members in the console', { skip: withoutChromium() }, () => {
  const test = story()
  let browser: Browser
  let ada: Account
  const complaints: string[] = []
  const number = '+254711000023'

  before(async () => {
    buildConsole()
    browser = await openBrowser(fakeAudio)
    ada = await open()
  })
  after(() => browser?.close())

  const memberOf = (role: string, name: string, hertz: number) =>
    memberIn(browser, ada, { role, name, hertz }, complaints)
  /** The API as a page of the member has it. */
  const asMember = async (page: Page) => {
    const [cookie] = await page.context().cookies(world.node.url)
    const { csrf } = Object(await page.evaluate("fetch('/console/api/session').then((answer) => answer.json())"))
    const headers = { cookie: `${cookie?.name}=${cookie?.value}`, 'x-pamoja-csrf': csrf }
    return {
      get: (path: string) => world.stranger.get(path, { headers }),
      post: (path: string, body: object) => world.stranger.post(path, body, { headers }),
    }
  }
  const at = (path: string): string => `${world.node.url}/console/${path}`
  const dialog = (page: Page, name: string) => page.getByRole('dialog', { name })
  const h1 = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor()
  const press = (page: Page, name: string) => page.getByRole('button', { name }).click()

  /** Loudspeaker that is chosen at the desk, and what rings. */
  const devices: string[] = []
  /** Waits until the agent's page plays by a device. */
  const playsBy = async (device = '') => {
    assert.notEqual(device, '')
    const isUsed = async () =>
      String(await agent.evaluate('heard.sinks'))
        .split(',')
        .includes(device)
    await eventually(isUsed, 'sound by the chosen device')
  }
  /** Notes that another member has signed in, in another tab of the same browser. */
  const signInElsewhere = async (page: Page) => {
    await page.evaluate("addEventListener('storage', () => { heard.told = true })")
    const other = await page.context().newPage()
    await other.goto(`${world.node.url}/v1/nothing`)
    await other.evaluate("localStorage.setItem('pamoja-member', 'mem_other')")
    await other.close()
  }

  let supervisor: Page
  let agent: Page
  let agentId = ''
  let call = ''
  /** Address of the menu's page. */
  let menu = ''

  test('a supervisor makes a queue, hours, a menu whose fault stands at its step, and a rule, and tries a call', async () => {
    supervisor = await memberOf('supervisor', 'Sara Supervisor', hertz.supervisor)
    await supervisor.goto(at('queues'))
    await press(supervisor, 'Create queue')
    await dialog(supervisor, 'Create queue').getByLabel('Name').fill('Orders')
    await dialog(supervisor, 'Create queue').getByRole('button', { name: 'Create' }).click()
    await h1(supervisor, 'Orders')
    const queue = supervisor.url().split('/').at(-1) ?? ''
    // Time to note an outcome, on a slow machine too.
    await ada.client.patch(`/v1/voice/queue/${queue}`, { wrap_up_seconds: 600 })
    await assign(ada, { routing: true })

    await supervisor.goto(at('hours'))
    await press(supervisor, 'Set business hours')
    const hours = dialog(supervisor, 'Set business hours')
    await hours.getByLabel('Name').fill('Office')
    await hours.getByLabel('Time zone').fill('Africa/Nairobi')
    await hours.getByLabel('Monday').fill('8-17')
    await hours.getByRole('button', { name: 'Save' }).click()
    await hours.getByText(/must be a time such as 08:00/i).waitFor()
    await hours.getByLabel('Monday').fill('08:00-12:30, 14:00-17:00')
    await hours.getByRole('button', { name: 'Save' }).click()
    await h1(supervisor, 'Office')
    await supervisor.getByText('08:00-12:30, 14:00-17:00').waitFor()

    await supervisor.goto(at('voice-menus'))
    await press(supervisor, 'Create voice menu')
    const form = dialog(supervisor, 'Create voice menu')
    await form.getByLabel('Name').fill('Reception')
    await form.getByLabel('Prompt').fill('For orders press one.')
    await form.getByLabel('Key 1 leads to').selectOption({ label: 'Queue Orders' })
    await form.getByRole('button', { name: 'Create' }).click()
    await h1(supervisor, 'Reception')
    await supervisor.getByLabel('Name of another step').fill('later')
    await press(supervisor, 'Add a step')
    await press(supervisor, 'Save menu')
    const step = supervisor.getByRole('region', { name: 'later' })
    await step.getByText('Must not have fewer than 1 characters.').waitFor()
    await shot(supervisor, 'menu')
    assert.deepEqual(await accessibilityProblems(supervisor), [])
    const map = supervisor.getByRole('region', { name: 'Steps of the call' })
    await map.locator('.spot.bad', { hasText: 'later' }).waitFor()
    await map.getByRole('button', { name: 'main' }).focus()
    await supervisor.keyboard.press('ArrowRight')
    assert.equal(await supervisor.locator('.spot:focus').textContent(), '1Queue Orders')
    await supervisor.keyboard.press('ArrowLeft')
    await supervisor.keyboard.press('Enter')
    assert.equal(await supervisor.locator('textarea:focus').inputValue(), 'For orders press one.')
    await supervisor.getByRole('region', { name: 'main' }).getByRole('button', { name: 'Play the prompt' }).click()
    await eventually(
      async () => Number(await supervisor.evaluate('heard.loudest')) > 0.01,
      'the prompt to be heard in the browser',
    )
    assert.match(await speech.said(), /For orders press one\./)
    await step.getByRole('button', { name: 'Remove' }).click()
    await map.getByRole('button', { name: 'later' }).waitFor({ state: 'detached' })
    await press(supervisor, 'Undo')
    await map.getByRole('button', { name: 'later' }).waitFor()
    await step.getByRole('button', { name: 'Remove' }).click()
    await press(supervisor, 'Save menu')
    await supervisor
      .getByRole('paragraph')
      .filter({ hasText: /^Version 2$/ })
      .waitFor()
    menu = supervisor.url()

    await supervisor.goto(at('routing-rules'))
    await press(supervisor, 'Create rule')
    const rule = dialog(supervisor, 'Create rule')
    await rule.getByLabel('Name').fill('Kenya')
    await rule.getByRole('button', { name: 'Add a condition' }).click()
    await rule.getByLabel('Compared with').fill('KE')
    await rule.getByLabel('Destination').selectOption({ label: 'Voice menu Reception' })
    await shot(supervisor, 'rule')
    await rule.getByRole('button', { name: 'Create' }).click()
    await supervisor.getByText('Country of the caller is KE').waitFor()
    await supervisor.getByLabel('Called number').fill(numberOf(ada))
    await supervisor.getByLabel('Caller', { exact: true }).fill(number)
    await supervisor.getByLabel('At', { exact: true }).fill('2027-01-20T18:05')
    await supervisor.getByLabel('Language of the caller').selectOption('sw-KE')
    await supervisor.getByLabel('Keys pressed').fill('1')
    await press(supervisor, 'Try the menu')
    await supervisor.getByText('The caller goes to: Queue Orders').waitFor()
    await shot(supervisor, 'rules')
    await done(ada, '/v1/voice/routing/rules', { name: 'All', priority: 5, action: { type: 'queue', id: queue } }, 201)
  })

  test('an agent signs in as a member, sees the desk and nothing else, and is given a queue by the supervisor', async () => {
    // Times at the desk are told by the account's clock, which is ahead.
    await later(ada, 7_200)
    agent = await memberOf('agent', 'Zawadi Kamau', hertz.agent)
    await h1(agent, 'Desk')
    assert.equal(await entriesOf(agent, 'Queues').count(), 0)
    await agent.getByText('Sound devices').click()
    const microphone = agent.getByLabel('Microphone', { exact: true })
    await microphone.selectOption({ index: 1 })
    await press(agent, 'Test the microphone')
    await agent.getByText('The microphone hears you.').waitFor()
    const { audio } = Object(await agent.evaluate('heard.wanted'))
    assert.equal(audio.deviceId.ideal, await microphone.inputValue())
    for (const [i, what] of ['Loudspeaker', 'Ring on'].entries()) {
      const [device = ''] = await agent.getByLabel(what).selectOption({ index: i + 1 })
      devices.push(device)
    }
    await press(agent, 'Test the loudspeaker')
    await playsBy(devices[0])
    await shot(agent, 'start')
    await press(agent, 'Start work')
    await agent.getByText('You serve no queue yet').waitFor()
    const { body } = await ada.client.get('/v1/voice/agent')
    agentId = body.data[0].agent_id
    assert.deepEqual([body.data[0].name, body.data[0].status], ['Zawadi Kamau', 'available'])
    await supervisor.goto(at('agents'))
    await supervisor.getByRole('button', { name: 'Change' }).click()
    await dialog(supervisor, 'Edit agent').getByLabel('Orders').check()
    await dialog(supervisor, 'Edit agent').getByRole('button', { name: 'Save' }).click()
    await agent.getByRole('cell', { name: 'Orders' }).waitFor()
    await shot(supervisor, 'agents')
    await agent.getByRole('button', { name: 'Break' }).click()
    await agent.getByRole('button', { name: 'Lunch' }).click()
    assert.equal((await agentIs(ada, agentId, 'break')).reason, 'lunch')
    const timer = agent.locator('.availability .since')
    await eventually(
      async () => /^(?!0:00)\d:\d\d$/.test((await timer.textContent()) ?? ''),
      'a timer that counts from now',
    )
    await agent.getByRole('button', { name: 'Free' }).click()
    await agentIs(ada, agentId, 'available')
    assert.deepEqual(await accessibilityProblems(agent), [])
    await shot(agent, 'free')
  })

  test('a call rings so that it is heard and seen, is answered by a key, held, muted and noted', async () => {
    const tones = Number(await agent.evaluate('heard.tones'))
    call = await callerOf(ada, number)
    await agent.getByRole('alertdialog', { name: `${number} is calling` }).waitFor()
    assert.ok(Number(await agent.evaluate('heard.tones')) >= tones + 2, 'a bell is heard')
    await playsBy(devices[1])
    assert.deepEqual(await agent.evaluate('heard.notices'), [`${number} is calling`])
    await eventually(async () => (await agent.title()).startsWith('(1) '), 'the title to flash')
    assert.deepEqual(await accessibilityProblems(agent), [])
    await shot(agent, 'ringing')
    await agent.keyboard.press('Enter')
    await connected(ada, call, agentId)
    await agent.getByRole('region', { name: `Call with ${number}` }).waitFor()
    await eventually(async () => (await agent.title()).startsWith('Desk'), 'the title to be the page’s again')
    assert.ok(carrier().say(call, hum(1_000), endless))
    await browserHears(agent, 1_000)
    await phoneHears(call, hertz.agent)
    for (const name of ['Level of the microphone', 'Level of the caller']) {
      const level = agent.getByRole('meter', { name })
      await eventually(async () => Number(await level.evaluate((meter) => Object(meter).value)) > 0, name)
    }
    await agent.keyboard.press('m')
    await agent.getByRole('button', { name: 'Mute', pressed: true }).waitFor()
    await agent.keyboard.press('m')
    await agent.getByRole('button', { name: 'Mute', pressed: false }).waitFor()
    await agent.keyboard.press('h')
    await callIs(ada, call, ({ phase }) => phase === 'on_hold', 'the caller to be held')
    await agent.getByText('On hold: the caller hears music').waitFor()
    await agent.keyboard.press('h')
    await agent.getByText('You speak', { exact: true }).waitFor()
    await agent.keyboard.press('d')
    await agent.keyboard.press('5')
    await eventually(async () => carrier().heard(call)?.digits === '5', 'the key to be heard')
    await agent.getByLabel('Notes').fill('Asks for order 4512')
    await agent.keyboard.press('Escape')
    assert.deepEqual(await accessibilityProblems(agent), [])
    await shot(agent, 'call')
  })

  test('a supervisor sees the call on the wallboard, listens, whispers, joins and stops, heard at their own desk', async () => {
    await supervisor.goto(at('wallboard'))
    await supervisor.getByRole('region', { name: 'Orders' }).waitFor()
    await supervisor.getByText('Zawadi Kamau').first().waitFor()
    await supervisor.getByRole('button', { name: 'Listen' }).click()
    await supervisor.getByText('You listen without being heard.').waitFor()
    for (const tone of [1_000, hertz.agent]) await browserHears(supervisor, tone)
    await browserHears(agent, hertz.supervisor, false)
    await supervisor.getByRole('button', { name: 'Whisper' }).click()
    await supervisor.getByText('You whisper; only the agent hears you.').waitFor()
    await browserHears(agent, hertz.supervisor)
    await phoneHears(call, hertz.supervisor, false)
    // A page that is loaded anew still only listens: it whispers on, and there is no outcome to note.
    await supervisor.reload()
    await supervisor.getByText('You whisper; only the agent hears you.').waitFor()
    await browserHears(agent, hertz.supervisor)
    await shot(supervisor, 'wallboard')
    assert.deepEqual(await accessibilityProblems(supervisor), [])
    await press(supervisor, 'Barge in')
    await supervisor.getByText('You speak; everyone hears you.').waitFor()
    await phoneHears(call, hertz.supervisor)
    await press(supervisor, 'Stop listening')
    await supervisor.getByText('You speak;').waitFor({ state: 'detached' })
    await phoneHears(call, hertz.supervisor, false)
    const toNote =
      "Object.keys(sessionStorage).filter((key) => /to-note|monitor/.test(key) && sessionStorage[key] !== '[]')"
    assert.deepEqual(await supervisor.evaluate(toNote), [])
  })

  test('a desk whose connection drops says what became of the call, and speaks on', async () => {
    await agent.evaluate("heard.silence = 'suspended'; heard.sockets.at(-1).close()")
    await agent.getByText('The connection was lost. The caller hears music for 30 seconds').waitFor()
    await agent.getByText('You are connected again: speak on.').waitFor()
    // A browser that lets a page make no sound before a key or a click.
    const hint = agent.getByText('Press any key or click once, so that the desk may ring.')
    await hint.waitFor()
    await agent.keyboard.press('Shift')
    await hint.waitFor({ state: 'detached' })
    await agent.evaluate('heard.silence = undefined')
    await browserHears(agent, 1_000)
    assert.equal(await agent.getByLabel('Notes').inputValue(), 'Asks for order 4512')
    // A network that is gone closes nothing, and a page that is loaded anew begins with nothing.
    const lost = agent.getByText('The connection was lost. The caller hears music for 30 seconds')
    await agent.context().setOffline(true)
    await lost.waitFor()
    await agent.context().setOffline(false)
    await lost.waitFor({ state: 'detached' })
    await browserHears(agent, 1_000)
    // Whoever signs in elsewhere cuts off no call that is spoken here.
    await signInElsewhere(agent)
    await eventually(() => agent.evaluate('heard.told'), 'the page to hear of it')
    await agent.reload()
    await agent.getByRole('region', { name: `Call with ${number}` }).waitFor()
    await browserHears(agent, 1_000)
    await phoneHears(call, hertz.agent)
  })

  test('a headset that is pulled out is replaced by another microphone', async () => {
    await agent.evaluate(`heard.hertz = ${hertz.other}
      heard.peers.at(-1).getSenders()[0].track.dispatchEvent(new Event('ended'))`)
    await agent.getByText('You speak by:').waitFor()
    await phoneHears(call, hertz.other)
    await phoneHears(call, hertz.agent, false)
  })

  test('a colleague is asked, all three speak, the agent leaves, saves the outcome by a key, and the report has it', async () => {
    await login(ada, 'baraka', 2, { name: 'Baraka Otieno' })
    await agent.keyboard.press('p')
    const colleague = agent.getByRole('listitem').filter({ hasText: 'Baraka Otieno' })
    await colleague.getByRole('button', { name: 'Warm: consult first' }).click()
    await agent.getByText('You speak with Baraka Otieno; the caller hears music.').waitFor()
    await shot(agent, 'consulting')
    // A call that is being handed over is not taken over, and the supervisor gets no calls of queues by it.
    await supervisor.getByRole('button', { name: 'Take over' }).first().click()
    await dialog(supervisor, 'Take this call over?').getByRole('button', { name: 'Take over' }).click()
    await supervisor.getByText('This call is already being transferred').waitFor()
    const sara = (await ada.client.get('/v1/voice/agent')).body.data.find(
      ({ name }: { name: string }) => name === 'Sara Supervisor',
    )
    assert.equal(sara.status, 'meeting')
    await press(agent, 'Take the call back')
    await agent.getByText('You speak', { exact: true }).waitFor()
    await agentIs(ada, 'baraka', 'available')
    await colleague.getByRole('button', { name: 'Warm: consult first' }).click()
    await agent.locator('button:focus', { hasText: 'Hand over' }).waitFor()
    await agent.keyboard.press('Tab')
    await agent.locator('button:focus', { hasText: 'Speak all three' }).waitFor()
    await agent.keyboard.press('Enter')
    await agent.getByText(`You, ${number} and Baraka Otieno speak.`).waitFor()
    await browserHears(agent, 1_000)
    await phoneHears(call, hertz.other)
    await shot(agent, 'three')
    await signInElsewhere(agent)
    await agent.keyboard.press('Control+e')
    await connected(ada, call, 'baraka')
    // The call is over here, so the page is that of whoever is signed in now.
    await eventually(
      () => agent.evaluate("typeof heard === 'object' && heard.told === undefined").catch(() => false),
      'the page to be loaded anew',
    )
    const outcome = agent.getByRole('heading', { name: `Outcome of the call with ${number}` })
    await outcome.waitFor()
    await agent.getByText('of 10:00').waitFor()
    assert.equal(await agent.getByLabel('Notes').inputValue(), 'Asks for order 4512')
    await agent.keyboard.press('2')
    assert.deepEqual(await accessibilityProblems(agent), [])
    await shot(agent, 'after')
    await agent.keyboard.press('Control+Enter')
    await agentIs(ada, agentId, 'available')
    await done(ada, `/v1/voice/call/${call}/hangup`, {})
    const { body } = await ada.client.get('/v1/call-center/reports?group_by=agent,disposition')
    const own = body.rows.find(({ agent_id }: { agent_id: string }) => agent_id === agentId)
    assert.deepEqual([own.disposition, own.answered, own.transferred], ['passed_on', 1, 1])
    const { body: context } = await ada.client.get(`/v1/voice/agent/baraka/context?phone=${encodeURIComponent(number)}`)
    assert.equal(context.notes[0].text, 'Asks for order 4512')
    await supervisor.goto(at('call-report'))
    await supervisor.getByRole('cell', { name: 'Zawadi Kamau' }).waitFor()
    await supervisor.getByRole('cell', { name: 'Passed on' }).waitFor()
    await supervisor.getByRole('img', { name: 'Waits by length' }).waitFor()
    await supervisor
      .getByRole('img', { name: 'Service level, percent' })
      .getByText(/^80\s?%$/)
      .waitFor()
    await shot(supervisor, 'report')
    const download = supervisor.waitForEvent('download')
    await press(supervisor, 'CSV')
    const [head = '', ...rows] = (await readFile(await (await download).path(), 'utf8')).trim().split('\r\n')
    assert.ok(head.split(',').includes('answered'), head)
    assert.ok(
      rows.some((row) => row.includes(agentId)),
      rows.join('\n'),
    )
  })

  test('a call is put off by Escape, answered, and taken over by the supervisor', async () => {
    const next = await callerOf(ada, '+254711000024')
    await agent.getByRole('alertdialog').waitFor()
    await agent.keyboard.press('Escape')
    assert.equal((await agentIs(ada, agentId, 'away')).reason, 'rejected')
    // The wallboard alerts at limits that are kept in the browser, and is heard once that is switched on.
    await supervisor.goto(at('wallboard'))
    await press(supervisor, 'Alerts')
    const alert = supervisor.getByRole('status', { name: 'Alerts' }).getByText('1 or more wait')
    await supervisor.getByLabel('A sound when an alert begins').check()
    const tones = Number(await supervisor.evaluate('heard.tones'))
    assert.equal(await alert.count(), 0)
    await supervisor.getByLabel('Callers who wait').fill('1')
    await alert.waitFor()
    await eventually(
      async () => Number(await supervisor.evaluate('heard.tones')) === tones + 2,
      'the alert to be heard',
    )
    await shot(supervisor, 'alerts')
    assert.deepEqual(await accessibilityProblems(supervisor), [])
    await supervisor.reload()
    await alert.waitFor()
    // A box that is open over the page is below the call.
    await agent.keyboard.press('?')
    await dialog(agent, 'Keyboard').waitFor()
    await done(ada, '/v1/voice/agent/status', { agent_id: agentId, status: 'available' })
    await agent.getByRole('alertdialog', { name: / is calling$/ }).waitFor()
    await shot(agent, 'ringing-above')
    await press(agent, 'Answer')
    await connected(ada, next, agentId)
    await agent.getByRole('alertdialog').waitFor({ state: 'detached' })
    await agent.keyboard.press('Escape')
    await dialog(agent, 'Keyboard').waitFor({ state: 'detached' })
    await alert.waitFor({ state: 'detached' })
    assert.ok(carrier().say(next, hum(1_000), endless))
    await supervisor.goto(at('wallboard'))
    await supervisor.getByRole('button', { name: 'Take over' }).click()
    await dialog(supervisor, 'Take this call over?').getByRole('button', { name: 'Take over' }).click()
    await h1(supervisor, 'Desk')
    await supervisor.getByRole('region', { name: 'Call with +254711000024' }).waitFor()
    await browserHears(supervisor, 1_000)
    await phoneHears(next, hertz.supervisor)
    await agent.getByRole('heading', { name: 'Outcome of the call with +254711000024' }).waitFor()
    await press(supervisor, 'Hang up')
    await ended(ada, next)
    await supervisor.context().close()
    await agent.keyboard.press('1')
    await agent.keyboard.press('Control+Enter')
    await agentIs(ada, agentId, 'available')
  })

  test('a shift of eight hours at a desk: calls, a break and outcomes; the page grows no heavier and forgets nothing', async () => {
    await later(ada, 3_600)
    const nowText = async (): Promise<string> =>
      (await ada.client.get('/v1/call-center/metrics/realtime')).body.generated_at
    const from = await nowText()
    const member = uuidOf('member', agentId) ?? assert.fail(agentId)
    const page = await agent.context().newCDPSession(agent)
    await page.send('Performance.enable')
    const weight = async () => {
      await page.send('HeapProfiler.collectGarbage')
      const { metrics } = await page.send('Performance.getMetrics')
      return Object.fromEntries(metrics.map(({ name, value }) => [name, value]))
    }
    const outcomeOf = (caller: string) => agent.getByRole('heading', { name: `Outcome of the call with ${caller}` })
    const save = async (key: string) => {
      await agent.keyboard.press(key)
      await agent.keyboard.press('Control+Enter')
    }
    const weights: Record<string, number>[] = []
    for (let hour = 0; hour < 8; hour++) {
      // A session ends after 12 hours without a request: what the desk asks for in between keeps it.
      if (hour % 4 === 0) await world.app.db.query(ageSession, { member })
      const caller = `+2547110000${61 + hour}`
      const spoken = await callerOf(ada, caller)
      await agent.getByRole('alertdialog', { name: `${caller} is calling` }).waitFor()
      await agent.keyboard.press('Enter')
      await connected(ada, spoken, agentId)
      await agent.getByRole('region', { name: `Call with ${caller}` }).waitFor()
      await agent.getByLabel('Notes').fill(`Asked in hour ${hour}`)
      await later(ada, 240)
      if (hour % 2 === 0) await done(ada, `/v1/sandbox/voice/${spoken}/hangup`, {})
      else await agent.keyboard.press('Control+e')
      await ended(ada, spoken)
      await outcomeOf(caller).waitFor()
      // Once nothing is noted: the time for it ends, and the next call comes.
      if (hour === 6) await later(ada, 601)
      else await save('1')
      if (hour === 7) {
        await outcomeOf('+254711000067').waitFor()
        assert.equal(await agent.getByLabel('Notes').inputValue(), 'Asked in hour 6')
        await save('3')
      }
      await agentIs(ada, agentId, 'available')
      if (hour === 3) {
        await press(agent, 'Break')
        await press(agent, 'Tea')
        await agentIs(ada, agentId, 'break')
        await later(ada, 900)
        await press(agent, 'Free')
        await agentIs(ada, agentId, 'available')
      }
      await later(ada, 3_600 - 240 - (hour === 3 ? 900 : 0) - (hour === 6 ? 601 : 0))
      weights.push(await weight())
    }
    await page.detach()
    const [early, late] = [weights[1], weights[5]]
    for (const [what, more] of [
      ['Nodes', 100],
      ['JSEventListeners', 20],
      ['Documents', 0],
      ['JSHeapUsedSize', 500_000],
    ] as const) {
      const grown = (late?.[what] ?? Number.NaN) - (early?.[what] ?? 0)
      assert.ok(grown <= more, `${what} grew by ${grown} in four hours`)
    }
    const to = await nowText()
    assert.ok(Date.parse(to) - Date.parse(from) >= 8 * 3_600_000)
    const report = async (more: string) =>
      (await ada.client.get(`/v1/call-center/reports?from=${from}&to=${to}&${more}`)).body
    const { rows, totals } = await report('interval=hour')
    assert.deepEqual(
      rows.map((row: { offered: number; answered: number }) => [row.offered, row.answered]),
      Array.from({ length: 8 }, () => [1, 1]),
    )
    assert.ok(totals.talk_seconds >= 8 * 240 && totals.talk_seconds < 8 * 300, `${totals.talk_seconds} s of talk`)
    const noted = await report('interval=month&group_by=agent,disposition')
    assert.deepEqual(
      noted.rows.map((row: Record<string, unknown>) => [row.agent_id, row.disposition, row.answered]).sort(),
      [
        [agentId, 'call_back', 1],
        [agentId, 'solved', 7],
      ],
    )
    assert.deepEqual(complaints, [])
  })

  test('the phone beside every page rings, speaks and listens', async () => {
    const admin = await memberOf('admin', 'Asha Admin', hertz.phone)
    const phone = admin.getByRole('complementary', { name: 'Phone' })
    if ((await phone.count()) === 0) await admin.getByRole('button', { name: 'Phone', exact: true }).click()
    // The page of a menu calls it with the phone beside it.
    await assign(ada, { ivr_id: menu.split('/').at(-1) })
    await admin.goto(menu)
    await phone.getByRole('button', { name: 'Calls' }).click()
    await phone.getByRole('button', { name: 'Speak and listen here' }).click()
    await phone.getByRole('button', { name: 'Live audio off' }).waitFor()
    await phone.getByRole('button', { name: 'Texts' }).click()
    await admin.getByRole('button', { name: /from the phone$/ }).click()
    await phone.getByRole('button', { name: '1', exact: true }).click()
    await agent.getByRole('alertdialog').waitFor()
    await agent.keyboard.press('Enter')
    await agentIs(ada, agentId, 'on_call')
    await browserHears(agent, hertz.phone)
    await browserHears(admin, hertz.agent)
    assert.deepEqual(await accessibilityProblems(admin), [])
    await phone.getByRole('button', { name: 'Mute' }).click()
    await browserHears(agent, hertz.phone, false)
    await phone.getByRole('button', { name: 'Mute' }).click()
    await phone.getByRole('button', { name: 'Hang up' }).click()
    await agent.getByRole('heading', { name: /^Outcome of the call with/ }).waitFor()
    await agent.keyboard.press('1')
    await agent.keyboard.press('Control+Enter')
    await agentIs(ada, agentId, 'available')

    // Who called is called back.
    await agent.getByRole('button', { name: /^Call .* back$/ }).click()
    await phone.getByRole('button', { name: 'Answer the call' }).click()
    await browserHears(agent, hertz.phone)
    await phone.getByRole('button', { name: 'Hang up' }).click()
    await agent.getByRole('heading', { name: /^Outcome of the call with/ }).waitFor()
    await agent.keyboard.press('3')
    await agent.keyboard.press('Control+Enter')
    await agentIs(ada, agentId, 'available')

    // A call to it rings, also while another app is open.
    await phone.getByRole('button', { name: 'Texts' }).click()
    const tones = Number(await admin.evaluate('heard.tones'))
    await agent.getByLabel('Place a call').fill(await phone.getByLabel('Number of the phone').inputValue())
    await agent.getByLabel('From').fill(numberOf(ada))
    await agent.getByRole('button', { name: 'Call', exact: true }).click()
    await phone.getByRole('button', { name: 'Answer the call' }).waitFor()
    assert.ok(Number(await admin.evaluate('heard.tones')) >= tones + 2, 'the phone rings')
    await phone.getByRole('button', { name: 'Answer the call' }).click()
    await browserHears(agent, hertz.phone)
    await browserHears(admin, hertz.agent)
    await phone.getByRole('button', { name: 'Hang up' }).click()
    await agent.getByRole('heading', { name: /^Outcome of the call with/ }).waitFor()
    await admin.context().close()
    await press(agent, 'End work')
    await agentIs(ada, agentId, 'offline')
    assert.deepEqual(complaints, [])
  })

  test('texts that are assigned to an agent stand beside calls and are answered; those of others are not there', async () => {
    const conversations: { id: string; phone: string }[] = []
    for (const from of ['+254711000051', '+254711000052']) {
      const text = { from, to: '22003', message: `Where is my order, asks ${from}` }
      await done(ada, '/v1/sandbox/sms/inbound', text, 201)
      await eventually(async () => {
        const { data } = (await ada.client.get('/v1/conversations')).body
        return data.length === conversations.length + 1 && conversations.push(data[0])
      }, 'a conversation')
    }
    const [own, other] = conversations
    assert.ok(own && other)
    await done(ada, `/v1/conversations/${own.id}/assign`, { member_id: agentId })
    await agent.goto(at('desk'))
    await agent.getByRole('link', { name: /Where is my order/ }).waitFor()
    await shot(agent, 'conversations')
    assert.deepEqual(await accessibilityProblems(agent), [])
    await agent.getByRole('link', { name: /Where is my order/ }).click()
    await agent.getByRole('region', { name: own.phone }).getByText('Where is my order').waitFor()
    assert.equal(await agent.getByRole('navigation', { name: 'Conversations' }).getByRole('listitem').count(), 1)
    await agent.getByLabel('Answer').fill('On its way')
    await shot(agent, 'conversation')
    await press(agent, 'Send')
    await agent.getByRole('region', { name: own.phone }).getByText('On its way').waitFor()

    const asAgent = await asMember(agent)
    const listed = await asAgent.get('/v1/conversations')
    assert.deepEqual(
      listed.body.data.map(({ id }: { id: string }) => id),
      [own.id],
    )
    assert.deepEqual((await asAgent.get('/v1/conversations?assignee=none')).body.data, [])
    for (const way of ['', '/messages']) {
      assert.equal((await asAgent.get(`/v1/conversations/${other.id}${way}`)).status, 404)
      assert.equal((await asAgent.get(`/v1/conversations/${own.id}${way}`)).status, 200)
    }
    for (const [way, body] of [
      ['assign', { member_id: agentId }],
      ['reply', { channel: 'sms', text: 'Hello' }],
      ['close', {}],
    ] as const)
      assert.equal((await asAgent.post(`/v1/conversations/${other.id}/${way}`, body)).status, 404, way)
    assert.equal((await asAgent.post('/v1/conversations', { phone: other.phone })).status, 403)
    await done(ada, `/v1/conversations/${own.id}/assign`, { member_id: null })
    assert.equal((await asAgent.get(`/v1/conversations/${own.id}`)).status, 404)
    const { key } = await done(ada, '/v1/api-keys', { name: 'Own', scopes: ['conversations:own'] }, 201)
    assert.equal((await world.stranger.as(key).get('/v1/conversations')).status, 403)
    assert.deepEqual(complaints, [])
  })

  test('a session opens a desk from a page of the console only, and makes no token', async () => {
    const [cookie] = await agent.context().cookies(world.node.url)
    const refused = (headers: Record<string, string>) =>
      new Promise((resolve) => {
        const line = new WebSocket(`${world.node.url.replace(/^http/, 'ws')}/v1/voice/desk`, {
          ...{ rejectUnauthorized: false, headers: { cookie: `${cookie?.name}=${cookie?.value}`, ...headers } },
        })
        line.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode))
        line.on('close', (code) => resolve(code))
        line.on('error', () => undefined)
      })
    assert.equal(await refused({}), 403)
    assert.equal(await refused({ origin: 'https://elsewhere.example' }), 403)
    assert.equal(await refused({ origin: world.node.url }), 4409)
    const asAgent = await asMember(agent)
    const post = (body: object) => asAgent.post('/v1/voice/agent/login', body)
    assert.equal((await post({ agent_id: agentId })).body.token, null)
    assert.equal((await post({ agent_id: 'baraka' })).status, 403)
    assert.equal((await post({ agent_id: agentId, queues: [] })).status, 403)
  })
})

/** Tones that the microphones of the console's members hear. */
const hertz = { agent: 600, other: 1_200, supervisor: 1_500, phone: 2_100 }
