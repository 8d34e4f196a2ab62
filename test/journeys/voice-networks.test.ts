// SPDX-License-Identifier: Apache-2.0
// What networks behind trunks do with calls, and what is made of it: they refuse, redirect, transfer, and write numbers in their own
// ways. They are our own stack in the opposite role, at another address of this machine.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { telephoneNetworkOf } from '../../src/areas/voice/trunks/telephone-network.ts'
import { withheldNumber } from '../../src/kernel/phone.ts'
import { offerAudio } from '../../src/protocols/sdp/session-description.ts'
import {
  answered,
  enter,
  live,
  number,
  over,
  path,
  plainNetwork,
  remove,
  shop,
  trunk,
  wanted,
  withTrunks,
  world,
} from '../trunks.ts'
import { eventually } from '../world.ts'

withTrunks(async () => ({}))

test('one destination without a line shuts no trunk, five in a row do; numbers are written as the trunk wants', async () => {
  const statuses = [
    ['07110001', 503],
    ['07110002', 502],
  ] as const
  const plain = await plainNetwork((user) => statuses.find(([prefix]) => user.startsWith(prefix))?.[1] ?? null)
  await enter({ name: 'plain', host: '127.0.0.3', port: plain.port, prefixes: ['+254'], number_format: 'national' })
  await trunk('plain', ({ is_up }) => is_up === true)
  const rate = { prefix: '+254', currency: 'KES', minute: 3 }
  assert.equal((await world.operator.post('/v1/operator/voice/rates', rate)).status, 200)
  const dial = (to: string) =>
    eventually(async () => {
      const { status, body } = await live.post('/v1/voice/calls', { ...wanted, to })
      return status === 201 ? body.call_id : null
    }, 'the call to be taken')
  const first = await over(await dial('+254711000101'))
  assert.deepEqual([first.status, first.sip_code, first.cost], ['failed', 503, 0])
  const others = await live.post('/v1/voice/calls', wanted)
  assert.equal(others.status, 201, 'the others still call')
  await answered(others.body.call_id)
  await live.post(`/v1/voice/${others.body.call_id}/hangup`, {})
  assert.deepEqual(plain.called, ['0711000101', '0711000020'])
  const dialFive = async (prefix: string) => {
    const ids = await Promise.all(['02', '03', '04', '05', '06'].map((last) => dial(`${prefix}${last}`)))
    for (const id of ids) await over(id)
  }
  const { trunks } = telephoneNetworkOf(world.app)
  await dialFive('+2547110002')
  assert.equal(trunks.stateOf('plain')?.isUp, true, 'a fault on the way to a number is the business of its call alone')
  await dialFive('+2547110001')
  assert.match(trunks.stateOf('plain')?.lastError ?? '', /5 numbers in a row/)
  await remove('plain')
  await plain.endpoint.close()
})

test('a network that does not want us, or is broken, leaves the call to the next; the callee is not called again', async () => {
  const [broken, whole] = [await plainNetwork((user) => Number(user.slice(-3))), await plainNetwork(() => null)]
  const where = { host: '127.0.0.3', prefixes: ['+254'] }
  await enter({ name: 'broken', ...where, port: broken.port, priority: 1 })
  await enter({ name: 'whole', ...where, port: whole.port, priority: 2 })
  for (const name of ['broken', 'whole']) await trunk(name, ({ is_up }) => is_up === true)
  await world.operator.post('/v1/operator/voice/rates', { prefix: '+254', currency: 'KES', minute: 3 })
  const { trunks } = telephoneNetworkOf(world.app)
  await eventually(async () => trunks.rateOf(wanted.to, 'KES') !== null, 'the rate to be known')
  const actions = [{ action: 'wait', timeout: 0.1 }]
  for (const [status, end] of [
    [401, 'completed'],
    [402, 'completed'],
    [407, 'completed'],
    [500, 'completed'],
    [403, 'rejected'],
    [502, 'completed'],
    [504, 'completed'],
    [486, 'busy'],
  ] as const) {
    whole.called.length = 0
    const to = `+254711000${status}`
    const { body } = await live.post('/v1/voice/calls', { ...wanted, to, actions })
    const ended = await over(body.call_id)
    assert.deepEqual([ended.status, whole.called], [end, end === 'completed' ? [to] : []], `${status}`)
  }
  await remove('broken', 'whole')
  await Promise.all([broken, whole].map(({ endpoint }) => endpoint.close()))
})

