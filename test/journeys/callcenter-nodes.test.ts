// SPDX-License-Identifier: Apache-2.0
// The call centre on several nodes: two of them race for one agent, one dies with callers in its queue, an agent's line is lost.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { distributeCalls } from '../../src/areas/callcenter/calls/distribution.ts'
import { voice } from '../../src/areas/voice/area.ts'
import { callSessions } from '../../src/areas/voice/calls/call-sessions.ts'
import { areas } from '../../src/areas.ts'
import { loadConfig } from '../../src/config.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { type RunningNode, startNode } from '../../src/node/server.ts'
import { one, statement } from '../../src/platform/db.ts'
import { sessionsOf } from '../../src/platform/nodes/live-sessions.ts'
import type { Tenant } from '../../src/platform/tenant.ts'
import {
  agentIs,
  agentNow,
  assign,
  callerOf,
  callIs,
  connected,
  done,
  ended,
  eventsOf,
  later,
  login,
  numberOf,
  queueOf,
} from '../callcentre.ts'
import { Client } from '../client.ts'
import { notes, notesMigrations } from '../notes/area.ts'
import { doChores, eventually, quiet, startWorld, tenantOf, type World } from '../world.ts'

let world: World
let second: RunningNode

before(async () => {
  world = await startWorld({ PAMOJA_VOICE_MEDIA_TIMEOUT_SECONDS: 3 })
  const { config } = loadConfig(
    {},
    {
      ...quiet,
      PAMOJA_HOME: world.home,
      DATABASE_URL: world.databaseUrl,
      PAMOJA_RATE_LIMITS: 'off',
      PAMOJA_VOICE_LATENESS_MS: 60_000,
    },
  )
  second = await startNode({ config, areas: [...areas, notes], extraMigrations: notesMigrations })
})
after(async () => {
  await second?.stop()
  await world?.stop()
})

const open = () => world.account({ balance: 1_000 })

test('a command for a call that a node has taken and not begun yet waits until it is begun, or over', async () => {
  const tenant = tenantOf(await open())
  const [here, there] = [sessionsOf(world.app), sessionsOf(second.app)]
  const newSession = () => ({ ...tenant, id: newUuid(Date.now()) })
  const [begun, taken, over] = [newSession(), newSession(), newSession()]
  await there.begin(callSessions, begun, async () => 'at once')
  for (const session of [taken, over]) await second.app.db.tx(tenant, (tx) => there.register(tx, callSessions, session))
  const [late, never] = [taken, over].map((session) => here.command(session, { do: 'hangup' }))
  const isAsked = async () => {
    const known = { ...tenant, sessions: [taken.id, over.id] }
    return (await one(world.app.db.query(countCommands, known))).count === 2
  }
  await eventually(isAsked, 'both to be asked')
  assert.equal(await here.command(begun, { do: 'hangup' }), 'at once', 'the other node has read all three')
  there.hold(taken, async () => 'hung up')
  await there.end(over)
  assert.deepEqual([await late, await never], ['hung up', null])
  for (const session of [begun, taken]) await there.end(session)
})

test('commands for a call that is not begun keep none for another call', async () => {
  const tenant = tenantOf(await open())
  const [here, there] = [sessionsOf(world.app), sessionsOf(second.app)]
  const [taken, begun] = [1, 2].map(() => ({ ...tenant, id: newUuid(Date.now()) }))
  assert.ok(taken && begun)
  await second.app.db.tx(tenant, (tx) => there.register(tx, callSessions, taken))
  await there.begin(callSessions, begun, async () => 'at once')
  const waiting = Array.from({ length: 120 }, () => here.command(taken, { do: 'hangup' }))
  const isAsked = async () =>
    (await one(world.app.db.query(countCommands, { ...tenant, sessions: [taken.id] }))).count === waiting.length
  await eventually(isAsked, 'all to be asked')
  assert.equal(await here.command(begun, { do: 'hangup' }), 'at once')
  there.hold(taken, async () => 'hung up')
  assert.deepEqual(new Set(await Promise.all(waiting)), new Set(['hung up']))
  for (const session of [begun, taken]) await there.end(session)
})

