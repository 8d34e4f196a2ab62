// SPDX-License-Identifier: Apache-2.0
// Callers in a queue whose node stops: their network is asked to call the number again, and another node lets them wait on at their
// places. The network is our own stack in the opposite role, at another address of this machine.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ContactRow, underWay } from '../../src/areas/callcenter/contacts.ts'
import { telephoneNetworkOf } from '../../src/areas/voice/trunks/telephone-network.ts'
import type { RunningNode } from '../../src/node/server.ts'
import type { App } from '../../src/platform/app.ts'
import type { Tenant } from '../../src/platform/tenant.ts'
import { offerAudio } from '../../src/protocols/sdp/session-description.ts'
import type { SipCall } from '../../src/protocols/sip/call.ts'
import { SipEndpoint } from '../../src/protocols/sip/endpoint.ts'
import { assign, numberOf, queueOf } from '../callcentre.ts'
import { type Account, eventually, startWorld, tenantOf, type World } from '../world.ts'

const host = '127.0.0.3'

let world: World
let second: RunningNode
let network: SipEndpoint
/** What the network does with a transfer: null never says how it went. */
let follows: (tell: (status: number) => void, again: () => void) => void

before(async () => {
  world = await startWorld({ PAMOJA_VOICE_LATENESS_MS: 60_000 })
  second = await world.another()
  network = await SipEndpoint.open({ host, ports: { udp: 0 }, invited: () => null })
  const trunk = { name: 'carrier', host, port: network.ports.udp, prefixes: ['+254'], transfers_to: ['+254700'] }
  const { status, body } = await world.operator.post('/v1/operator/voice/trunks', trunk)
  assert.equal(status, 201, JSON.stringify(body))
  const isKnown = (app: App) => telephoneNetworkOf(app).trunks.stateOf('carrier') !== null
  await eventually(async () => isKnown(world.app) && isKnown(second.app), 'the trunk to be known on both nodes')
})
after(async () => {
  await network?.close()
  await second?.stop()
  await world?.stop()
})

interface Centre {
  live: Account
  tenant: Tenant
  queue: string
}

/** A live call centre: a queue that a number leads to. */
async function centre(more: object = {}): Promise<Centre> {
  const ada = await world.account({ balance: 100 })
  const number = numberOf(ada)
  const given = await world.operator.post('/v1/operator/voice/numbers', { number, account_id: ada.id })
  assert.equal(given.status, 201, JSON.stringify(given.body))
  const { body: key } = await ada.client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  const live = { ...ada, client: world.stranger.as(key.key) }
  const queue = await queueOf(live, more)
  await assign(live, { queue_id: queue })
  return { live, tenant: { ...tenantOf(ada), environment: 'live' }, queue }
}

/** A call of the network to a node. */
function call({ live }: Centre, from: string, app: App = world.app): SipCall {
  const { port } = telephoneNetworkOf(app).address
  const number = numberOf(live)
  return network.invite(
    {
      uri: `sip:${number}@127.0.0.1:${port}`,
      peer: { transport: 'udp', host: '127.0.0.1', port },
      from: `<sip:${from}@${host}>`,
      // It hears and says nothing, so that nobody waits for its audio.
      description: offerAudio({ host, port: 40_010, version: 1, direction: 'recvonly' }),
    },
    {
      referred: (target, tell) => {
        assert.ok(target.startsWith(`sip:${number}@`), target)
        follows(tell, () => void call({ live, tenant: tenantOf(live), queue: '' }, from, second.app))
        return true
      },
    },
  )
}

const waiting = ({ tenant }: Centre): Promise<ContactRow[]> => world.app.db.query(underWay, tenant)

/** Lets callers wait, one after the other; gives their calls and since when they wait. */
async function callers(home: Centre, numbers: readonly string[]) {
  const all: { sip: SipCall; id: string; since: number }[] = []
  for (const number of numbers) {
    const sip = call(home, number)
    const rows = await eventually(async () => {
      const now = await waiting(home)
      return now.length === all.length + 1 ? now : null
    }, `${number} to wait`)
    const row = rows.find(({ call_id }) => !all.some(({ id }) => id === call_id)) ?? assert.fail('no contact')
    all.push({ sip, id: row.call_id, since: row.entered_at.getTime() })
  }
  return all
}

