// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorld, tenantOf } from '../../../test/world.ts'
import { newUuid } from '../../kernel/ids.ts'
import { orphanChore } from './live-sessions.ts'

const world = await startWorld()
after(() => world.stop())

test('sessions of a dead node are ended, also when one of them cannot be', async () => {
  const { bucket, account, environment } = tenantOf(await world.account())
  const sql = world.app.db.cellOf(bucket).beside
  const [dead, stuck] = [newUuid(Date.now()), newUuid(Date.now())]
  const ids = [stuck, ...Array.from({ length: 9 }, () => newUuid(Date.now()))]
  for (const id of ids)
    await sql.query(
      `insert into platform.sessions (bucket, account_id, environment, id, kind, node, created_at)
       values ($1, $2, $3, $4, 'trial', $5, now() - interval '1 hour')`,
      [bucket, account, environment, id, dead],
    )
  const ended: string[] = []
  const chore = orphanChore([
    {
      name: 'trial',
      orphaned: async (_app, { id }) => {
        if (id === stuck) throw new Error('cannot be ended')
        ended.push(id)
      },
    },
  ])
  const lease = await world.app.leases.tryAcquire('trial of sessions', 60)
  assert.ok(lease)
  await chore.run(world.app, lease)
  assert.deepEqual(ended.sort(), ids.slice(1).sort())
  const { rows } = await sql.query(`select id from platform.sessions where kind = 'trial'`)
  assert.deepEqual(rows, [{ id: stuck }], 'it is tried again')
})
