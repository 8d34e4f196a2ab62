// SPDX-License-Identifier: Apache-2.0
// What other areas do to calls under way: rooms with several legs, who hears whom, hold, monitoring, transfer, conferences over
// rooms, and actions that an area carries out itself. The ears are phones of the sandbox, over real SIP and RTP.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type CallFollower, followCalls, type LegChange, liveCalls } from '../../src/areas/voice/area.ts'
import { simulatedCarrier } from '../../src/areas/voice/trunks/sandbox-carrier.ts'
import { telephoneNetworkOf } from '../../src/areas/voice/trunks/telephone-network.ts'
import { idOf, newUuid, uuidOf } from '../../src/kernel/ids.ts'
import { sessionsOf } from '../../src/platform/nodes/live-sessions.ts'
import type { Tenant } from '../../src/platform/tenant.ts'
import { hasOpus } from '../../src/protocols/audio/opus.ts'
import { rms, share, tone } from '../../src/protocols/audio/tones.ts'
import { endless, hearsNow, hum, withoutVoice } from '../hearing.ts'
import { type Account, eventually, startWorld, tenantOf, type World } from '../world.ts'

let world: World
const changes: LegChange[] = []
const taken: { call: string; action: string }[] = []
const asked: { call: string; body: Record<string, unknown> }[] = []

const follower: CallFollower = {
  name: 'test',
  changed: (_app, change) => void changes.push(change),
  took: async (_app, { call }, action) => {
    taken.push({ call, action: action.action })
    return action.action === 'enqueue'
  },
  asked: async (_app, { call }, body) => {
    asked.push({ call, body })
    return { actions: body.dtmf === '7' ? [{ action: 'hangup' }] : [], isOwn: true }
  },
}

before(async () => {
  world = await startWorld()
  followCalls(world.app, follower)
})
after(() => world?.stop())

const from = '+254700000000'
const wait = { action: 'wait', timeout: 7_000 }

interface Caller {
  ada: Account
  tenant: Tenant
  call: string
}

async function answeredCall(actions: object[] = [wait]): Promise<Caller> {
  const ada = await world.account({ balance: 100 })
  const { body } = await ada.client.post('/v1/voice/calls', { from, to: '+254711000020', actions })
  const call = uuidOf('call', body.call_id) ?? ''
  const tenant = tenantOf(ada)
  await told(call, 'answered')
  return { ada, tenant, call }
}

function told(call: string, kind: LegChange['kind']): Promise<LegChange> {
  return eventually(async () => changes.find((change) => change.call === call && change.kind === kind) ?? null, kind)
}

async function rung({ tenant, call }: Caller, number: string, tag: string, edges: object = {}): Promise<string> {
  const leg = { to: { phone: number }, from, timeoutSeconds: 30, tag, ...edges }
  const outcome = await liveCalls(world.app).ring(tenant, call, leg)
  assert.ok('call' in outcome, JSON.stringify(outcome))
  const answered = await told(outcome.call, 'answered')
  assert.deepEqual([answered.tag, answered.room, answered.status], [tag, call, 'answered'])
  return outcome.call
}

const carrier = () => simulatedCarrier.of(world.app) ?? assert.fail('no carrier')

/** Has a phone hum, so that everybody who may hear it does. */
function hums(call: string, hertz: number): void {
  assert.ok(carrier().say(idOf('call', call), hum(hertz), endless))
}

/** Whether a phone hears a hum now; null when it has just begun or ended. */
function hears(call: string, hertz: number): boolean | null {
  return hearsNow(carrier().heard(idOf('call', call))?.samples ?? new Int16Array(0), hertz)
}

const until = (what: string, is: () => boolean | null) => eventually(async () => is() || null, what)