/** Stops taking calls here for some seconds, as a node does that is stopped, and moves those who wait. */
async function drained(seconds: number, meanwhile?: () => Promise<void>): Promise<void> {
  const here = telephoneNetworkOf(world.app)
  const draining = here.drain(seconds)
  await meanwhile?.()
  await draining
  here.isDraining = false
}

const sinceOf = (rows: readonly ContactRow[]) => rows.map(({ entered_at }) => entered_at.getTime())

test('callers of a node that stops wait on at another, at their places, however many have one number or a full queue', async () => {
  const home = await centre({ max_size: 4 })
  const company = '+254711000066'
  const before = await callers(home, [company, '+254711000067', company, 'anonymous'])
  follows = (tell, again) => {
    again()
    tell(200)
  }
  await drained(120)
  const after = await eventually(async () => {
    const rows = await waiting(home)
    return rows.length === 4 && rows.every(({ call_id }) => before.every(({ id }) => id !== call_id)) ? rows : null
  }, 'all to wait at the other node')
  assert.deepEqual(
    sinceOf(after),
    before.map(({ since }) => since),
    'nobody lost a place',
  )
  assert.deepEqual(
    after.map(({ from_number }) => from_number),
    [company, '+254711000067', company, '+10000000000'],
  )
  for (const { sip } of before) await eventually(async () => sip.isOver, 'the call here to be over')
  const costs = await eventually(async () => {
    const { body } = await home.live.client.get('/v1/voice/calls?limit=20')
    const isAs = (wanted: string) =>
      body.data.filter(({ status }: { status: string }) => status === wanted).length === 4
    return isAs('answered') && isAs('completed') ? body.data.map(({ cost }: { cost: number }) => cost) : null
  }, 'four calls to be over and four to go on')
  assert.deepEqual(costs, new Array(8).fill(0))
  const fifth = call(home, company, second.app)
  await eventually(async () => fifth.isOver, 'one more to find the queue full')
  const { text: calls } = await home.live.client.get('/v1/voice/calls?limit=20')
  assert.equal((await waiting(home)).length, 4, calls)
  const { body: report } = await home.live.client.get('/v1/call-center/reports')
  const lengths: number[] = report.waits.map(({ calls }: { calls: number }) => calls)
  assert.deepEqual(
    [report.totals.offered, lengths.reduce((sum, calls) => sum + calls, 0)],
    [4, 4],
    'four callers who wait once each',
  )
  const { body: now } = await home.live.client.get('/v1/call-center/metrics/realtime')
  assert.equal(now.totals.offered, 4)
})

test('a caller whose network calls nobody waits on here, and the next of that number has no place of theirs', async () => {
  const home = await centre()
  const phone = '+254711000068'
  const [before] = await callers(home, [phone])
  let asked = 0
  follows = (tell) => {
    asked++
    tell(603)
  }
  await drained(3)
  const [now] = await waiting(home)
  assert.deepEqual([now?.call_id, now?.entered_at.getTime(), asked], [before?.id, before?.since, 1])
  const { body: report } = await home.live.client.get('/v1/call-center/reports')
  assert.equal(report.totals.offered, 1)
  const later = call(home, phone, second.app)
  const rows = await eventually(async () => {
    const all = await waiting(home)
    return all.length === 2 ? all : null
  }, 'the other to wait')
  assert.ok((rows[1]?.entered_at.getTime() ?? 0) > (before?.since ?? 0))
  for (const each of [before?.sip, later]) each?.hangup()
  await eventually(async () => (await waiting(home)).length === 0, 'both to be gone')
})

for (const [who, hangUp] of [
  ['caller', async (_home: Centre, { sip }: { sip: SipCall }) => sip.hangup()],
  [
    'customer',
    async ({ live }: Centre, { id }: { id: string }) => {
      const { body } = await live.client.get('/v1/voice/calls?limit=20')
      const [first] = body.data
      assert.ok(id && first.call_id)
      await live.client.post(`/v1/voice/${first.call_id}/hangup`, {})
    },
  ],
] as const)
  test(`a ${who} who hangs up while the network is asked holds no node up and waits nowhere`, async () => {
    const home = await centre()
    const [before = assert.fail('no caller')] = await callers(home, ['+254711000069'])
    const asked = new Promise<void>((done) => {
      follows = () => done()
    })
    await drained(600, async () => {
      await asked
      await hangUp(home, before)
    })
    assert.deepEqual(await waiting(home), [])
    assert.ok(before.sip.isOver)
  })