const countCommands = statement.tenant<Tenant & { sessions: readonly string[] }, { count: number }>(
  'test.count_commands',
  `select count(*)::int as count from platform.session_commands
    where bucket = $bucket and account_id = $account and session_id = any($sessions::uuid[])`,
)

test('two nodes that look at once give each agent one call, and each call one agent, the first caller first', async () => {
  const ada = await open()
  const queue = await queueOf(ada)
  await assign(ada, { queue_id: queue })
  const calls: string[] = []
  for (let i = 1; i <= 4; i++) {
    calls.push(await callerOf(ada, `+25471100006${i}`))
    await eventually(
      async () => (await ada.client.get(`/v1/voice/queue/${queue}`)).body.live.waiting === i,
      `caller ${i} to wait`,
    )
  }
  const elsewhere = new Client(second.url, second.caFile && readFileSync(second.caFile, 'utf8'), ada.key)
  const agents = ['a', 'b', 'c']
  await Promise.all(
    agents.map((agent_id, i) =>
      (i % 2 === 0 ? ada.client : elsewhere).post('/v1/voice/agent/login', {
        agent_id,
        queues: [queue],
        endpoint: { type: 'phone', number: `+2547110001${10 + i}` },
      }),
    ),
  )
  const tenant = tenantOf(ada)
  await Promise.all(Array.from({ length: 20 }, (_, i) => distributeCalls(i % 2 === 0 ? world.app : second.app, tenant)))
  for (const agent of agents) await agentIs(ada, agent, 'on_call')
  const taken = await Promise.all(agents.map(async (agent) => (await agentNow(ada, agent)).call_id))
  assert.deepEqual([...taken].sort(), calls.slice(0, 3).sort(), 'the three who came first, each once')
  const rang = (await eventsOf(ada, 'agent.status_changed')).filter(
    ({ payload }: { payload: { status: string } }) => payload.status === 'ringing',
  )
  assert.equal(rang.length, 3, 'nobody was rung twice')
  elsewhere.close()
  for (const call of calls) await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

const loseNode = statement.tenant<{ bucket: number; account: string }, object>(
  'test.lose_node',
  `update platform.sessions set node = gen_random_uuid(), created_at = now() - interval '1 minute'
    where bucket = $bucket and account_id = $account`,
)

const loseNodeOf = statement.tenant<{ bucket: number; account: string; node: string }, object>(
  'test.lose_node_of',
  `update platform.sessions set node = gen_random_uuid(), created_at = now() - interval '1 minute'
    where bucket = $bucket and account_id = $account and node = $node`,
)

test('a node that dies takes its callers with it: their calls and contacts end, and agents are free', async () => {
  const ada = await open()
  const queue = await queueOf(ada, { wrap_up_seconds: 0 })
  await assign(ada, { queue_id: queue })
  await login(ada, 'amina', 1, { queues: [queue] })
  const speaking = await callerOf(ada)
  await connected(ada, speaking, 'amina')
  const waiting = await callerOf(ada, '+254711000022')
  await callIs(ada, waiting, ({ phase }) => phase === 'queued', 'the second to wait')
  await world.app.db.query(loseNode, tenantOf(ada))
  await doChores(second.app, voice.chores)
  for (const call of [speaking, waiting]) {
    const over = await ended(ada, call)
    assert.deepEqual([over.hangup_cause, over.hangup_by], ['network_error', 'system'])
  }
  await agentIs(ada, 'amina', 'available')
  await eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/queue/${queue}`)
    return body.live.waiting === 0
  }, 'nobody to wait in the queue')
})

test('callers of a node that died keep their place: those of other nodes wait on, those of its own call again', async () => {
  const ada = await open()
  const queue = await queueOf(ada)
  await assign(ada, { queue_id: queue })
  const lost = await callerOf(ada, '+254711000024')
  const waiting = async () => (await ada.client.get(`/v1/voice/queue/${queue}`)).body.live
  await eventually(async () => (await waiting()).waiting === 1, 'the first to wait')
  await later(ada, 30)
  const elsewhere = new Client(second.url, second.caFile && readFileSync(second.caFile, 'utf8'), ada.key)
  const { body: other } = await elsewhere.post('/v1/sandbox/voice/inbound', {
    from: '+254711000025',
    to: numberOf(ada),
  })
  await eventually(async () => (await waiting()).waiting === 2, 'the second to wait, on the other node')
  await world.app.db.query(loseNodeOf, { ...tenantOf(ada), node: world.app.nodeId })
  await doChores(second.app, voice.chores)
  await ended(ada, lost)
  await eventually(async () => (await waiting()).waiting === 1, 'the caller of the other node to wait on')
  const { body: now } = await ada.client.get('/v1/call-center/metrics/realtime')
  assert.equal(now.totals.abandoned, 0, 'who was lost did not give up')
  const again = await callerOf(ada, '+254711000024')
  const live = await eventually(async () => {
    const now = await waiting()
    return now.waiting === 2 && now
  }, 'the lost one to wait again')
  assert.deepEqual(
    live.calls.map(({ call_id }: { call_id: string }) => call_id),
    [again, other.call_id],
    'who was first is first again',
  )
  assert.ok(live.calls[0].waited_seconds >= 30)
  elsewhere.close()
  for (const call of [again, other.call_id]) await done(ada, `/v1/voice/call/${call}/hangup`, {})
})

test('a conference whose node dies is over, and its agents are free', async () => {
  const ada = await open()
  await login(ada, 'amina', 1)
  const wanted = { name: 'Stand-up', from: numberOf(ada), participants: ['amina', '+254711000141'] }
  const { conference_id } = await done(ada, '/v1/voice/conference', wanted, 201)
  const path = `/v1/voice/conference/${conference_id}`
  const statuses = async () =>
    (await ada.client.get(path)).body.participants.map(({ status }: { status: string }) => status)
  await eventually(async () => (await statuses()).every((status: string) => status === 'joined'), 'both to come')
  await agentIs(ada, 'amina', 'on_call')
  await world.app.db.query(loseNode, tenantOf(ada))
  await doChores(second.app, voice.chores)
  // The node did not really die: after a minute it would notice by itself what has become of its legs.
  const isFree = async () => (await agentNow(ada, 'amina')).status === 'available'
  await eventually(isFree, 'the agent to be free', 30_000)
  await eventually(async () => (await ada.client.get(path)).body.status === 'ended', 'the conference to be over')
  assert.deepEqual(await statuses(), ['left', 'left'])
})

test('an agent whose line is lost in a call ends it, and is not given another at once', async () => {
  const ada = await open()
  const queue = await queueOf(ada)
  await assign(ada, { queue_id: queue })
  // This phone answers, and hangs up after two seconds.
  await done(ada, '/v1/voice/agent/login', {
    agent_id: 'amina',
    queues: [queue],
    endpoint: { type: 'phone', number: '+254711000006' },
  })
  const call = await callerOf(ada)
  await agentIs(ada, 'amina', 'on_call')
  const over = await ended(ada, call)
  assert.deepEqual([over.status, over.hangup_by], ['completed', 'agent'])
  await agentIs(ada, 'amina', 'wrap_up')
})

test('an agent who logs out by force leaves the call', async () => {
  const ada = await open()
  const queue = await queueOf(ada)
  await assign(ada, { queue_id: queue })
  await login(ada, 'amina', 1, { queues: [queue] })
  const call = await callerOf(ada)
  await connected(ada, call, 'amina')
  const busy = await ada.client.post('/v1/voice/agent/logout', { agent_id: 'amina' })
  assert.deepEqual([busy.status, busy.body.error.code], [409, 'AGENT_BUSY'])
  const kept = await done(ada, '/v1/voice/agent/status', { agent_id: 'amina', status: 'break' })
  assert.deepEqual([kept.status, kept.next_status], ['on_call', 'break'])
  const out = await done(ada, '/v1/voice/agent/logout', { agent_id: 'amina', force: true })
  assert.equal(out.status, 'offline')
  await ended(ada, call)
  assert.equal((await agentNow(ada, 'amina')).status, 'offline')
})
