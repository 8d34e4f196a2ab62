// SPDX-License-Identifier: Apache-2.0
// Callers in a queue whose node stops, over a trunk whose network calls again when it is asked to: they wait on at another node,
// each at their own place. And callers who withhold their numbers, who are not taken for each other.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { telephoneNetworkOf } from '../../src/areas/voice/trunks/telephone-network.ts'
import { areas } from '../../src/areas.ts'
import { loadConfig } from '../../src/config.ts'
import { type RunningNode, startNode } from '../../src/node/server.ts'
import type { App } from '../../src/platform/app.ts'
import { offerAudio } from '../../src/protocols/sdp/session-description.ts'
import type { SipCall } from '../../src/protocols/sip/call.ts'
import { SipEndpoint } from '../../src/protocols/sip/endpoint.ts'
import type { Client } from '../client.ts'
import { notes, notesMigrations } from '../notes/area.ts'
import { eventually, quiet, startWorld, type World } from '../world.ts'

const host = '127.0.0.4'
const number = '+254700555888'
const withheld = '+10000000000'

let world: World
let second: RunningNode
let live: Client
let network: SipEndpoint
/** What the network does when it is asked to connect a caller with a number: the status that it answers. */
let whenReferred: (target: string, call: Caller) => Promise<number>

interface Caller {
  readonly from: string
  readonly call: SipCall
}

before(async () => {
  world = await startWorld()
  const own = { PAMOJA_HOME: world.home, DATABASE_URL: world.databaseUrl, PAMOJA_RATE_LIMITS: 'off' } as const
  const { config } = loadConfig({}, { ...quiet, ...own })
  second = await startNode({ config, areas: [...areas, notes], extraMigrations: notesMigrations })
  const ada = await world.account()
  const { body: key } = await ada.client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  live = world.stranger.as(key.key)
  const credit = { amount: 100, currency: 'KES', environment: 'live', reference: 'moves' }
  await world.operator.post(`/v1/operator/accounts/${ada.id}/credit`, credit)
  const given = await world.operator.post('/v1/operator/voice/numbers', { number, account_id: ada.id })
  assert.equal(given.status, 201, JSON.stringify(given.body))
  network = await SipEndpoint.open({ host, ports: { udp: 0 }, invited: () => null })
  const trunk = { name: 'moving', host, port: network.ports.udp, prefixes: ['+254'], transfers_to: [number] }
  const entered = await world.operator.post('/v1/operator/voice/trunks', trunk)
  assert.equal(entered.status, 201, JSON.stringify(entered.body))
  for (const { app } of [world, second])
    await eventually(async () => telephoneNetworkOf(app).trunks.stateOf('moving') !== null, 'the trunk to be known')
})
after(async () => {
  await network?.close()
  await second?.stop()
  await world?.stop()
})

/** Calls a node over the trunk; gives the caller once the call is answered. */
function dial(app: App, from: string): Promise<Caller> {
  const { port } = telephoneNetworkOf(app).address
  return new Promise((resolve, reject) => {
    const call = network.invite(
      {
        uri: `sip:${number}@127.0.0.1:${port}`,
        peer: { transport: 'udp', host: '127.0.0.1', port },
        from: `<sip:${from}@${host}>`,
        description: offerAudio({ host, port: 40_010, version: 1 }),
      },
      {
        answered: () => resolve({ from, call }),
        refused: (status) => reject(new Error(`refused with ${status}`)),
        referred: (target, tell) => {
          whenReferred(target, { from, call }).then(tell, () => tell(500))
          return true
        },
      },
    )
  })
}

interface Waiting {
  readonly call_id: string
  readonly waited_seconds: number
}

async function waitingIn(queue: string, count: number): Promise<Waiting[]> {
  return eventually(async () => {
    const { body } = await live.get(`/v1/voice/queue/${queue}`)
    return body.live.waiting === count ? body.live.calls : null
  }, `${count} to wait`)
}

test('callers who share a number keep their places when their node stops, also in a queue that is full by now', async () => {
  const { body: made } = await live.post('/v1/voice/queue', { name: 'Moves' })
  const queue = made.queue_id
  await live.post(`/v1/voice/numbers/${encodeURIComponent(number)}/assign`, { queue_id: queue })
  const shared = '+254711000066'
  const first = [await dial(world.app, shared)]
  await waitingIn(queue, 1)
  first.push(await dial(world.app, shared))
  await waitingIn(queue, 2)
  const unknown = await dial(world.app, 'anonymous')
  const before = await waitingIn(queue, 3)
  const { body: shown } = await live.get(`/v1/voice/call/${before[2]?.call_id}`)
  assert.equal(shown.from, withheld)
  const other = await dial(second.app, '+254711000067')
  const [, , , last] = await waitingIn(queue, 4)
  await live.patch(`/v1/voice/queue/${queue}`, { max_size: 1 })

  // The network calls again for everybody but the one without a number, who waits on at the node that stops.
  const asked: string[] = []
  const moved: Caller[] = []
  whenReferred = async (target, caller) => {
    asked.push(target)
    if (caller.from === 'anonymous') return 603
    moved.push(await dial(second.app, caller.from))
    return 200
  }
  const draining = telephoneNetworkOf(world.app).drain(600)
  await eventually(async () => moved.length === 2 && first.every(({ call }) => call.isOver), 'both to be moved')
  assert.match(asked[0] ?? '', new RegExp(`sip:\\${number}@${host}`))
  const now = await waitingIn(queue, 4)
  assert.equal(now[3]?.call_id, last?.call_id, 'nobody who came later is before those who were moved')
  const { body: figures } = await live.get('/v1/call-center/metrics/realtime')
  assert.equal(figures.totals.abandoned, 0, 'and nobody gave up')
  for (const { call } of [...moved, other, unknown]) call.hangup()
  await draining
  await waitingIn(queue, 0)
})