test('legs are rung into a room; hold, mute and edges decide who hears whom; a supervisor listens, whispers, barges', async () => {
  const caller = await answeredCall()
  const { tenant, call } = caller
  const live = liveCalls(world.app)
  const agent = await rung(caller, '+254711000031', 'agent')
  const boss = await rung(caller, '+254711000032', 'boss', { heardBy: [] })
  hums(call, 500)
  hums(agent, 800)
  hums(boss, 1_300)
  await until('both to hear each other, and the supervisor both', () => hears(agent, 500) && hears(call, 800))
  await until('the supervisor to hear both', () => hears(boss, 500) && hears(boss, 800))
  assert.ok(hears(agent, 1_300) === false && hears(call, 1_300) === false, 'nobody hears a supervisor who listens')

  assert.ok(await live.edges(tenant, boss, { hears: 'all', heardBy: [agent] }))
  await until('the agent to hear the whisper', () => hears(agent, 1_300))
  assert.ok(hears(call, 1_300) === false, 'the customer does not hear a whisper')
  assert.ok(await live.edges(tenant, boss, { hears: 'all', heardBy: 'all' }))
  await until('all to hear the supervisor', () => hears(call, 1_300))

  assert.ok(await live.mute(tenant, agent, true))
  await until('the agent not to be heard', () => hears(call, 800) === false)
  assert.ok(await live.hold(tenant, call, { music: 'silence' }))
  await until('the customer to hear nobody', () => hears(call, 1_300) === false && hears(agent, 500) === false)
  const { body: held } = await caller.ada.client.get(`/v1/voice/${idOf('call', call)}`)
  assert.equal(held.phase, 'on_hold')
  assert.ok(await live.mute(tenant, agent, false))
  assert.ok(await live.hold(tenant, call, null))
  await until('the customer to hear the agent again', () => hears(call, 800))

  // A cold transfer: another is rung, and the first agent leaves.
  const other = await rung(caller, '+254711000033', 'target')
  assert.ok(await live.hangUp(tenant, agent, 'agent'))
  const left = await told(agent, 'ended')
  assert.deepEqual([left.status, left.by, left.tag], ['completed', 'agent', 'agent'])
  hums(other, 1_900)
  await until('the customer to hear the new agent', () => hears(call, 1_900))
  assert.ok(await live.press(tenant, other, '42#'))
  await until('keys to be heard', () => carrier().heard(idOf('call', other))?.digits === '42#')
  const found = await live.find(tenant, other)
  assert.deepEqual([found?.room, found?.parent, found?.status], [call, call, 'answered'])

  await caller.ada.client.post(`/v1/voice/${idOf('call', call)}/hangup`, {})
  for (const leg of [boss, other]) assert.equal((await told(leg, 'ended')).status, 'completed')
  assert.equal(await live.mute(tenant, call, true), false)
  assert.deepEqual(await live.ring(tenant, call, { to: { media: true }, from, timeoutSeconds: 5, tag: null }), {
    refused: 'gone',
  })
})

test('an input by speech hears the legs that it names, and tells of those that are not there', async () => {
  const caller = await answeredCall()
  const { ada, tenant, call } = caller
  const agent = await rung(caller, '+254711000034', 'agent')
  // The caller, who is not named, makes a noise all the time: nobody could tell when the agent has ended.
  hums(call, 500)
  await until('the caller to be heard', () => hears(agent, 500))
  const speech = { uuid: [idOf('call', agent), 'call_gone'], endOnSilence: 0.4, startTimeout: 60, language: 'sw-KE' }
  const actions = [{ action: 'input', type: ['speech'], speech: { ...speech, maxDuration: 15 } }, wait]
  assert.ok(await liveCalls(world.app).resume(tenant, call, 'test', { actions, isOwn: true }))
  assert.ok(carrier().say(idOf('call', agent), tone([700], 1_000)))
  const said = await eventually(async () => asked.find((each) => each.call === call) ?? null, 'the words of the agent')
  assert.deepEqual(said.body.speech, {
    results: [],
    timeout_reason: 'end_on_silence_timeout',
    language: 'sw-KE',
    error: 'language_unavailable',
  })
  const { body: trace } = await ada.client.get(`/v1/voice/${idOf('call', call)}/events?limit=200`)
  assert.match(JSON.stringify(trace), /speech\.uuid: call_gone is not in this call/)
  await ada.client.post(`/v1/voice/${idOf('call', call)}/hangup`, {})
})

