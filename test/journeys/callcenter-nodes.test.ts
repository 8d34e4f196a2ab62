// SPDX-License-Identifier: Apache-2.0
// The call centre on several nodes: two of them race for one agent, one dies with callers in its queue, an agent's line is lost.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { distributeCalls } from '../../src/areas/callcenter/calls/distribution.ts'
import { mailReportJob } from '../../src/areas/callcenter/reports/mail.ts'
import { voice } from '../../src/areas/voice/area.ts'
import { callSessions } from '../../src/areas/voice/calls/call-sessions.ts'
import { newUuid, uuidOf } from '../../src/kernel/ids.ts'
import type { RunningNode } from '../../src/node/server.ts'
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
import { wordsOf } from '../paper.ts'
import { doChores, eventually, startWorld, tenantOf, type World } from '../world.ts'

let world: World
let second: RunningNode

before(async () => {
  world = await startWorld({ PAMOJA_VOICE_MEDIA_TIMEOUT_SECONDS: 3 })
  second = await world.another()
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

test('a report is mailed once to everybody for each period, whichever nodes run its job, and also when it runs again', async () => {
  const ada = await open()
  assert.equal((await ada.client.patch('/v1/account', { timezone: 'Africa/Nairobi' })).status, 200)
  const queue = await queueOf(ada)
  await assign(ada, { queue_id: queue })
  const call = await callerOf(ada)
  await callIs(ada, call, ({ phase }) => phase === 'queued', 'the caller to wait')
  await done(ada, `/v1/sandbox/voice/${call}/hangup`, {})
  await ended(ada, call)
  const path = '/v1/call-center/report-schedules'
  const recipients = ['lead@shop.example', 'boss@shop.example']
  const made = await done(ada, path, { name: 'Yesterday', report: 'queues', every: 'day', hour: 7, recipients }, 201)
  assert.deepEqual(
    [made.timezone, made.mail_configured, made.last, made.formats, made.next_at.slice(11)],
    ['Africa/Nairobi', true, null, ['pdf', 'csv'], '04:00:00.000Z'],
  )
  const own = `${path}/${made.report_schedule_id}`
  const now = async () => (await ada.client.get(own)).body
  const mailed = async () => {
    const { body } = await ada.client.get('/v1/sandbox/email/messages?limit=100')
    return body.data.filter(({ subject }: { subject: string }) => subject.startsWith('Yesterday: '))
  }
  await later(ada, 2 * 86_400)
  const both = await eventually(async () => {
    const mails = await mailed()
    return mails.length >= 4 && mails
  }, 'the mails of two days')
  assert.deepEqual(
    both.map(({ to, subject }: { to: string; subject: string }) => `${subject} ${to}`).sort(),
    [0, 1]
      .flatMap((days) => {
        const at = new Date(Date.parse(made.next_at) + (days - 1) * 86_400_000)
        return recipients.map((to) => `Yesterday: ${at.toISOString().slice(0, 10)} ${to}`)
      })
      .sort(),
  )
  const { body: mail } = await ada.client.get(`/v1/sandbox/email/messages/${both[0].id}`)
  assert.deepEqual(
    mail.attachments.map(({ filename, content_type }: { filename: string; content_type: string }) => [
      filename.replace(/[\d-]+/, ''),
      content_type,
    ]),
    [
      ['queues.pdf', 'application/pdf'],
      ['queues.csv', 'text/csv'],
    ],
  )
  const { text: raw } = await ada.client.get(`/v1/sandbox/email/messages/${both[0].id}/raw`)
  assert.match(raw, /^JVBERi0/m, 'a PDF')
  const after = await now()
  const dueAgain = new Date(Date.parse(made.next_at) + 2 * 86_400_000)
  assert.deepEqual([after.last.status, after.last.code, after.next_at], ['sent', null, dueAgain.toISOString()])

  const tenant = tenantOf(ada)
  const schedule = uuidOf('reportSchedule', made.report_schedule_id) ?? ''
  const at = new Date(Date.parse(made.next_at) + 86_400_000)
  await world.app.db.query(dueAt, { ...tenant, schedule, at })
  const run = { id: newUuid(Date.now()), bucket: tenant.bucket, tenant, key: schedule, place: null, attempt: 1 }
  const payload = { schedule, atMs: at.getTime() }
  const again = [world.app, second.app].map((app) => mailReportJob.handle(app, { ...run, failures: 0, payload }))
  assert.deepEqual(await Promise.all(again), [{ kind: 'done' }, { kind: 'done' }])
  assert.equal((await now()).next_at, dueAgain.toISOString())
  assert.equal((await mailed()).length, 4, 'a job that died before it noted what it mailed mails nobody twice')

  assert.equal((await ada.client.patch(own, { enabled: false })).body.next_at, null)
  await later(ada, 2 * 86_400)
  assert.equal((await mailed()).length, 4, 'one that is switched off mails nothing')
  assert.equal((await ada.client.delete(own)).status, 204)
  assert.equal((await ada.client.get(own)).status, 404)
})

test('a report is mailed in the language of its schedule, also its paper, which Arabic has from right to left', async () => {
  const ada = await open()
  const wanted = { report: 'calls', every: 'day', recipients: ['lead@shop.example'] }
  for (const language of ['fr', 'ar'])
    await done(ada, '/v1/call-center/report-schedules', { ...wanted, name: `Hier ${language}`, language }, 201)
  const english = await done(ada, '/v1/call-center/report-schedules', { ...wanted, name: 'Day' }, 201)
  assert.equal(english.language, 'en')
  await later(ada, 86_400)
  const mails = await eventually(async () => {
    const { body } = await ada.client.get('/v1/sandbox/email/messages?limit=10')
    return body.data.length === 3 && body.data
  }, 'the mails')
  const mailOf = async (name: string) => {
    const { id } = mails.find(({ subject }: { subject: string }) => subject.startsWith(name))
    const { body } = await ada.client.get(`/v1/sandbox/email/messages/${id}`)
    const { text: raw } = await ada.client.get(`/v1/sandbox/email/messages/${id}/raw`)
    const [, part = ''] = /filename="?calls-[\d-]+\.csv"?[\s\S]*?\r?\n\r?\n([A-Za-z0-9+/=\r\n]+)/.exec(raw) ?? []
    const csv = Buffer.from(part, 'base64').toString('utf8')
    const [, pdf = ''] = /filename="?calls-[\d-]+\.pdf"?[\s\S]*?\r?\n\r?\n([A-Za-z0-9+/=\r\n]+)/.exec(raw) ?? []
    const paper = wordsOf(Buffer.from(pdf, 'base64').toString('latin1'))
    return { html: String(body.html), heading: csv.slice(0, csv.indexOf('\r\n')), paper }
  }
  const french = await mailOf('Hier fr')
  assert.match(french.html, /lang="fr" dir="ltr"[\s\S]*0 appels, 0 pris, 0 abandonnés\.[\s\S]*Ouvrir le rapport/)
  assert.match(french.heading, /^\ufeffDébut,Appels,Pris,Abandonnés,/)
  const arabic = await mailOf('Hier ar')
  assert.match(arabic.html, /lang="ar" dir="rtl"[\s\S]*فتح التقرير/)
  assert.match(arabic.paper, /المكالمات[\s\S]*متوسط الانتظار[\s\S]*لم تكن هناك مكالمات/)
  assert.match(french.paper, /Appels[\s\S]*Attente moyenne[\s\S]*Aucun appel/)
  assert.match(arabic.heading, /^\ufeffالبداية,المكالمات,/)
  const plain = await mailOf('Day')
  assert.match(plain.html, /lang="en" dir="ltr"[\s\S]*0 calls, 0 answered, 0 abandoned\./)
  assert.match(plain.heading, /^interval_start,offered,/)
})

test('a report that cannot be mailed says so, mails nothing, and is tried the next time', async () => {
  const ada = await open()
  const { body: key } = await ada.client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  const live = { ...ada, client: world.stranger.as(key.key) }
  const path = '/v1/call-center/report-schedules'
  const wanted = { name: 'Month', report: 'calls', every: 'month', recipients: ['lead@shop.example'] }
  const made = await done(live, path, wanted, 201)
  assert.deepEqual([made.mail_configured, made.day_of_month, made.hour], [false, 1, 7])
  const tenant: Tenant = { ...tenantOf(ada), environment: 'live' }
  const schedule = uuidOf('reportSchedule', made.report_schedule_id) ?? ''
  const at = new Date(Date.now() - 60_000)
  await world.app.db.query(dueAt, { ...tenant, schedule, at })
  const run = { id: newUuid(Date.now()), bucket: tenant.bucket, tenant, key: schedule, place: null, attempt: 1 }
  await mailReportJob.handle(world.app, { ...run, failures: 0, payload: { schedule, atMs: at.getTime() } })
  const { body: after } = await live.client.get(`${path}/${made.report_schedule_id}`)
  assert.deepEqual([after.last.status, after.last.code, after.next_at], ['failed', 'MAIL_NOT_CONFIGURED', made.next_at])
  assert.deepEqual((await live.client.get('/v1/email')).body.data, [])
})

test('a report says who was not mailed it, and one that fails for another reason is tried again and does not end there', async () => {
  const ada = await open()
  const stopped = await ada.client.post('/v1/email/suppressions', { email: 'boss@shop.example' })
  assert.equal(stopped.status, 201, JSON.stringify(stopped.body))
  const path = '/v1/call-center/report-schedules'
  const recipients = ['lead@shop.example', 'The boss <Boss@shop.example>']
  const made = await done(ada, path, { name: 'Partly', report: 'calls', every: 'day', recipients }, 201)
  const own = `${path}/${made.report_schedule_id}`
  const tenant = tenantOf(ada)
  const schedule = uuidOf('reportSchedule', made.report_schedule_id) ?? ''
  const run = { id: newUuid(Date.now()), bucket: tenant.bucket, tenant, key: schedule, place: null, attempt: 1 }
  const at = new Date(Date.now() - 60_000)
  const payload = { schedule, atMs: at.getTime() }
  await world.app.db.query(dueAt, { ...tenant, schedule, at })
  await mailReportJob.handle(world.app, { ...run, failures: 0, payload })
  const { last } = (await ada.client.get(own)).body
  assert.deepEqual([last.status, last.code, last.not_sent], ['failed', 'OPTED_OUT', ['The boss <Boss@shop.example>']])
  const mails = await eventually(async () => {
    const { body } = await ada.client.get('/v1/sandbox/email/messages?limit=100')
    return body.data.length > 0 && body.data
  }, 'the report to arrive')
  assert.deepEqual(
    mails.map(({ to }: { to: string }) => to),
    ['lead@shop.example'],
  )

  await world.app.db.query(dueAt, { ...tenant, schedule, at })
  await world.app.db.query(hideStates, {})
  try {
    const early = await mailReportJob.handle(world.app, { ...run, failures: 0, payload })
    assert.deepEqual(early, { kind: 'retry', reason: 'INTERNAL_ERROR' })
    const { length: tries } = mailReportJob.retrySeconds
    assert.deepEqual(await mailReportJob.handle(world.app, { ...run, failures: tries, payload }), { kind: 'done' })
  } finally {
    await world.app.db.query(showStates, {})
  }
  const { body: after } = await ada.client.get(own)
  assert.deepEqual([after.last.status, after.last.code, after.next_at], ['failed', 'INTERNAL_ERROR', made.next_at])
})

const hideStates = statement.home<object, object>(
  'test.hide_states',
  'alter table callcenter.agent_states rename to away',
)
const showStates = statement.home<object, object>(
  'test.show_states',
  'alter table callcenter.away rename to agent_states',
)

const dueAt = statement.tenant<Tenant & { schedule: string; at: Date }, object>(
  'test.report_due_at',
  `update callcenter.report_schedules set next_at = $at
    where bucket = $bucket and account_id = $account and environment = $environment and id = $schedule`,
)

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
  const over = await ended(ada, await callerOf(ada))
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
