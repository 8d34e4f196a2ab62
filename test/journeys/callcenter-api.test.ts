// SPDX-License-Identifier: Apache-2.0
// The call centre's requests: what each takes, what it refuses and with which code, and who may ask.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { tone } from '../../src/protocols/audio/tones.ts'
import { agentIs, assign, done, later, login, numberOf, queueOf, uploadPrompt } from '../callcentre.ts'
import { refusal } from '../client.ts'
import { openStream } from '../stream.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World

before(async () => {
  world = await startWorld()
})
after(() => world?.stop())

const open = () => world.account({ balance: 100 })
const nobody = 'que_01jb2c3d4e5f6g7h8j9kamnpqr'

type Refusal = readonly [path: string, body: object, status: number, code: string]

async function refused(ada: Account, table: readonly Refusal[]): Promise<void> {
  for (const [path, body, status, code] of table) {
    const reply = await ada.client.post(path, body)
    assert.deepEqual(
      [reply.status, reply.body.error?.code],
      [status, code],
      `${path} ${JSON.stringify(body).slice(0, 200)} ${reply.text}`,
    )
  }
}

test('queues have defaults, are changed in parts, and refuse what breaks their limits', async () => {
  const ada = await open()
  const queue = await done(ada, '/v1/voice/queue', { name: 'Support' }, 201)
  assert.deepEqual(
    [
      queue.strategy,
      queue.max_wait_seconds,
      queue.max_size,
      queue.offer_timeout,
      queue.wrap_up_seconds,
      queue.sla,
      queue.status,
      queue.priority,
    ],
    ['longest_idle', 600, 200, 20, 30, { target_percent: 80, threshold_seconds: 20 }, 'open', 5],
  )
  const path = `/v1/voice/queue/${queue.queue_id}`
  const changed = await ada.client.patch(path, {
    agents: ['a', 'b'],
    status: 'paused',
    skills_required: [{ name: 'x', min_level: 2 }],
  })
  assert.deepEqual(
    [changed.status, changed.body.agents, changed.body.status, changed.body.name],
    [200, ['a', 'b'], 'paused', 'Support'],
  )
  assert.deepEqual((await ada.client.patch(path, { agents: ['c'] })).body.agents, ['c'], 'lists are replaced whole')
  const good = { name: 'Other' }
  await refused(ada, [
    ['/v1/voice/queue', { name: 'Support' }, 409, 'DUPLICATE_REFERENCE'],
    ['/v1/voice/queue', { name: '' }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/queue', { name: 'a'.repeat(65) }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/queue', { ...good, strategy: 'loudest' }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/queue', { ...good, max_wait_seconds: 7_201 }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/queue', { ...good, max_size: 0 }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/queue', { ...good, max_size: 10_001 }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/queue', { ...good, priority: 11 }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/queue', { ...good, language: 'es-ES' }, 422, 'UNSUPPORTED_LANGUAGE'],
    ['/v1/voice/queue', { ...good, music_url: 'http://example.com/x' }, 400, 'INVALID_URL'],
    ['/v1/voice/queue', { ...good, business_hours_id: 'bh_x' }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/queue', { ...good, callback: { enabled: true } }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/queue', { ...good, overflow: { on: ['rain'], action: { type: 'hangup' } } }, 422, 'VALIDATION_ERROR'],
    [
      '/v1/voice/queue',
      { ...good, overflow: { on: ['full'], action: { type: 'queue', id: nobody } } },
      422,
      'VALIDATION_ERROR',
    ],
    ['/v1/voice/queue', { ...good, overflow: { on: ['full'], action: { type: 'phone' } } }, 422, 'VALIDATION_ERROR'],
  ])
  const other = await queueOf(ada, { name: 'Other' })
  assert.equal((await ada.client.patch(`/v1/voice/queue/${other}`, { name: 'Support' })).status, 409)
  const { body: oldest } = await ada.client.get('/v1/voice/queue?order=asc')
  assert.deepEqual(
    oldest.data.map(({ name }: { name: string }) => name),
    ['Support', 'Other'],
    'oldest first when asked',
  )
  const key = await ada.client.post('/v1/voice/queue', { ...good, callback: { enabled: true } })
  assert.match(key.body.error.details, /callback\.key is needed/)
  const { body: all } = await ada.client.get('/v1/voice/queue?limit=1')
  assert.deepEqual([all.data.length, all.has_more, all.data[0].live.waiting], [1, true, 0])
  assert.equal((await ada.client.get(`/v1/voice/queue/${nobody}`)).status, 404)
})

test('agents log in and out, say what they do, and their token speaks for nobody else', async () => {
  const ada = await open()
  const queue = await queueOf(ada)
  const first = await login(ada, 'amina', 1, { queues: [queue], skills: [{ name: 'billing', level: 5 }] })
  assert.deepEqual([first.status, first.queues, first.desk.ice_servers], ['available', [queue], []])
  const second = await login(ada, 'amina', 1, { status: 'training' })
  assert.notEqual(second.session_id, first.session_id)
  assert.deepEqual(
    [second.status, second.skills],
    ['training', [{ name: 'billing', level: 5 }]],
    'what is not said stays',
  )
  const { body: log } = await ada.client.get('/v1/events?event=agent.logged_out')
  assert.equal(log.data[0].payload.reason, 'replaced')
  const agent = world.stranger.as(second.token)
  const status = await agent.post('/v1/voice/agent/status', { agent_id: 'amina', status: 'break', reason: 'lunch' })
  assert.deepEqual(
    [status.body.status, status.body.previous_status, status.body.reason, status.body.next_status],
    ['break', 'training', 'lunch', null],
  )
  await login(ada, 'baraka', 2)
  const mine = await agent.post('/v1/voice/agent/status', { agent_id: 'baraka', status: 'break' })
  assert.deepEqual([mine.status, mine.body.error.code], [403, 'FORBIDDEN'])
  assert.equal((await agent.get('/v1/voice/agent/baraka/context')).status, 403)
  assert.equal((await agent.get('/v1/voice/agent/amina/context')).body.call, null)
  for (const path of [
    '/v1/voice/agent',
    '/v1/voice/queue',
    `/v1/voice/queue/${queue}`,
    '/v1/voice/ivr',
    '/v1/voice/routing/rules',
    '/v1/voice/routing/business-hours',
    '/v1/call-center/reports',
    '/v1/call-center/metrics/realtime',
  ])
    assert.deepEqual([path, (await agent.get(path)).status, (await ada.client.get(path)).status], [path, 403, 200])
  for (const [method, path] of [
    ['POST', '/v1/voice/queue'],
    ['PATCH', '/v1/voice/agent/amina'],
    ['POST', '/v1/voice/monitor'],
  ] as const)
    assert.equal((await agent.request(method, path, { body: {} })).status, 403, path)
  assert.equal((await agent.get('/v1/wallet/balance')).status, 403)
  const until = new Date(world.app.clock.nowMs() + 120_000).toISOString()
  await done(ada, '/v1/voice/agent/status', { agent_id: 'amina', status: 'meeting', until })
  await later(ada, 121)
  await agentIs(ada, 'amina', 'available')
  const changed = await ada.client.patch('/v1/voice/agent/amina', { skills: [], name: 'Amina' })
  assert.deepEqual([changed.body.skills, changed.body.name, changed.body.queues], [[], 'Amina', [queue]])
  const out = await done(ada, '/v1/voice/agent/logout', { agent_id: 'amina' })
  assert.deepEqual([out.status, out.session_seconds >= 121], ['offline', true])
  await refused(ada, [
    ['/v1/voice/agent/status', { agent_id: 'amina', status: 'break' }, 409, 'AGENT_NOT_LOGGED_IN'],
    ['/v1/voice/agent/logout', { agent_id: 'amina' }, 409, 'AGENT_NOT_LOGGED_IN'],
    ['/v1/voice/agent/logout', { agent_id: 'nobody' }, 404, 'NOT_FOUND'],
    ['/v1/voice/agent/status', { agent_id: 'baraka', status: 'on_call' }, 422, 'VALIDATION_ERROR'],
    [
      '/v1/voice/agent/status',
      { agent_id: 'baraka', status: 'break', reason: 'a'.repeat(65) },
      422,
      'VALIDATION_ERROR',
    ],
    [
      '/v1/voice/agent/status',
      { agent_id: 'baraka', status: 'break', until: '2020-01-01T00:00:00Z' },
      422,
      'VALIDATION_ERROR',
    ],
    ['/v1/voice/agent/login', { agent_id: 'a b' }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/agent/login', { agent_id: 'a'.repeat(65) }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/agent/login', { agent_id: 'x', queues: [nobody] }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/agent/login', { agent_id: 'x', skills: [{ name: 'a', level: 6 }] }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/agent/login', { agent_id: 'x', endpoint: { type: 'phone' } }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/agent/login', { agent_id: 'x', endpoint: { type: 'phone', number: '0711' } }, 422, 'INVALID_PHONE'],
    ['/v1/voice/agent/login', { agent_id: 'x', languages: ['es-ES'] }, 422, 'UNSUPPORTED_LANGUAGE'],
  ])
  assert.equal(
    (await ada.client.get('/v1/voice/agent/x/context')).status,
    404,
    'nothing was stored for what was refused',
  )
})

test('numbers are assigned to one thing that is there, and detached again', async () => {
  const ada = await open()
  const queue = await queueOf(ada)
  const path = `/v1/voice/numbers/${encodeURIComponent(numberOf(ada))}/assign`
  const assigned = await done(ada, path, { queue_id: queue })
  assert.deepEqual(
    [assigned.assigned_to, assigned.country, assigned.capabilities],
    [{ type: 'queue', id: queue }, 'KE', ['voice', 'sms']],
  )
  assert.deepEqual((await done(ada, path, { routing: true })).assigned_to, { type: 'routing' })
  assert.deepEqual((await done(ada, path, { agent_id: 'amina' })).assigned_to, { type: 'agent', id: 'amina' })
  assert.equal((await done(ada, path, { queue_id: null })).assigned_to, null)
  await refused(ada, [
    [path, {}, 422, 'VALIDATION_ERROR'],
    [path, { queue_id: queue, routing: true }, 422, 'VALIDATION_ERROR'],
    [path, { queue_id: nobody }, 422, 'VALIDATION_ERROR'],
    [path, { ivr_id: 'ivr_x' }, 422, 'VALIDATION_ERROR'],
    [path, { agent_id: 'a b' }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/numbers/nonsense/assign', { routing: true }, 404, 'NOT_FOUND'],
  ])
  const eve = await open()
  const theirs = await eve.client.post(path, { routing: true })
  assert.deepEqual([theirs.status, theirs.body.error.code], [403, 'NUMBER_NOT_OWNED'])
})

test('business hours with queue_ids are the hours of these queues, and of no others', async () => {
  const ada = await open()
  const [support, sales] = [await queueOf(ada), await queueOf(ada, { name: 'Sales' })]
  await assign(ada, { queue_id: support })
  const hoursOf = async (queue: string) => (await ada.client.get(`/v1/voice/queue/${queue}`)).body.business_hours_id
  const callOf = () => done(ada, '/v1/voice/routing/simulate', { to: numberOf(ada), from: '+254711000021' })
  assert.deepEqual((await callOf()).destination, { type: 'queue', id: support })
  const path = '/v1/voice/routing/business-hours'
  const never = {
    name: 'Never',
    timezone: 'Africa/Nairobi',
    weekly: {},
    closed_action: { type: 'message', text: 'We are closed.' },
  }
  const made = await done(ada, path, { ...never, queue_ids: [support] }, 201)
  const id = made.business_hours_id
  assert.deepEqual(made.queue_ids, [support])
  assert.deepEqual([await hoursOf(support), await hoursOf(sales)], [id, null])
  const closed = await callOf()
  assert.deepEqual([closed.destination.type, closed.business_hours], ['message', { id, open: false }])

  const kept = await done(ada, path, never)
  assert.deepEqual(kept.queue_ids, [support], 'without the list no queue is changed')
  assert.equal((await ada.client.patch(`/v1/voice/queue/${sales}`, { business_hours_id: id })).status, 200)
  const read = await ada.client.get(`${path}/${id}`)
  assert.deepEqual(read.body.queue_ids, [support, sales], 'a queue that names them itself keeps them too')

  assert.deepEqual((await done(ada, path, { ...never, queue_ids: [sales] })).queue_ids, [sales])
  assert.deepEqual([await hoursOf(support), await hoursOf(sales)], [null, id])
  assert.deepEqual((await callOf()).destination, { type: 'queue', id: support }, 'it is open again')
  assert.deepEqual((await done(ada, path, { ...never, queue_ids: [] })).queue_ids, [])
  const { body: all } = await ada.client.get(path)
  assert.deepEqual(all.data[0].queue_ids, [])
  const named = (count: number) => ({ ...never, queue_ids: Array.from({ length: count }, () => sales) })
  assert.deepEqual((await done(ada, path, named(2_000))).queue_ids, [sales], 'as many as an account may have')
  await refused(ada, [
    [path, { ...never, queue_ids: [nobody] }, 422, 'VALIDATION_ERROR'],
    [path, { ...never, queue_ids: [sales, 'q_1'] }, 422, 'VALIDATION_ERROR'],
    [path, named(2_001), 422, 'VALIDATION_ERROR'],
  ])
})

test('rules and business hours are kept, changed and refused', async () => {
  const ada = await open()
  const hours = { name: 'Office', timezone: 'Africa/Nairobi', weekly: { monday: [{ open: '08:00', close: '17:00' }] } }
  const made = await done(ada, '/v1/voice/routing/business-hours', hours, 201)
  assert.deepEqual([typeof made.open_now, made.next_change_at !== null], ['boolean', true])
  const again = await done(ada, '/v1/voice/routing/business-hours', { ...hours, weekly: {} }, 200)
  assert.deepEqual(
    [again.business_hours_id, again.open_now, again.next_change_at],
    [made.business_hours_id, false, null],
  )
  const rule = {
    name: 'Closed',
    priority: 1,
    conditions: [{ field: 'business_hours', op: 'closed', value: made.business_hours_id }],
    action: { type: 'message', text: 'We are closed.' },
  }
  const kept = await done(ada, '/v1/voice/routing/rules', rule, 201)
  assert.deepEqual([kept.enabled, kept.match, kept.stop], [true, 'all', true])
  const later = { name: 'Later', priority: 2, enabled: false, action: { type: 'hangup' } }
  const { rule_id: last } = await done(ada, '/v1/voice/routing/rules', later, 201)
  const { body: listed } = await ada.client.get('/v1/voice/routing/rules?order=asc')
  assert.deepEqual(
    listed.data.map(({ rule_id }: { rule_id: string }) => rule_id),
    [kept.rule_id, last],
    'in the order in which they are looked at, and in no other',
  )
  const simulated = await done(ada, '/v1/voice/routing/simulate', { to: numberOf(ada), from: '+254711000021' })
  assert.deepEqual([simulated.matched_rule_id, simulated.destination.type], [kept.rule_id, 'message'])
  const path = `/v1/voice/routing/rules/${kept.rule_id}`
  assert.equal((await ada.client.patch(path, { enabled: false })).body.enabled, false)
  assert.equal(
    (await done(ada, '/v1/voice/routing/simulate', { to: numberOf(ada), from: '+254711000021' })).destination,
    null,
  )
  assert.deepEqual((await ada.client.delete(path)).body.deleted, true)
  assert.equal((await ada.client.delete(path)).status, 404)
  const good = { name: 'x', priority: 1, action: { type: 'hangup' } }
  const many = Array.from({ length: 21 }, () => ({ field: 'to', op: 'exists' }))
  await refused(ada, [
    ['/v1/voice/routing/rules', { ...good, conditions: many }, 422, 'VALIDATION_ERROR'],
    [
      '/v1/voice/routing/rules',
      { ...good, conditions: [{ field: 'shoe_size', op: 'eq', value: 1 }] },
      422,
      'VALIDATION_ERROR',
    ],
    [
      '/v1/voice/routing/rules',
      { ...good, conditions: [{ field: 'to', op: 'in', value: 'x' }] },
      422,
      'VALIDATION_ERROR',
    ],
    [
      '/v1/voice/routing/rules',
      { ...good, conditions: [{ field: 'to', op: 'open', value: 'x' }] },
      422,
      'VALIDATION_ERROR',
    ],
    [
      '/v1/voice/routing/rules',
      { ...good, conditions: [{ field: 'business_hours', op: 'open', value: 'bh_x' }] },
      422,
      'VALIDATION_ERROR',
    ],
    ['/v1/voice/routing/rules', { ...good, action: { type: 'queue', id: nobody } }, 422, 'VALIDATION_ERROR'],
    [
      '/v1/voice/routing/rules',
      { ...good, action: { type: 'application', answer_url: 'ftp://x' } },
      400,
      'INVALID_URL',
    ],
    ['/v1/voice/routing/rules', { ...good, action: { type: 'phone', number: '0711' } }, 422, 'INVALID_PHONE'],
    ['/v1/voice/routing/business-hours', { ...hours, timezone: 'Mars/Base' }, 422, 'VALIDATION_ERROR'],
    [
      '/v1/voice/routing/business-hours',
      { ...hours, weekly: { monday: [{ open: '17:00', close: '08:00' }] } },
      422,
      'VALIDATION_ERROR',
    ],
    [
      '/v1/voice/routing/business-hours',
      { ...hours, weekly: { monday: Array.from({ length: 5 }, () => ({ open: '08:00', close: '09:00' })) } },
      422,
      'VALIDATION_ERROR',
    ],
    ['/v1/voice/routing/simulate', { to: 'x', from: '+254711000021' }, 422, 'INVALID_PHONE'],
  ])
})

test('a simulation walks menus, looks at assumed queues, and traces its way', async () => {
  const ada = await open()
  const next = await queueOf(ada, { name: 'Next' })
  const queue = await queueOf(ada, { max_size: 5, overflow: { on: ['full'], action: { type: 'queue', id: next } } })
  await login(ada, 'amina', 1, { queues: [queue] })
  const menus = { main: { options: { '1': { label: 'Help', action: { type: 'queue', id: queue } } } } }
  const ivr = await done(ada, '/v1/voice/ivr', { name: 'Reception', entry: 'main', menus }, 201)
  await assign(ada, { ivr_id: ivr.ivr_id })
  const to = numberOf(ada)
  const from = '+254711000021'
  const waiting = await done(ada, '/v1/voice/routing/simulate', { to, from })
  assert.deepEqual(waiting.destination, { type: 'ivr', id: ivr.ivr_id })
  const chosen = await done(ada, '/v1/voice/routing/simulate', { to, from, digits: ['9', '1'] })
  assert.deepEqual([chosen.destination.id, chosen.eligible_agents.length, chosen.estimated_wait_seconds], [queue, 1, 0])
  assert.deepEqual(
    chosen.trace.map(({ kind, result }: { kind: string; result: string }) => `${kind} ${result}`),
    ['number matched', 'ivr entered', 'ivr entered', 'ivr matched', 'queue selected', 'agent selected'],
  )
  const full = await done(ada, '/v1/voice/routing/simulate', {
    to,
    from,
    speech: ['help!'],
    assume: { [queue]: { waiting: 5 } },
  })
  assert.deepEqual(full.destination, { type: 'queue', id: next })
  const { body } = await ada.client.get(`/v1/voice/queue/${queue}`)
  assert.equal(body.live.waiting, 0, 'nothing was touched')
  await refused(ada, [
    ['/v1/voice/ivr', { name: 'x', entry: 'none', menus }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/ivr', { name: 'x', entry: 'main', menus: { ...menus, lost: menus.main } }, 422, 'VALIDATION_ERROR'],
    [
      '/v1/voice/ivr',
      { name: 'x', entry: 'main', menus: { main: { options: { a: { action: { type: 'hangup' } } } } } },
      422,
      'VALIDATION_ERROR',
    ],
    [
      '/v1/voice/ivr',
      { name: 'x', entry: 'main', menus: { main: { options: { '1': { action: { webhook: 'ftp://x' } } } } } },
      400,
      'INVALID_URL',
    ],
    ['/v1/voice/ivr', { name: 'x', entry: 'main', menus, language: 'es-ES' }, 422, 'UNSUPPORTED_LANGUAGE'],
  ])
  assert.equal((await ada.client.patch(`/v1/voice/ivr/${ivr.ivr_id}`, { entry: 'none' })).status, 422)
  assert.equal((await ada.client.get(`/v1/voice/ivr/${ivr.ivr_id}`)).body.version, 1)
})

test('a menu finds people by their names, spelled on keys or said', async () => {
  const ada = await open()
  await login(ada, 'amina', 1, { name: 'Amina Otieno' })
  await login(ada, 'nameless', 2)
  const phone = (number: string) => ({ type: 'phone', number })
  const entries = [
    { name: 'Ọlá Ṣadé', action: phone('+254711000041') },
    { name: 'Aminata', action: phone('+254711000042') },
    ...Array.from({ length: 10 }, (_, i) => ({ name: `Zuri ${i}`, action: phone(`+25471100005${i}`) })),
  ]
  const main = { directory: { entries }, input: { types: ['dtmf', 'speech'] }, on_invalid: { retries: 0 } }
  const ivr = await done(ada, '/v1/voice/ivr', { name: 'Names', entry: 'main', menus: { main } }, 201)
  await assign(ada, { ivr_id: ivr.ivr_id })
  const call = { to: numberOf(ada), from: '+254711000021' }
  const leads = async (heard: { digits?: string[]; speech?: string[] }) => {
    const { destination } = await done(ada, '/v1/voice/routing/simulate', { ...call, ...heard })
    return destination.id ?? destination.number ?? destination.type
  }
  // O, T, I, E: any word of a name may be first. O, L, A: marks on letters are none on keys.
  assert.equal(await leads({ digits: ['6843'] }), 'amina')
  assert.equal(await leads({ digits: ['652'] }), '+254711000041')
  assert.equal(await leads({ digits: ['26462'] }), ivr.ivr_id, 'one of two is to be chosen')
  assert.equal(await leads({ digits: ['26462', '1'] }), '+254711000042')
  assert.equal(await leads({ digits: ['26462', '2'] }), 'amina')
  assert.equal(await leads({ digits: ['26462', '3'] }), 'hangup')
  assert.equal(await leads({ speech: ['Amina.'] }), 'amina')
  assert.equal(await leads({ speech: ['ola sade'] }), '+254711000041')
  assert.equal(await leads({ digits: ['9874'] }), 'hangup', 'more than nine cannot be offered')
  assert.equal(await leads({ digits: ['98740'] }), '+254711000050')
  assert.equal(await leads({ digits: ['77'] }), 'hangup', 'nobody')
  const others = { main: { ...main, directory: { agents: false, entries: entries.slice(0, 1) } } }
  assert.equal((await ada.client.patch(`/v1/voice/ivr/${ivr.ivr_id}`, { menus: others })).status, 200)
  assert.equal(await leads({ digits: ['6843'] }), 'hangup', 'agents are not to be reached')
  await refused(
    ada,
    [
      { main: { directory: { agents: false } } },
      { main: { directory: {}, options: {} } },
      { main: { directory: { entries: [{ name: 'x', action: { type: 'queue', id: 'que_none' } }] } } },
    ].map((menus): Refusal => ['/v1/voice/ivr', { name: 'x', entry: 'main', menus }, 422, 'VALIDATION_ERROR']),
  )
})

test('where a caller at 18:05 from Mombasa who speaks Swahili goes is asked, and so is one an hour earlier', async () => {
  const ada = await open()
  const day = await queueOf(ada, { name: 'Pwani' })
  const weekly = { wednesday: [{ open: '08:00', close: '18:00' }] }
  const office = { name: 'Office', timezone: 'Africa/Nairobi', weekly }
  const hours = await done(ada, '/v1/voice/routing/business-hours', office, 201)
  const mombasa = { field: 'from_prefix', op: 'eq', value: '+25441' }
  const swahili = { field: 'language', op: 'eq', value: 'sw-KE' }
  const isOpen = { field: 'business_hours', op: 'open', value: hours.business_hours_id }
  const rules = '/v1/voice/routing/rules'
  const rule = (name: string, priority: number, conditions: object[], action: object) =>
    done(ada, rules, { name, priority, conditions, action }, 201)
  const coast = await rule('Coast', 10, [mombasa, swahili, isOpen], { type: 'queue', id: day })
  const night = await rule('Coast at night', 20, [mombasa, swahili], { type: 'voicemail', language: 'sw-KE' })
  const call = { to: numberOf(ada), from: '+254412000001', language: 'sw-KE' }
  const asked = (at: string, more: object = {}) => done(ada, '/v1/voice/routing/simulate', { ...call, at, ...more })
  const late = await asked('2027-01-20T18:05:00+03:00')
  assert.deepEqual([late.destination.type, late.matched_rule_id], ['voicemail', night.rule_id])
  const early = await asked('2027-01-20T17:05:00+03:00')
  assert.deepEqual([early.destination.id, early.matched_rule_id], [day, coast.rule_id])
  assert.deepEqual(
    late.trace.map(({ kind, result }: { kind: string; result: string }) => `${kind} ${result}`).slice(-2),
    ['rule skipped', 'rule matched'],
  )
  assert.equal((await asked('2027-01-20T18:05:00+03:00', { language: 'en-KE' })).destination, null)
  assert.equal((await asked('2027-01-20T18:05:00+03:00', { from: '+254202000001' })).destination, null)
})

test('every version of a menu is kept, can be looked at, and comes back as a new one', async () => {
  const ada = await open()
  const queue = await queueOf(ada, { name: 'Sales' })
  const said = (text: string, action: object) => ({ main: { prompt: { text }, options: { '1': { action } } } })
  const wanted = { name: 'Reception', entry: 'main', menus: said('One.', { type: 'queue', id: queue }) }
  const ivr = await done(ada, '/v1/voice/ivr', wanted, 201)
  const path = `/v1/voice/ivr/${ivr.ivr_id}`
  await ada.client.patch(path, { menus: said('Two.', { type: 'hangup' }), status: 'draft' })
  const { body: listed } = await ada.client.get(`${path}/versions`)
  assert.deepEqual(
    listed.data.map((one: { version: number; status: string; menu_count: number }) => [
      one.version,
      one.status,
      one.menu_count,
    ]),
    [
      [2, 'draft', 1],
      [1, 'active', 1],
    ],
  )
  const { body: first } = await ada.client.get(`${path}/versions/1`)
  assert.deepEqual(
    [first.version, first.menus.main.prompt.text, first.restored_from, /^key:key_/.test(first.saved_by)],
    [1, 'One.', null, true],
  )
  const restored = await done(ada, `${path}/versions/1/restore`, {})
  assert.deepEqual(
    [restored.version, restored.menus.main.prompt.text, restored.status],
    [3, 'One.', 'draft'],
    'what it says is that of before, whether calls reach it is not',
  )
  assert.equal((await ada.client.get(`${path}/versions/3`)).body.restored_from, 1)
  for (const gone of [`${path}/versions/9`, `${path}/versions/x`, '/v1/voice/ivr/ivr_x/versions'])
    assert.equal((await ada.client.get(gone)).status, 404, gone)
  const other = await open()
  await refused(other, [[`${path}/versions/1/restore`, {}, 404, 'NOT_FOUND']])
  // Fifty are kept: the first ones are forgotten.
  for (let version = 4; version <= 53; version++) await ada.client.patch(path, { language: 'sw-KE' })
  const { body: kept } = await ada.client.get(`${path}/versions?limit=200`)
  assert.deepEqual([kept.data.length, kept.data[0].version, kept.data.at(-1).version], [50, 53, 4])
  assert.equal((await ada.client.get(`${path}/versions/3`)).status, 404)
})

test('a version that leads to something that is gone is not restored', async () => {
  const ada = await open()
  const { body: prompt } = await uploadPrompt(ada, tone([440], 500))
  const menus = { main: { prompt: { prompt_id: prompt.prompt_id }, options: { '1': { action: { type: 'hangup' } } } } }
  const ivr = await done(ada, '/v1/voice/ivr', { name: 'Reception', entry: 'main', menus }, 201)
  const own = `/v1/voice/prompts/${prompt.prompt_id}`
  assert.deepEqual(await refusal(ada.client.delete(own)), [409, 'CONFLICT'], 'a prompt that is played stays')
  await ada.client.patch(`/v1/voice/ivr/${ivr.ivr_id}`, {
    menus: { main: { ...menus.main, prompt: { text: 'One.' } } },
  })
  assert.equal((await ada.client.delete(own)).status, 204)
  assert.equal((await ada.client.get(`${own}/audio`)).status, 404)
  await refused(ada, [[`/v1/voice/ivr/${ivr.ivr_id}/versions/1/restore`, {}, 422, 'VALIDATION_ERROR']])
})

test('a prompt is uploaded as WAV or MP3, heard again, and refused when it is neither', async () => {
  const ada = await open()
  const { status, body: made } = await uploadPrompt(ada, tone([440], 1_500))
  assert.deepEqual([status, made.name, made.duration_seconds], [201, 'welcome', 1.5])
  const { status: took, body: hum } = await uploadPrompt(ada, readFileSync('test/sounds/hum-440.mp3'))
  assert.equal(took, 201, JSON.stringify(hum))
  assert.ok(hum.duration_seconds > 0.5, String(hum.duration_seconds))
  const { body: listed } = await ada.client.get('/v1/voice/prompts')
  assert.deepEqual(
    listed.data.map(({ prompt_id }: { prompt_id: string }) => prompt_id),
    [hum.prompt_id, made.prompt_id],
  )
  const heard = await ada.client.get(`/v1/voice/prompts/${made.prompt_id}/audio`, { headers: { range: 'bytes=0-47' } })
  assert.deepEqual(
    [heard.status, heard.text.slice(0, 4), heard.headers['content-range']],
    [206, 'RIFF', 'bytes 0-47/24044'],
  )
  const other = await open()
  assert.equal((await other.client.get(`/v1/voice/prompts/${made.prompt_id}/audio`)).status, 404)
  for (const [content, code] of [
    [Buffer.from('these are words, and no sound'), 422],
    [Buffer.alloc(10 * 1_024 * 1_024 + 1), 413],
    [tone([440], 301_000), 422],
  ] as const)
    assert.equal((await uploadPrompt(ada, content)).status, code)
  assert.equal((await ada.client.get('/v1/voice/prompts')).body.data.length, 2, 'nothing stays of what is refused')
  const menus = (prompt: object) => ({ main: { prompt, options: { '1': { action: { type: 'hangup' } } } } })
  await refused(ada, [
    ['/v1/voice/ivr', { name: 'x', entry: 'main', menus: menus({ prompt_id: 'prm_x' }) }, 422, 'VALIDATION_ERROR'],
    [
      '/v1/voice/ivr',
      { name: 'x', entry: 'main', menus: menus({ prompt_id: made.prompt_id, text: 'One.' }) },
      422,
      'VALIDATION_ERROR',
    ],
  ])
})

test('reports by mail refuse who cannot get them, and what is not there', async () => {
  const ada = await open()
  const path = '/v1/call-center/report-schedules'
  const good = { name: 'Week', report: 'agents', every: 'week', recipients: ['lead@shop.example'] }
  await refused(ada, [
    [path, { ...good, recipients: ['nobody'] }, 422, 'INVALID_EMAIL'],
    [path, { ...good, recipients: ['a@shop.example', 'Ann <A@shop.example>'] }, 422, 'INVALID_EMAIL'],
    [path, { ...good, recipients: [] }, 422, 'VALIDATION_ERROR'],
    [
      path,
      { ...good, recipients: Array.from({ length: 11 }, (_, i) => `a${i}@shop.example`) },
      422,
      'VALIDATION_ERROR',
    ],
    [path, { ...good, hour: 24 }, 422, 'VALIDATION_ERROR'],
    [path, { ...good, day_of_month: 29 }, 422, 'VALIDATION_ERROR'],
    [path, { ...good, queue_id: nobody }, 422, 'VALIDATION_ERROR'],
    [path, { ...good, formats: [] }, 422, 'VALIDATION_ERROR'],
  ])
  const made = await done(ada, path, { ...good, weekday: 'friday', hour: 18, formats: ['csv'] }, 201)
  const next = new Date(made.next_at)
  assert.deepEqual([next.getUTCDay(), made.weekday, made.formats], [5, 'friday', ['csv']])
  const own = `${path}/${made.report_schedule_id}`
  const renamed = await ada.client.patch(own, { name: 'Friday' })
  assert.deepEqual([renamed.body.name, renamed.body.next_at], ['Friday', made.next_at], 'its time stays')
  const daily = await ada.client.patch(own, { every: 'day' })
  assert.ok(new Date(daily.body.next_at).getTime() <= Date.now() + 86_400_000)
  assert.deepEqual(
    (await ada.client.get(path)).body.data.map(({ name }: { name: string }) => name),
    ['Friday'],
  )
  const other = await open()
  assert.equal((await other.client.get(own)).status, 404)
  assert.equal((await other.client.delete(own)).status, 404)
})

test('calls, transfers, conferences and monitors refuse what cannot be', async () => {
  const ada = await open()
  await login(ada, 'amina', 1, { status: 'break' })
  const from = numberOf(ada)
  const to = '+254711000020'
  const nothing = 'call_01jb2c3d4e5f6g7h8j9kamnpqr'
  await refused(ada, [
    ['/v1/voice/call', { from, to, agent_id: 'amina' }, 409, 'AGENT_NOT_AVAILABLE'],
    ['/v1/voice/call', { from, to, agent_id: 'nobody' }, 409, 'AGENT_NOT_AVAILABLE'],
    ['/v1/voice/call', { from, to: '0711' }, 422, 'INVALID_PHONE'],
    ['/v1/voice/call', { from, to: '+8816123456' }, 403, 'DESTINATION_NOT_ALLOWED'],
    ['/v1/voice/call', { from, to, event_url: 'ftp://x' }, 400, 'INVALID_URL'],
    ['/v1/voice/call', { from, to, ring_timeout: 4 }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/call', { from, to, queue_id: nobody }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/call', { from, to, custom_data: { a: 'a'.repeat(4_096) } }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/transfer', { call_id: nothing, transfer_type: 'cold', destination: 'amina' }, 404, 'NOT_FOUND'],
    ['/v1/voice/transfer', { call_id: nothing, transfer_type: 'hot', destination: 'amina' }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/monitor', { call_id: nothing, mode: 'listen', supervisor_id: 'amina' }, 404, 'NOT_FOUND'],
    ['/v1/voice/monitor', { call_id: nothing, mode: 'listen' }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/monitor', { call_id: nothing, mode: 'sing', supervisor_id: 'amina' }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/conference', { name: 'x', from, participants: [] }, 422, 'VALIDATION_ERROR'],
    ['/v1/voice/conference', { name: 'x', from, participants: ['amina'] }, 409, 'AGENT_NOT_AVAILABLE'],
    ['/v1/voice/conference', { name: 'x', from, participants: ['+0711'] }, 422, 'INVALID_PHONE'],
    [
      '/v1/voice/conference',
      { name: 'x', from, participants: Array.from({ length: 51 }, () => to) },
      409,
      'CONFERENCE_FULL',
    ],
    ['/v1/voice/conference', { name: 'x', from, participants: [to, to], max_participants: 1 }, 409, 'CONFERENCE_FULL'],
    ['/v1/voice/conference', { name: 'x', from, participants: [to], moderator: 'amina' }, 422, 'VALIDATION_ERROR'],
  ])
  assert.equal((await ada.client.patch(`/v1/voice/call/${nothing}`, { hold: true })).status, 404)
  const ringing = await done(ada, '/v1/voice/calls', { from, to: '+254711000004', actions: [{ action: 'wait' }] }, 201)
  const early = await ada.client.patch(`/v1/voice/call/${ringing.call_id}`, { hold: true })
  assert.deepEqual([early.status, early.body.error.code], [409, 'CALL_NOT_ACTIVE'])
  assert.equal(
    (
      await ada.client.post('/v1/voice/monitor', {
        call_id: ringing.call_id,
        mode: 'listen',
        endpoint: { type: 'phone', number: to },
      })
    ).status,
    409,
  )
  assert.equal((await ada.client.get('/v1/wallet/balance')).body.balance, 100)
  const poor = await world.account({ balance: 1 })
  await refused(poor, [['/v1/voice/call', { from: numberOf(poor), to }, 402, 'INSUFFICIENT_BALANCE']])
  await done(ada, `/v1/voice/call/${ringing.call_id}/hangup`, {})
})

test('metrics are told every second; reports come as JSON and CSV, and refuse wrong ranges', async () => {
  const ada = await open()
  await queueOf(ada)
  await login(ada, 'amina', 1)
  const { body: now } = await ada.client.get('/v1/call-center/metrics/realtime?window=15m')
  assert.deepEqual(
    [now.window, now.totals.offered, now.totals.service_level_percent, now.totals.agents_available, now.queues.length],
    ['15m', 0, null, 1, 1],
  )
  const stream = await openStream(`${world.node.url}/v1/call-center/metrics/realtime?stream=1`, {
    key: ada.key,
    ca: world.node.caFile ? readFileSync(world.node.caFile, 'utf8') : null,
    headers: { accept: 'text/event-stream' },
  })
  await eventually(async () => stream.messages.length >= 2, 'two messages')
  const [first, second] = stream.messages.map(({ data }) => JSON.parse(data))
  assert.ok(first.generated_at < second.generated_at && first.agents[0].agent_id === 'amina')
  stream.close()
  const { body: report } = await ada.client.get(
    '/v1/call-center/reports?from=2026-03-01&to=2026-03-02&interval=hour&group_by=queue',
  )
  assert.deepEqual([report.rows, report.totals.offered, report.group_by, report.interval], [[], 0, ['queue'], 'hour'])
  assert.deepEqual(
    [report.from, report.to],
    ['2026-03-01T00:00:00.000Z', '2026-03-03T00:00:00.000Z'],
    'the last day is included',
  )
  const csv = await ada.client.get('/v1/call-center/reports?format=csv&metrics=offered,answered&group_by=agent')
  assert.deepEqual(
    [csv.headers['content-type'], csv.text],
    ['text/csv; charset=utf-8', 'interval_start,agent_id,offered,answered\r\n'],
  )
  for (const query of [
    'from=yesterday',
    'from=2026-03-02&to=2026-03-01',
    'from=2024-01-01&to=2026-01-01',
    'from=2026-01-01&to=2026-12-31&interval=15m',
    'to=9999-12-31',
    'from=9999-12-01&to=9999-12-31',
  ]) {
    const { status, body } = await ada.client.get(`/v1/call-center/reports?${query}`)
    assert.deepEqual([status, body.error?.code], [400, 'INVALID_DATE_RANGE'], query)
  }
  for (const query of ['interval=minute', 'group_by=shoe', 'metrics=joy', 'timezone=Mars/Base', 'queue_id=x'])
    assert.equal((await ada.client.get(`/v1/call-center/reports?${query}`)).status, 400, query)
  assert.equal((await ada.client.get('/v1/call-center/metrics/realtime?window=year')).status, 400)
})

test('what happened with a customer on other channels is told beside the calls', async () => {
  const ada = await world.account({ balance: 1000 })
  await login(ada, 'amina', 1)
  const phone = '+254711000001'
  const text = await ada.client.post('/v1/sms/send', { to: phone, from: 'PAMOJA', message: 'Habari' })
  const payment = await ada.client.post('/v1/payments', { amount: 100, currency: 'KES', phone })
  const other = await ada.client.post('/v1/sms/send', { to: '+254711000002', from: 'PAMOJA', message: 'Habari' })
  assert.deepEqual([text.status, payment.status, other.status], [200, 201, 200], payment.text)
  const { body } = await ada.client.get(`/v1/voice/agent/amina/context?phone=${encodeURIComponent(phone)}`)
  const ids = (rows: { id: string }[]) => rows.map(({ id }) => id)
  assert.deepEqual(ids(body.history.sms), [text.body.message_id])
  assert.deepEqual(ids(body.history.payments), [payment.body.payment_id])
  assert.deepEqual(body.history.ussd_sessions, [])
})