test('a leg that refuses says why, and money is kept for those that ring', async () => {
  const caller = await answeredCall()
  const live = liveCalls(world.app)
  const busy = await live.ring(caller.tenant, caller.call, {
    to: { phone: '+254711000002' },
    from,
    timeoutSeconds: 30,
    tag: 'busy',
  })
  assert.ok('call' in busy)
  const ended = await told(busy.call, 'ended')
  assert.deepEqual([ended.status, ended.cause, ended.tag], ['busy', 'busy', 'busy'])
  const nobody = await live.ring(caller.tenant, caller.call, {
    to: { sip: 'sip:x@' },
    from,
    timeoutSeconds: 5,
    tag: null,
  })
  assert.deepEqual(nobody, { refused: 'no_route' })
})

test('a leg whose audio somebody else brings is answered by them, and given up when nobody does', async () => {
  const caller = await answeredCall()
  const { tenant, call } = caller
  const live = liveCalls(world.app)
  const desk = await live.ring(tenant, call, { to: { media: true }, from, timeoutSeconds: 30, tag: 'desk' })
  assert.ok('call' in desk && desk.media !== null)
  assert.equal((await told(desk.call, 'ringing')).tag, 'desk')
  assert.ok(await live.connectMedia(tenant, desk.call, { host: '127.0.0.1', port: 9 }))
  assert.equal((await told(desk.call, 'answered')).status, 'answered')
  const again = await live.connectMedia(tenant, desk.call, { host: '127.0.0.1', port: 11 })
  assert.deepEqual(again, desk.media, 'who answered may come from another place')
  const late = await live.ring(tenant, call, { to: { media: true }, from, timeoutSeconds: 20, tag: 'late' })
  assert.ok('call' in late)
  await caller.ada.client.post('/v1/sandbox/clock', { advance_seconds: 21 })
  const ended = await told(late.call, 'ended')
  assert.deepEqual([ended.status, ended.cause], ['timeout', 'no_answer'])
})

test('calls meet in a conference of their own, and are back in their rooms when they leave', async () => {
  const caller = await answeredCall()
  const { tenant, call, ada } = caller
  const live = liveCalls(world.app)
  const room = newUuid(Date.now())
  assert.ok(await live.openRoom(tenant, room))
  const guest = await live.ring(tenant, room, {
    to: { phone: '+254711000034' },
    from,
    timeoutSeconds: 30,
    tag: 'guest',
  })
  assert.ok('call' in guest)
  await told(guest.call, 'answered')
  assert.equal((await live.find(tenant, guest.call))?.room, room)
  assert.ok(await live.join(tenant, call, room))
  assert.equal(await live.join(tenant, call, room), false, 'once')
  hums(call, 600)
  hums(guest.call, 1_500)
  await until('both to hear each other', () => hears(guest.call, 600) && hears(call, 1_500))
  const recording = await live.record(tenant, room, { channels: 1 })
  assert.ok(recording)
  assert.ok(await live.edges(tenant, call, { hears: 'all', heardBy: [] }))
  await until('the guest to hear it no more', () => hears(guest.call, 600) === false)
  assert.ok(await live.leave(tenant, call))
  await until('the call to hear nobody', () => hears(call, 1_500) === false)
  assert.equal((await live.find(tenant, call))?.status, 'answered')
  assert.ok(await live.join(tenant, call, room), 'it may come again')
  assert.ok(await live.closeRoom(tenant, room))
  assert.equal((await told(guest.call, 'ended')).status, 'completed')
  assert.equal(await live.leave(tenant, call), false, 'a closed room lets its calls go')
  const { body } = await ada.client.get(`/v1/voice/${idOf('call', call)}`)
  assert.equal(body.status, 'answered')
})

test('a room that closes while a call is let in keeps no place for it', async () => {
  const tenant = tenantOf(await world.account())
  const room = newUuid(Date.now())
  assert.ok(await liveCalls(world.app).openRoom(tenant, room))
  const session = telephoneNetworkOf(world.app).sessions.get(room) ?? assert.fail('no room')
  const link = { do: 'open_link', call: newUuid(Date.now()) }
  const entered = sessionsOf(world.app).command({ ...tenant, id: room }, link)
  await Promise.resolve()
  await session.shutDown()
  assert.equal(await entered, null)
})