test('the cheapest trunk carries a call, shows what it may, and follows a redirect to itself alone', async () => {
  const [cheap, dear] = [
    await plainNetwork((user) => (user.endsWith('302') ? 302 : null)),
    await plainNetwork(() => null),
  ]
  const elsewhere = await plainNetwork(() => null)
  const common = { host: '127.0.0.3', prefixes: ['+254'], priority: 7 }
  const costs = (minute: number) => [
    { prefix: '+', minute: 90 },
    { prefix: '+2547', minute },
  ]
  await enter({ name: 'dear', ...common, port: dear.port, costs: costs(2), weight: 1_000 })
  await enter({ name: 'cheap', ...common, port: cheap.port, costs: costs(1), follows_redirects: true })
  await enter({ name: 'unpriced', ...common, port: elsewhere.port })
  for (const name of ['dear', 'cheap', 'unpriced']) await trunk(name, ({ is_up }) => is_up === true)
  const { trunks } = telephoneNetworkOf(world.app)
  const order = (to: string) => trunks.waysTo(to).map(({ name }) => name)
  await eventually(async () => order('+254711000020').join() === 'cheap,dear,unpriced', 'the trunks to be known')
  const firsts = Array.from({ length: 400 }, () => order('+254200000020')[0])
  assert.ok(firsts.filter((name) => name === 'dear').length > 380, 'at the same cost the lot falls by weight')
  await world.operator.post('/v1/operator/voice/rates', { prefix: '+254', currency: 'KES', minute: 3 })
  await eventually(async () => trunks.rateOf('+254711000302', 'KES') !== null, 'the rate to be known')
  const ended = async (to: string) => {
    const { body } = await live.post('/v1/voice/calls', { ...wanted, to, actions: [{ action: 'wait', timeout: 0.1 }] })
    return over(body.call_id)
  }
  cheap.contacts = [`<sip:302@127.0.0.66:${dear.port}>`, `<sip:moved@127.0.0.3:${dear.port}>`]
  assert.equal((await ended('+254711000302')).status, 'completed')
  assert.deepEqual([cheap.called, dear.called], [['+254711000302'], ['moved']])
  const to = (user: string) => `<sip:${user}@127.0.0.3:${dear.port}>`
  await world.operator.post('/v1/operator/voice/rates', { prefix: '+2549', currency: 'KES', minute: 30 })
  await eventually(async () => trunks.rateOf('+254900000302', 'KES') === 30_000_000n, 'the rate of a dear number')
  for (const [users, called] of [
    [['+882160000302', '00882160000302'], []],
    [['+254900000302', '0900000303'], []],
    [['+254900000302', '0711000303'], ['0711000303']],
    [['+254711000302'], ['+254711000302']],
  ] as const) {
    cheap.contacts = users.map(to)
    dear.called.length = 0
    const { status } = await ended('+254711000302')
    const expected = called.length > 0 ? 'completed' : 'failed'
    assert.deepEqual(
      [dear.called, status],
      [called, expected],
      `a redirect to ${users}: no blocked and no dearer number`,
    )
  }
  dear.called.length = 0
  dear.called.push('moved')
  cheap.contacts = [to('moved')]
  assert.equal((await world.operator.patch(`${path}/cheap`, { follows_redirects: false })).status, 200)
  await eventually(
    async () =>
      trunks.redirected({ ...(trunks.waysTo('+254711000302')[0] ?? Object()) }, cheap.contacts, () => true).length ===
      0,
    'the change',
  )
  const refused = await ended('+254711000302')
  assert.deepEqual([refused.status, refused.sip_code, dear.called.length], ['failed', 302, 1])

  const shown = { caller_ids: ['+25420'], caller_id: '+254200111222' }
  assert.equal((await world.operator.patch(`${path}/cheap`, shown)).status, 200)
  assert.equal((await world.operator.patch(`${path}/dear`, { caller_ids: ['+25420'] })).status, 200)
  await eventually(
    async () =>
      trunks.waysTo(wanted.to).every((way) => way.name === 'unpriced' || trunks.shown(way, number) !== number),
    'the rules',
  )
  assert.equal((await ended(wanted.to)).from, number)
  assert.match(cheap.from.at(-1) ?? '', /\+254200111222/)
  assert.match(cheap.calls.at(-1)?.header('p-asserted-identity') ?? '', /^<sip:\+254200111222@127\.0\.0\.3>$/)
  await world.operator.patch(`${path}/cheap`, { enabled: false })
  await eventually(async () => !order(wanted.to).includes('cheap'), 'the trunk to be off')
  assert.equal((await ended(wanted.to)).status, 'completed')
  assert.deepEqual(
    [dear.called.length, elsewhere.called.length],
    [1, 1],
    'a trunk that may not show the number is passed over',
  )
  await remove('dear', 'cheap', 'unpriced')
  await Promise.all([cheap, dear, elsewhere].map(({ endpoint }) => endpoint.close()))
})

