// SPDX-License-Identifier: Apache-2.0
// Held connections: open on one node at a time, also when a lease is lost while a connection closes slowly. Nodes are
// separate leases on one database.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { eventually, startWorld } from '../../../test/world.ts'
import { statement } from '../db.ts'
import { Leases } from '../nodes/leases.ts'
import { Held, type Place } from './held.ts'

const world = await startWorld()
after(() => world.stop())

const expire = statement.home<{ name: string }, object>(
  'platform.expire_trial_lease',
  `update platform.leases set expires_at = now() - interval '1 second' where name = $name`,
)

interface Trial {
  readonly name: string
  isClosed: boolean
}

/** Node with leases of its own. While `isSlow`, closing waits for `finish`. */
function node(leases: string) {
  const { app } = world
  const own = new Leases({ db: app.db, nodeId: randomUUID(), log: app.log })
  const made: Trial[] = []
  const told: string[] = []
  const slow: (() => void)[] = []
  const state = { isSlow: false }
  const held = new Held<Place, Trial>(
    { ...app, leases: own },
    {
      leases,
      make: ({ name, version }) => (version === 'unusable' ? null : { name, isClosed: false }),
      begin: async (_name, open, isNew) => {
        made.push(open)
        told.push(isNew ? 'taken' : 'again')
      },
      close: async (open) => {
        if (state.isSlow) await new Promise<void>((resolve) => slow.push(resolve))
        open.isClosed = true
      },
      leave: async (name) => void told.push(`left ${name}`),
      abandoned: async (name) => void told.push(`gone ${name}`),
    },
  )
  const finish = (): void => {
    state.isSlow = false
    for (const resolve of slow.splice(0)) resolve()
  }
  return { held, own, made, told, state, finish }
}

const isOpen = ({ made }: ReturnType<typeof node>) => made.filter(({ isClosed }) => !isClosed).length
const places = (...names: string[]): Place[] => names.map((name) => ({ name, version: '1' }))

test('a connection is open on one node, opened anew when it changes, and given up when it is removed', async () => {
  const [ada, ben] = [node('trial.a'), node('trial.a')]
  await ada.held.want(places('one'))
  await ben.held.want(places('one'))
  assert.deepEqual([isOpen(ada), isOpen(ben), ben.held.isWanted('one')], [1, 0, true])
  await ada.held.want([{ name: 'one', version: '2' }])
  assert.deepEqual([isOpen(ada), ada.told], [1, ['taken', 'again']])
  await ada.held.want([{ name: 'one', version: 'unusable' }])
  assert.deepEqual([isOpen(ada), ada.held.get('one')], [0, null])
  await ada.held.want([])
  await ada.held.stop()
  assert.deepEqual(ada.told.slice(2), ['left one', 'gone one'])
  await ben.held.openFree()
  assert.equal(isOpen(ben), 1)
  await ben.held.stop()
  assert.equal(isOpen(ben), 0)
})

test('a lease lost while the connection closes slowly is not given back by the close: nothing is open twice', async () => {
  const [ada, ben] = [node('trial.b'), node('trial.b')]
  await ada.held.want(places('one'))
  ada.state.isSlow = true
  await world.app.db.query(expire, { name: 'trial.b:one' })
  // The lease is found to be lost when it is renewed.
  await eventually(async () => ada.held.get('one') === null, 'the loss to be seen')
  await ada.held.openFree()
  assert.equal(ada.made.length, 1, 'it is not opened again while it closes')
  ada.finish()
  await eventually(async () => {
    await ada.held.openFree()
    return ada.held.get('one') !== null
  }, 'the connection to be open again')
  await ben.held.want(places('one'))
  await ben.held.openFree()
  assert.deepEqual([isOpen(ada), isOpen(ben)], [1, 0])
  await ada.held.stop()
  await ben.held.stop()
})
