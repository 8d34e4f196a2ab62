// SPDX-License-Identifier: Apache-2.0
// The moment of a backup. One database has snapshots for that. Several are looked at together while no transaction over them is
// being committed, so that each of those is in all of the files or in none; what changes one database alone goes on meanwhile.
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { preparedIn } from '../db/across.ts'
import type { Cell } from '../db/cell.ts'
import { sqlState } from '../db.ts'
import { BackupError } from './file.ts'

const decidedMs = 30_000
const pollMs = 20

interface Session {
  readonly cell: Cell
  readonly client: pg.Client
}

export async function sessionsOf(cells: readonly Cell[]): Promise<Session[]> {
  const sessions: Session[] = []
  try {
    for (const cell of cells) sessions.push({ cell, client: await cell.connect() })
    return sessions
  } catch (error) {
    for (const { client } of sessions) await client.end()
    throw error
  }
}

/**
 * Begins a snapshot in each database, home last: whoever writes into a cell what names a row of home, in transactions of their own,
 * writes that row first, and a backup that has the one has the other too.
 */
export async function beginTogether([home, ...others]: readonly Session[]): Promise<void> {
  if (!home) return
  if (others.length === 0) return beginIn(home)
  const gate = await home.cell.connect()
  try {
    await hold(gate)
    for (const other of others) await decidedEnd(gate, other)
    for (const session of [...others, home]) await beginIn(session)
  } finally {
    // Its locks end with it.
    await gate.end()
  }
}

async function beginIn({ client }: Session): Promise<void> {
  await client.query('begin isolation level repeatable read read only')
  await prepareSession(client)
}

/** Nothing is decided from now on, and no bucket changes its cell. */
async function hold(gate: pg.Client): Promise<void> {
  try {
    await gate.query(
      `begin; set local lock_timeout = 10000; lock table platform.decisions, platform.bucket_moves in share mode`,
    )
  } catch (error) {
    if (sqlState(error) !== '55P03') throw error
    throw new BackupError('A transaction over several databases does not end. There is no backup: try again.', {
      cause: error,
    })
  }
  const { rows } = await gate.query<{ bucket: number }>('select bucket from platform.bucket_moves order by 1 limit 1')
  if (rows[0])
    throw new BackupError(
      `Bucket ${rows[0].bucket} is being moved: finish that first (\`npm start -- cells list\`). There is no backup.`,
    )
}

/** Waits until what was decided is done in a cell: its node does it, or another one within seconds if that died. */
async function decidedEnd(gate: pg.Client, { cell, client }: Session): Promise<void> {
  for (const until = performance.now() + decidedMs; ; await pause(pollMs)) {
    const { rows: decided } = await gate.query(
      'select from platform.decisions where commits and id = any($1::uuid[])',
      [await preparedIn(client)],
    )
    if (decided.length === 0) return
    if (performance.now() > until)
      throw new BackupError(
        `A transaction over several databases is not done in ${cell.name}: start a node, which ends it. There is no backup.`,
      )
  }
}

/** No timeouts, and output formats independent of the server's settings. */
export async function prepareSession(client: pg.Client): Promise<void> {
  await client.query(`select set_config(name, '0', true) from pg_settings where name in
    ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`)
  await client.query(`set local client_encoding = 'UTF8'; set local timezone = 'UTC'; set local datestyle = 'ISO, YMD';
    set local intervalstyle = 'postgres'; set local bytea_output = 'hex'; set local extra_float_digits = 3;
    set local search_path = pg_catalog; set local row_security = off`)
}