test('a party that connect rang is replaced by another where its trunk says so, under the rules of every call', async () => {
  const plain = await plainNetwork((user) => (user.endsWith('486') ? 486 : null))
  const transfers = { host: '127.0.0.3', port: plain.port, prefixes: ['+254', '+870'], country: 'KE' }
  await enter({ name: 'pbx', ...transfers, caller_ids: ['+25420'], caller_id: '+254200111222' })
  await trunk('pbx', ({ is_up, follows_transfers }) => is_up === true && follows_transfers === false)
  await world.operator.post('/v1/operator/voice/rates', { prefix: '+2547', currency: 'KES', minute: 3 })
  const { trunks } = telephoneNetworkOf(world.app)
  await eventually(async () => trunks.rateOf('+254711000031', 'KES') !== null, 'the rate to be known')
  shop.answer((_request, response) => void response.end('{}'))
  const endpoint = [{ type: 'phone', number: '+254711000031' }]
  const actions = [
    { action: 'connect', endpoint, eventUrl: [shop.url('/connected')] },
    { action: 'wait', timeout: 600 },
  ]
  const { body: placed } = await live.post('/v1/voice/calls', { ...wanted, actions })
  const told = async () => JSON.parse((await shop.next('/connected')).body)
  assert.deepEqual([(await told()).status, plain.called], ['answered', ['+254711000020', '+254711000031']])
  const refer = (target: string) => new Promise<number>((done) => plain.calls.at(1)?.refer(target, done))
  const at = '127.0.0.3'
  assert.equal(await refer(`sip:0711000032@${at}`), 603, 'a trunk follows none unless told')
  assert.equal((await world.operator.patch(`${path}/pbx`, { follows_transfers: true })).status, 200)
  const way = Object(trunks.waysTo('+254711000031')[0])
  await eventually(async () => trunks.transferred(way, `sip:0711000032@${at}`) === '+254711000032', 'the change')
  assert.equal(await refer(`sip:reception@${at}`), 603, 'a name is no number')
  assert.equal(await refer(`sip:+870771234567@${at}`), 404, 'a number without a price is not called')
  assert.equal(await refer(`sip:0711000486@${at}`), 486, 'who is busy is not spoken to')
  assert.equal(plain.calls[1]?.isOver, false, 'and the first party is still there')
  assert.equal(await refer(`sip:0711000032@${at};user=phone`), 200)
  assert.deepEqual(plain.called.slice(2), ['+254711000486', '+254711000032'])
  assert.match(plain.from.at(-1) ?? '', /\+254200111222/, 'the caller id is that of every call over the trunk')
  await eventually(async () => plain.calls[1]?.isOver === true, 'the first party to be hung up')
  const replaced = await told()
  assert.deepEqual([replaced.status, replaced.to], ['answered', '+254711000032'])
  const legs = async () => {
    const { body: made } = await live.get('/v1/voice/calls?limit=10')
    return made.data
      .filter(({ parent_call_id }: { parent_call_id: string }) => parent_call_id === placed.call_id)
      .map(({ to, status, cost }: Record<string, unknown>) => [to, status, Number(cost) > 0].join(' '))
      .reverse()
      .join()
  }
  const expected = '+254711000031 completed true,+254711000486 busy false,+254711000032 answered false'
  await eventually(async () => (await legs()) === expected, 'the first party to be charged and the last to be answered')
  plain.calls.at(-1)?.hangup()
  const over = await told()
  assert.deepEqual([over.status, over.to, over.reason], ['completed', '+254711000032', 'normal'])
  await live.post(`/v1/voice/${placed.call_id}/hangup`, {})

  // A party that hangs up as soon as it is heard leaves the caller with the tone, and then with who answers.
  const { body: second } = await live.post('/v1/voice/calls', { ...wanted, actions })
  await told()
  const [party] = plain.calls.slice(-1)
  const gone = new Promise<number>((done) => party?.refer(`sip:0711000033@${at}`, done))
  party?.hangup()
  assert.equal(await gone, 487)
  const taken = await told()
  assert.deepEqual([taken.status, taken.to], ['answered', '+254711000033'])
  await live.post(`/v1/voice/${second.call_id}/hangup`, {})
  await eventually(async () => plain.calls.every(({ isOver }) => isOver), 'all to be over')
  await remove('pbx')
  await plain.endpoint.close()
})

