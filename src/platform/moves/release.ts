// SPDX-License-Identifier: Apache-2.0
// Release of a bucket whose move stopped while its writes were held: nobody runs the command any more, so the old cell admits the
// bucket again. Nothing was written in the new one, which has it from the flip on. The command goes on with the move when it is
// run again.
import type pg from 'pg'
import type { Cell } from '../db/cell.ts'
import { homeName, lockSpace } from './cells.ts'
import { admit } from './move.ts'

interface Stopped {
  bucket: number
  from: string
}

/** Held buckets without a command: that has a lock in its session. */
const stopped = `select m.bucket::int as bucket, m.from_cell as from from platform.bucket_moves m
  where m.step = 'hold'
    and not exists (select from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
                     where l.locktype = 'advisory' and l.classid = ${lockSpace} and l.objid = m.bucket::int and l.granted)`

/** Lets the old cells admit what is held for nobody. Every node may do it at any moment. Returns the buckets. */
export async function releaseHolds(home: Cell, cellOf: (name: string) => Cell | undefined): Promise<number[]> {
  const { rows } = await home.beside.query<Stopped>(stopped)
  const released: number[] = []
  for (const one of rows) {
    const source = one.from === homeName ? home : cellOf(one.from)
    if (source && (await release(home, source, one))) released.push(one.bucket)
  }
  return released
}

/** Releases one under the locks of the command; not if somebody else has them, or was faster. */
async function release(home: Cell, source: Cell, { bucket }: Stopped): Promise<boolean> {
  const clients: pg.Client[] = []
  const locked = async (cell: Cell): Promise<pg.Client | null> => {
    const client = await cell.connect()
    clients.push(client)
    const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1, $2) as mine', [
      lockSpace,
      bucket,
    ])
    return rows[0]?.mine === true ? client : null
  }
  try {
    const gate = await locked(home)
    const held = await gate?.query(`select from platform.bucket_moves where bucket = $1 and step = 'hold'`, [bucket])
    if (!gate || held?.rowCount !== 1) return false
    const client = source === home ? gate : await locked(source)
    if (!client) return false
    await admit({ name: source.name, client }, bucket)
    await gate.query(`update platform.bucket_moves set step = 'follow', step_at = now() where bucket = $1`, [bucket])
    return true
  } finally {
    for (const client of clients) await client.end()
  }
}