test('a phone that speaks Opus alone hears one of G.711 and is heard by it, its keys too', {
  skip: hasOpus() ? false : 'not installed: libopus-wasm',
}, async () => {
  const caller = await answeredCall()
  const phone = await rung(caller, '+254711000011', 'opus')
  hums(caller.call, 500)
  hums(phone, 800)
  await until('both to hear each other', () => hears(phone, 500) && hears(caller.call, 800))
  assert.ok(carrier().press(idOf('call', phone), '42'))
  const keys = () => changes.flatMap(({ call, digit }) => (call === phone && digit !== null ? [digit] : []))
  await until('the keys', () => keys().join('') === '42')
})

test('an area carries out actions, and gives the next flow, whose questions come to it', async () => {
  const caller = await answeredCall([{ action: 'enqueue', queue_id: 'que_1' }, wait])
  const { tenant, call, ada } = caller
  const live = liveCalls(world.app)
  await until('the action to be taken', () => taken.some((one) => one.call === call && one.action === 'enqueue'))
  assert.ok(await live.mark(tenant, call, { phase: 'queued', queue_id: 'que_1' }))
  const { body: queued } = await ada.client.get(`/v1/voice/${idOf('call', call)}`)
  assert.deepEqual([queued.phase, queued.queue_id], ['queued', 'que_1'])
  const input = { action: 'input', maxDigits: 1, timeOut: 20 }
  assert.ok(await live.resume(tenant, call, 'test', { actions: [input, wait], isOwn: true }))
  await ada.client.post(`/v1/sandbox/voice/${idOf('call', call)}/input`, { dtmf: '7' })
  assert.deepEqual([(await told(call, 'digit')).digit, (await told(call, 'ended')).status], ['7', 'completed'])
})

test('an action that nobody carries out is told of, and the flow goes on', async () => {
  const connect = { action: 'connect', endpoint: [{ type: 'queue', queue_id: 'que_none' }] }
  const { ada, call } = await answeredCall([connect, { action: 'hangup' }])
  await told(call, 'ended')
  const { body } = await ada.client.get(`/v1/voice/${idOf('call', call)}/events?limit=200`)
  const errors = body.data.map(({ data }: { data: { error?: { code: string } } }) => data.error?.code)
  assert.ok(errors.includes('ACTION_UNAVAILABLE'))
})

test('what a network says before the answer is heard by the caller, in place of the ringing', async () => {
  const endpoint = [{ type: 'phone', number: '+254711000010' }]
  const { ada, call } = await answeredCall([{ action: 'connect', endpoint, timeout: 20 }, wait])
  await until('the announcement to be heard', () => {
    const { samples } = carrier().heard(idOf('call', call)) ?? { samples: new Int16Array(0) }
    const frames = Array.from({ length: Math.floor(samples.length / 160) }, (_, i) =>
      samples.subarray(160 * i, 160 * (i + 1)),
    )
    return [950, 1_400, 1_800].every((hertz) => frames.some((frame) => rms(frame) > 500 && share(frame, hertz) > 0.8))
  })
  assert.equal(
    changes.some((change) => change.room === call && change.call !== call && change.kind === 'answered'),
    false,
  )
  await ada.client.post(`/v1/voice/${idOf('call', call)}/hangup`, {})
})

test('a node that stops takes no calls any more, and apologises to those who are still there', {
  skip: withoutVoice(),
}, async () => {
  const { ada, call } = await answeredCall()
  const brief = await answeredCall([{ action: 'wait', timeout: 0.5 }])
  const network = telephoneNetworkOf(world.app)
  const draining = network.drain(3)
  const { body } = await ada.client.post('/v1/voice/calls', { from, to: '+254711000020', actions: [wait] })
  await told(brief.call, 'ended')
  await draining
  const { samples } = carrier().heard(idOf('call', call)) ?? assert.fail('nothing was heard')
  assert.ok(rms(samples.subarray(-16_000)) > 200, 'the apology is heard')
  const { body: waiting } = await ada.client.get(`/v1/voice/${body.call_id}`)
  assert.equal(waiting.status, 'initiated', 'a call that comes meanwhile waits for another node')
  network.isDraining = false
  await told(uuidOf('call', body.call_id) ?? '', 'answered')
})