test('the limit of a connect holds for whoever is rung in place of its party', async () => {
  const plain = await plainNetwork((user) => (user.endsWith('180') ? 180 : null))
  const trunkOf = { host: '127.0.0.3', port: plain.port, prefixes: ['+254'], follows_transfers: true }
  await enter({ name: 'limited', ...trunkOf })
  await trunk('limited', ({ is_up }) => is_up === true)
  const { trunks } = telephoneNetworkOf(world.app)
  await eventually(async () => trunks.waysTo('+254711000031').length > 0, 'the trunk to be known')
  shop.answer((_request, response) => void response.end('{}'))
  const endpoint = [{ type: 'phone', number: '+254711000031' }]
  const connect = { action: 'connect', endpoint, limit: 2, eventUrl: [shop.url('/limited')] }
  const { body: placed } = await live.post('/v1/voice/calls', {
    ...wanted,
    actions: [connect, { action: 'wait', timeout: 600 }],
  })
  const told = async () => JSON.parse((await shop.next('/limited')).body)
  assert.equal((await told()).status, 'answered')
  const party = plain.calls.at(-1)
  const refer = (to: string) => new Promise((done) => party?.refer(`sip:${to}@127.0.0.3`, done))
  assert.equal(await refer('+882160000180'), 403, 'a number that is blocked is not called')
  const gone = new Promise<number>((done) => party?.refer('sip:+254711000180@127.0.0.3', done))
  await eventually(async () => plain.called.includes('+254711000180'), 'the other to ring')
  party?.hangup()
  assert.equal(await gone, 487)
  const { status, reason } = await told()
  assert.deepEqual([status, reason], ['completed', 'max_duration'])
  await eventually(async () => plain.calls.at(-1)?.isOver === true, 'the other to ring no more')
  assert.equal((await live.get(`/v1/voice/${placed.call_id}`)).body.status, 'answered', 'the caller goes on')
  await live.post(`/v1/voice/${placed.call_id}/hangup`, {})
  await remove('limited')
  await plain.endpoint.close()
})

test('a network connects its caller with a number when it is asked to, and the call is over and charged until then', async () => {
  const plain = await plainNetwork(() => null)
  await enter({ name: 'taking', host: '127.0.0.3', port: plain.port, prefixes: ['+254'], transfers_to: ['+25420'] })
  await trunk('taking', ({ is_up }) => is_up === true)
  const { trunks } = telephoneNetworkOf(world.app)
  await eventually(async () => trunks.rateOf(wanted.to, 'KES') !== null, 'the rate to be known')
  const asked: string[] = []
  plain.handlers.referred = (target, tell) => {
    asked.push(target)
    queueMicrotask(() => tell(asked.length === 1 ? 486 : 200))
    return true
  }
  shop.answer((_request, response) => void response.end('{}'))
  const eventUrl = [shop.url('/referred')]
  const actions = ['+254711000099', '+254200000001', '+254200000002', '+254200000003'].map((to) => ({
    ...{ action: 'refer', to, eventUrl },
  }))
  const { body: placed } = await live.post('/v1/voice/calls', { ...wanted, actions })
  const ended = await over(placed.call_id)
  assert.deepEqual([ended.status, ended.hangup_cause, ended.hangup_by], ['completed', 'normal', 'system'])
  assert.equal(ended.cost, ended.duration / 20)
  const told = [await shop.next('/referred'), await shop.next('/referred'), await shop.next('/referred')]
  // Requests of actions do not wait for each other.
  const results = told.map(({ body }) => JSON.parse(body)).map(({ to, status, reason }) => [to, status, reason])
  assert.deepEqual(results.sort(), [
    ['+254200000001', 'busy', 'busy'],
    ['+254200000002', 'completed', 'normal'],
    ['+254711000099', 'rejected', 'not_allowed'],
  ])
  const uri = (to: string) => `sip:${to}@127.0.0.3:${plain.port};user=phone`
  assert.deepEqual(
    asked,
    [uri('+254200000001'), uri('+254200000002')],
    'nobody is asked for what the trunk does not allow',
  )
  await remove('taking')
  await plain.endpoint.close()
})

test('a number that a trunk writes at home is found, in every form, and so is the caller, unless they withhold it', async () => {
  const plain = await plainNetwork(() => null)
  await enter({ name: 'home', host: '127.0.0.3', port: plain.port, prefixes: ['+254'] })
  await trunk('home', ({ is_up }) => is_up === true)
  shop.answer((_request, response) => void response.end(JSON.stringify([{ action: 'wait', timeout: 600 }])))
  await live.post(`/v1/voice/numbers/${encodeURIComponent(number)}/assign`, {
    application: { answer_url: shop.url('/home') },
  })
  const { port } = telephoneNetworkOf(world.app).address
  const [passed, asserted] = [';verstat=TN-Validation-Passed', 'P-Asserted-Identity']
  const callers: [string, string, string[][], string, string | null, string?][] = [
    ['0700555666', `0711000066${passed}`, [], '+254711000066', 'eyJ.e30.sig'],
    ['700555666', 'line-7', [[asserted, `"Shop" <sip:0711000066${passed}@127.0.0.3>`]], '+254711000066', 'eyJ.e30.sig'],
    [
      '00254700555666',
      `0711000066;verstat=No-TN-Validation`,
      [[asserted, `<tel:+254711000077${passed}>`]],
      '+254711000066',
      'eyJ.e30.sig',
      'No-TN-Validation',
    ],
    [
      '0700555666',
      'anonymous@anonymous.invalid',
      [[asserted, `<sip:0711000066${passed}@127.0.0.3>`]],
      withheldNumber,
      null,
    ],
    [
      '254700555666',
      '0711000066',
      [
        [asserted, `<sip:0711000066${passed}@127.0.0.3>`],
        ['Privacy', 'id'],
      ],
      withheldNumber,
      null,
    ],
  ]
  for (const [written, caller, headers, shown, signed, verdict = 'TN-Validation-Passed'] of callers) {
    const ends: string[] = []
    const call = plain.endpoint.invite(
      {
        uri: `sip:${written}@127.0.0.1:${port}`,
        peer: { transport: 'udp', host: '127.0.0.1', port },
        from: `<sip:${caller}${caller.includes('@') ? '' : '@127.0.0.3'}>`,
        headers: [
          ['Identity', 'eyJ.e30.sig;info=<https://cert.example/a>;alg=ES256;ppt=shaken'],
          ...headers.map(([name = '', value = '']) => [name, value] as const),
        ],
        description: offerAudio({ host: '127.0.0.3', port: 40_010, version: 1 }),
      },
      { answered: () => void ends.push('answered'), refused: (status) => void ends.push(`refused ${status}`) },
    )
    const asked = JSON.parse((await shop.next('/home')).body)
    assert.deepEqual([asked.to, asked.from], [number, shown], written)
    const { verstat, identity } = asked.verification
    assert.deepEqual([verstat, identity?.split(';')[0] ?? null], [verdict, signed])
    await eventually(async () => ends.length > 0, 'an answer')
    assert.deepEqual(ends, ['answered'])
    call.hangup()
    assert.equal((await over(asked.call_id)).status, 'completed')
  }
  await remove('home')
  await plain.endpoint.close()
})
